/* How a set-up of multigrid follows links that change.
 *
 * Outside of actions it is made anew whenever the links have changed. In an action they move in small steps, and null
 * vectors and coarse operators serve for a while: they are kept until the iterations a digit of a solve have grown by
 * refresh_at. Then the null vectors are relaxed a little and the coarse operators built from them; where that does not
 * bring the iterations back, all is made anew from random vectors. Counts decide and never times, so that bits are the same
 * on every machine; multigrid_forget() at the beginning of a trajectory makes them those of a restart. Levels that have one
 * set-up decide together: it is kept until one of them is slow. */
#include <limits.h>
#include <math.h>

#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "solvers/multigrid.h"

/* A solve of fewer digits tells nothing, unless it takes this many cycles. */
#define LEAST_DIGITS 2
#define MANY_CYCLES 50

/* A residual that has grown by this belongs to another source. */
#define OTHER_SOURCE2 100

/* Iterations beyond what is expected that are granted to a set-up of earlier links. */
#define PATIENCE 4
#define PATIENCE_LEAST 16

static unsigned long links_version(const multigrid *m)
{
    const linop *op = m->levels[0].op;
    return op->coarsening->version(op);
}

/* A solve has ended. */
static void close_solve(multigrid_pace *p)
{
    if (p->digits >= LEAST_DIGITS || p->cycles >= MANY_CYCLES)
        p->worst = fmax(p->worst, p->cycles / fmax(p->digits, 0.01));
    p->solves += p->cycles > 0;
    p->cycles = 0;
    p->digits = p->last2 = 0;
}

void multigrid_note(multigrid *m, double r2)
{
    multigrid_pace *p = &m->pace;
    if (p->cycles > 0 && r2 > OTHER_SOURCE2 * p->last2) close_solve(p);
    if (p->cycles > 0) p->digits += 0.5 * log10(p->last2 / r2);
    p->last2 = r2;
    p->cycles++;
}

/* Makes the set-up from random vectors. */
static void make(multigrid *lead)
{
    REQUIRE(lead->users > 0, "a set-up of a quark that is gone");
    linop_refresh(lead->levels[0].op);
    multigrid_setup(lead);
    for (multigrid *m = lead; m; m = m->led) m->pace = (multigrid_pace){0};
    lead->renew = multigrid_given_up(lead); /* a set-up without its end serves no solve */
    lead->refreshed = 0;
    lead->made_on = lead->version;
}

static void refresh(multigrid *lead)
{
    REQUIRE(lead->users > 0, "a set-up of a quark that is gone");
    linop_refresh(lead->levels[0].op);
    multigrid_refresh(lead);
    for (multigrid *m = lead; m; m = m->led) m->pace.solves = 0;
    lead->renew = multigrid_given_up(lead);
    lead->refreshed = 1;
}

static int solves_of(const multigrid *lead)
{
    int n = 0;
    for (const multigrid *m = lead; m; m = m->led) n += m->pace.solves;
    return n;
}

/* How much slower than with a new set-up those solve that have it, most; 0: no solve tells. */
static double slowness(multigrid *lead)
{
    double most = 0;
    for (multigrid *m = lead; m; m = m->led) {
        multigrid_pace *p = &m->pace;
        close_solve(p);
        if (p->reference == 0) p->reference = p->worst;
        if (p->worst > 0) most = fmax(most, p->worst / p->reference);
        p->worst = 0;
    }
    return most;
}

/* Makes, refreshes or keeps the set-up, as the links of this version need. */
static void follow(multigrid *lead, unsigned long version)
{
    const int first = lead->version == 0;
    lead->version = version;
    if (first || lead->renew || !lead->follows) {
        make(lead);
        return;
    }
    const double slow = slowness(lead);
    lead->made_on = 0;
    if (!(slow > lead->keys.refresh_at)) {
        log_debug("multigrid: %.2f times the iterations a digit of a new set-up: kept", slow);
        if (slow > 0) lead->refreshed = 0;
        return;
    }
    log_info("multigrid: %.2f times the iterations a digit of a new set-up: %s after %d solves", slow,
             lead->refreshed ? "made anew" : "null vectors are refreshed", solves_of(lead));
    if (lead->refreshed) make(lead);
    else refresh(lead);
}

void multigrid_follow(multigrid *m)
{
    multigrid_open(m);
    multigrid *lead = m->lead;
    const unsigned long version = links_version(m);
    close_solve(&m->pace);
    linop_refresh(m->levels[0].op);
    if (version != lead->version || lead->renew) follow(lead, version);
    if (m != lead && m->taken != lead->number && !lead->renew) multigrid_take(m);
}

void multigrid_forget(multigrid *m)
{
    multigrid *lead = m->lead;
    if (!lead) return;
    const int same = lead->made_on > 0 && lead->made_on == links_version(lead);
    m->pace = (multigrid_pace){0};
    lead->refreshed = 0;
    lead->renew = !same;
}

int multigrid_patience(const multigrid *m, double tolerance)
{
    if (m->lead->made_on > 0 || m->pace.reference == 0) return INT_MAX;
    return PATIENCE_LEAST + (int)ceil(PATIENCE * m->pace.reference * -log10(tolerance));
}

int multigrid_renew(multigrid *m, const char *why)
{
    multigrid *lead = m->lead;
    if (!m->follows || lead->made_on > 0 || multigrid_given_up(m)) return 0;
    log_info("multigrid: %s after %d solves: made anew", why, solves_of(lead));
    make(lead);
    if (m != lead && !lead->renew) multigrid_take(m);
    return 1;
}
