#include "hmc/evolve/fermion.h"

#include <string.h>

#include "kernels/base/error.h"

#define FERMION(kind) extern const fermion_kind fermion_##kind;
#include "hmc/evolve/fermions.def"
#undef FERMION

static const fermion_kind *const all[] = {
#define FERMION(kind) &fermion_##kind,
#include "hmc/evolve/fermions.def"
#undef FERMION
    NULL};

const fermion_kind *fermion_kind_number(int i)
{
    return i < (int)(sizeof all / sizeof all[0]) ? all[i] : NULL;
}

const fermion_kind *fermion_kind_find(const char *name)
{
    for (int i = 0; all[i]; i++)
        if (!strcmp(all[i]->name, name)) return all[i];
    REQUIRE(0, "no kind of fermion %s", name);
    return NULL;
}
