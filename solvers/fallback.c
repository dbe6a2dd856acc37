#include "solvers/fallback.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/log.h"

const named_solver *fallback_find(const named_solver *solvers, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(solvers[i].name, name)) return &solvers[i];
    return NULL;
}

solve_result fallback_try(const named_solver *first, const named_solver *solvers, int n, const lattice *lat,
                          solve_attempt solve, void *context, const char *what, char *trouble, size_t size)
{
    const named_solver *s = first;
    int iterations = 0, inside = 0;
    double seconds = 0, flops = 0;
    for (int attempt = 0;; attempt++) {
        /* Fallbacks have no looser tolerance than the first solver. */
        const double tolerance = fmin(s->settings->tolerance, first->settings->tolerance);
        solve_result r = solve(s->settings, tolerance, context);
        r.iterations = iterations += r.iterations;
        r.inside = inside += r.inside;
        r.seconds = seconds += r.seconds;
        r.flops = flops += r.flops;
        r.attempts = attempt + 1;
        log_debug("%s: solver %s %s after %d iterations, residual %.2e, %.3f s", what, s->name,
                  solve_status_text(r.status), r.iterations, r.residual, r.seconds);
        const char *next_name = s->settings->fallback;
        const named_solver *next = next_name[0] ? fallback_find(solvers, n, next_name) : NULL;
        /* Solvers that name each other would go on for ever. */
        const int last = !next || attempt >= n || r.status == SOLVE_INTERRUPTED;
        if (r.status == SOLVE_CONVERGED && (last || !lat->planned)) return r;
        if (last) {
            snprintf(trouble, size, "%s: solver %s %s after %d iterations with residual %.2e (tolerance %.2e)%s", what,
                     s->name, solve_status_text(r.status), r.iterations, r.residual, tolerance,
                     next ? "" : "; no fallback is named for it");
            return r;
        }
        if (!lat->planned)
            log_warn("%s: solver %s %s after %d iterations with residual %.2e (tolerance %.2e); repeating with %s",
                     what, s->name, solve_status_text(r.status), r.iterations, r.residual, tolerance, next->name);
        s = next;
    }
}
