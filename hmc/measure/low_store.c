#include "hmc/measure/low_store.h"

#include <stdlib.h>

#include "kernels/base/error.h"

low_store *low_store_open(void)
{
    low_store *s = calloc(1, sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    return s;
}

static void part_free(low_part *l)
{
    for (int i = 0; l->solutions && i < low_modes_blocks(l->modes); i++) field_destroy(l->solutions[i]);
    free(l->solutions);
    low_modes_free(l->modes);
}

void low_store_close(low_store *s)
{
    for (int i = 0; i < s->nparts; i++) part_free(&s->parts[i]);
    for (int i = 0; i < s->naverages; i++) free(s->averages[i].sums);
    free(s->averages);
    free(s);
}
