/* What the table of keys cannot say of [gauge]: which keys its action has. */
#include <string.h>

#include "hmc/evolve/action.h"
#include "hmc/input/parameters.h"
#include "kernels/base/error.h"

static const gauge_kind *kind_of(const gauge_params *g)
{
    int i = 0;
    while (strcmp(gauge_kind_number(i)->name, g->action)) i++;
    return gauge_kind_number(i);
}

int gauge_params_have(const gauge_params *g, const char *key)
{
    return gauge_kind_has(kind_of(g), key);
}

gauge_weights gauge_params_weights(const gauge_params *g)
{
    return gauge_kind_weights(kind_of(g), g->beta, g->c1, g->u0, g->flavours);
}

void gauge_parameters_check(const ini_input *in, const gauge_params *g)
{
    static const char *const keys[] = {"c1", "u0", "flavours"};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        const int given = ini_given(in, "gauge", NULL, keys[k]), has = gauge_kind_has(kind_of(g), keys[k]);
        if (given && !has)
            user_error("%s: [gauge] action = %s has no key '%s'", ini_where(in, "gauge", NULL, keys[k]), g->action,
                       keys[k]);
        if (has && !given)
            user_error("%s: [gauge] action = %s needs the key '%s'", ini_where(in, "gauge", NULL, "action"), g->action,
                       keys[k]);
    }
}
