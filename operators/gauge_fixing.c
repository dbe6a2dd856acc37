#include "operators/gauge_fixing.h"

#include <stddef.h>

int gauge_fixing(field *g, const field *links, const gauge_fixing_settings *s, gauge_fixing_tell *tell, void *context)
{
    for (int i = 0;; i++) {
        if (i % s->interval == 0 || i == s->max_iterations) {
            const gauge_gradient now = gauge_gradient_of(g, links, s->directions);
            if (tell) tell(context, i, &now);
            if (now.theta <= s->tolerance) return 0;
            if (i == s->max_iterations) return 1;
        }
        gauge_relax(g, links, s->directions, s->over_relaxation);
    }
}
