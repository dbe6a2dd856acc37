#include "hmc/actions/action.h"

#include <math.h>

#include "kernels/lattice/comm.h"

const char ADVICE_SOLVE[] = "loosen the tolerance, raise max_iterations or name a fallback, then continue",
           ADVICE_NUMBERS[] = "no tolerance helps: the numbers ran away. Take more steps, a shorter length or heavier "
                              "quarks, and look at the links with plaq check",
           ADVICE_SPECTRUM[] = "give the wider spectrum or the approximation that the message names, then continue";

/* After so many an action has learnt nothing. */
#define MOST_FAILURES 10

int action_begin(action *a)
{
    return a->table->begin && a->table->begin(a);
}

int action_refresh(action *a, random_key key)
{
    int failed = 0;
    do {
        a->start_known = 0;
        failed = action_begin(a) || (a->table->refresh && a->table->refresh(a, key));
    } while (failed && action_begin_again(a));
    return failed;
}

int action_value(action *a, double *s)
{
    return a->table->value(a, s);
}

int action_force(action *a, field *force)
{
    double seconds = 0, *const where = &seconds;
    return a->table->force ? a->table->force(a, force) : action_shared_force(&a, 1, force, &where);
}

const named_solver *action_force_solver(const action *a, const action_solvers *s)
{
    return a->check_reversibility ? s->reversal : s->force;
}

int action_shared_force(action *const *a, int n, field *force, double *const *seconds)
{
    int failed = 0;
    double start = comm_wtime();
    void *sum = a[0]->table->open_sum(a[0], force);
    for (int i = 0; i < n && !failed; i++) {
        failed = a[i]->table->add_to_sum(a[i], sum);
        *seconds[i] += comm_wtime() - start;
        start = comm_wtime();
    }
    a[0]->table->close_sum(a[0], sum);
    *seconds[0] += comm_wtime() - start;
    return failed;
}

void action_destroy(action *a)
{
    if (a) a->table->destroy(a);
}

int action_begin_again(action *a)
{
    if (!a->table->begin_again || a->failures == MOST_FAILURES || !a->table->begin_again(a)) return 0;
    a->failures++;
    a->trouble[0] = 0;
    a->advice = ADVICE_SOLVE;
    return 1;
}

void action_reset_counts(action *a)
{
    a->iterations = a->solves = a->repeats = 0;
    a->worst_residual = 0;
    a->spectrum_low = INFINITY;
    a->spectrum_high = -INFINITY;
    a->trouble[0] = 0;
    a->advice = ADVICE_SOLVE;
}
