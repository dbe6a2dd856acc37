#include "solvers/reliable.h"

#include <math.h>

#include "kernels/base/log.h"
#include "kernels/ops/vector.h"

/* Updates without progress, since the residual was last halved, after which a precision below that of b
 * is raised. */
#define PATIENCE 3

/* Part of max_iterations, and least number of iterations, in which such a precision has to halve the residual. */
#define PACE_PART 8
#define PACE_LEAST 50

static const char broke_down[] = "broke down";

static void end(reliable *u, solve_status status)
{
    u->result.status = status;
    u->going = 0;
}

/* The true residual. Returns 0 when that is the end. */
static int measure(reliable *u)
{
    u->r2 = solver_defect(u->a, u->r, u->x, u->b, u->unit);
    /* Even what is only counted begins: then it takes its vectors. */
    if (u->result.iterations == 0 && u->b->lat->planned) u->r2 = u->b2 / (u->unit * u->unit);
    u->result.flops += u->a->flops;
    solver_note(u->result.iterations, sqrt(u->r2 * u->unit * u->unit / u->b2), u->b->prec, 1);
    if (!(u->r2 < INFINITY)) end(u, SOLVE_BROKEN);
    else if (u->r2 <= u->target2) end(u, SOLVE_CONVERGED);
    else if (u->given_up) end(u, SOLVE_INTERRUPTED);
    else if (u->result.iterations + u->step > u->settings->max_iterations) end(u, SOLVE_TOO_MANY_ITERATIONS);
    return u->going;
}

static void hand_down(reliable *u)
{
    if (u->low_r != u->r) vector_copy(u->low_r, u->r);
    if (u->low_x != u->x) field_clear(u->low_x);
    u->most2 = u->r2;
}

static void drop_low(reliable *u)
{
    if (u->low_x != u->x) field_destroy(u->low_x);
    if (u->low_r != u->r) field_destroy(u->low_r);
    u->low_x = u->low_r = NULL;
}

/* Begins an iteration in a precision. */
static void begin(reliable *u, precision prec)
{
    const int one = prec == u->b->prec && !u->apart;
    u->low = linop_at(u->a, prec, u->a->where);
    linop_refresh(u->low);
    u->low_x = one ? u->x : linop_vector(u->low, 1);
    u->low_r = one ? u->r : linop_vector(u->low, 1);
    u->unit = one ? 1 : sqrt(u->b2);
    u->target2 = u->settings->tolerance * u->settings->tolerance * u->b2 / (u->unit * u->unit);
    u->failures = 0;
    if (measure(u)) hand_down(u);
    /* The first update in the precision of b is no failure yet, whatever it finds. */
    u->pace = pace_start(u->settings, u->result.iterations, prec == u->b->prec ? INFINITY : u->r2);
}

int pace_of(const solver_settings *s)
{
    const int part = s->max_iterations / PACE_PART;
    return part > PACE_LEAST ? part : PACE_LEAST;
}

solver_pace pace_start(const solver_settings *s, int iterations, double r2)
{
    return (solver_pace){pace_of(s), iterations, r2};
}

int pace_halved(solver_pace *p, int iterations, double r2)
{
    if (!(r2 <= 0.25 * p->mark2)) return 0;
    p->mark2 = r2;
    p->since = iterations;
    return 1;
}

int pace_is_slow(const solver_pace *p, int iterations)
{
    return iterations - p->since > p->most;
}

void reliable_open(reliable *u, const solver *s, field *x, const field *b, int step, int apart)
{
    *u = (reliable){
        .going = 1, .settings = &s->settings, .a = solver_operator(s, b), .x = x, .b = b, .step = step, .apart = apart};
    u->vectors_after = 1;
    u->given_up = solver_interrupted(b->lat);
    u->r = field_like(b);
    u->b2 = vector_norm2(b, 0);
    if (u->b2 > 0 && u->b2 < INFINITY) {
        begin(u, solver_precision(&s->settings, b->prec));
        return;
    }
    if (u->b2 == 0) vector_axpby(x, 0, b, 0); /* x may be a right-hand side of a block */
    end(u, u->b2 == 0 ? SOLVE_CONVERGED : SOLVE_BROKEN);
}

static int too_slow(const reliable *u)
{
    const int lower = u->low->prec != u->b->prec;
    return (lower && pace_is_slow(&u->pace, u->result.iterations)) ||
           (u->patience > 0 && u->result.iterations - u->pace.since > u->patience);
}

int reliable_due(reliable *u, int applications, double claimed2)
{
    const double delta = u->settings->delta;
    u->result.iterations += applications;
    u->result.flops += applications * u->low->flops;
    solver_note(u->result.iterations, sqrt(claimed2 * u->unit * u->unit / u->b2), u->low->prec, 0);
    if (claimed2 > u->most2) u->most2 = claimed2;
    if (u->b->lat->planned) return u->result.iterations >= u->vectors_after;
    u->given_up = solver_interrupted(u->b->lat);
    /* A little beyond the target, so that rounding does not ask for one more update. */
    return u->given_up || !(claimed2 > 0.8 * u->target2) || !(claimed2 < INFINITY) ||
           u->result.iterations + u->step > u->settings->max_iterations || too_slow(u) ||
           (u->low->prec != u->b->prec && claimed2 < delta * delta * u->most2);
}

int reliable_nears(const reliable *u, double claimed2)
{
    const double delta = u->low->prec != u->b->prec ? u->settings->delta : 0;
    return !(claimed2 > 16 * fmax(u->target2, delta * delta * u->most2));
}

/* The next precision, and 0. `trouble`: of this one, for the log. */
static int raise(reliable *u, solve_status status_at_last, const char *trouble)
{
    const precision prec = u->low->prec;
    if (prec == u->b->prec) {
        end(u, status_at_last);
        return 0;
    }
    /* Inside another solver it may happen at every call. */
    (solver_outermost() ? log_info : log_debug)(
        "solver %s: %s at a residual of %.1e in %s precision, which is raised to %s", solver_type_of(u->settings)->name,
        trouble, sqrt(u->r2 * u->unit * u->unit / u->b2), precision_names[prec], precision_names[prec - 1]);
    drop_low(u);
    begin(u, prec - 1);
    return 0;
}

int reliable_update(reliable *u, double claimed2)
{
    if (!(claimed2 < INFINITY)) return raise(u, SOLVE_BROKEN, broke_down);
    if (u->low_x != u->x) vector_add(u->x, u->unit, u->low_x);
    const double before2 = u->r2;
    if (!measure(u)) return 0;
    u->true_over_recurrence = u->r2 / claimed2;
    /* A lower precision fails also at a residual above that of the update before, even if the iteration knows it. */
    if (pace_halved(&u->pace, u->result.iterations, u->r2)) u->failures = 0;
    else if (u->true_over_recurrence > 2 || (u->r2 > before2 && u->low->prec != u->b->prec)) u->failures++;
    if (u->failures >= (u->low->prec == u->b->prec ? 1 : PATIENCE)) return raise(u, SOLVE_STALLED, "stalled");
    if (too_slow(u)) return raise(u, SOLVE_STALLED, "slow");
    hand_down(u);
    return 1;
}

void reliable_break(reliable *u)
{
    raise(u, SOLVE_BROKEN, broke_down);
}

solve_result reliable_close(reliable *u)
{
    drop_low(u);
    field_destroy(u->r);
    return u->result;
}
