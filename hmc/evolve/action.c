#include "hmc/evolve/action.h"

#include <math.h>

const char ADVICE_SOLVE[] = "loosen the tolerance, raise max_iterations or name a fallback, then go on",
           ADVICE_NUMBERS[] = "no tolerance helps: the numbers ran away. Take more steps, a shorter length or heavier "
                              "quarks, and look at the links with plaq check",
           ADVICE_SPECTRUM[] = "give the wider spectrum or the approximation that the message names, then go on";

/* After so many an action has learnt nothing. */
#define MOST_FAILURES 10

int action_refresh(action *a, random_key key)
{
    int failed = 0;
    do {
        a->start_known = 0;
        failed = a->table->refresh && a->table->refresh(a, key);
    } while (failed && action_begin_again(a));
    return failed;
}

int action_value(action *a, double *s)
{
    return a->table->value(a, s);
}

int action_force(action *a, field *force)
{
    return a->table->force(a, force);
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
    a->iterations = a->solves = 0;
    a->worst_residual = 0;
    a->spectrum_low = INFINITY;
    a->spectrum_high = -INFINITY;
    a->trouble[0] = 0;
    a->advice = ADVICE_SOLVE;
}
