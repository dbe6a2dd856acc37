#include "hmc/evolve/action.h"

int action_refresh(action *a, random_key key)
{
    a->start_known = 0;
    return a->table->refresh ? a->table->refresh(a, key) : 0;
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

void action_reset_counts(action *a)
{
    a->iterations = a->solves = 0;
    a->worst_residual = 0;
    a->trouble[0] = 0;
    a->broken = 0;
}
