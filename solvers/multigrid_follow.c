/* How a set-up of multigrid follows links that change.
 *
 * Outside of actions it is made anew whenever the links have changed. In an action they move in small steps, and null
 * vectors and coarse operators serve for a while: they are kept until the iterations a digit of a solve have grown by
 * refresh_at. Then the null vectors are relaxed a little and the coarse operators built from them; where that does not
 * bring the iterations back, all is made anew from random vectors. Counts decide and never times, so that bits are the same
 * on every machine; multigrid_forget() at the beginning of a trajectory makes them those of a restart. */
#include <limits.h>
#include <math.h>

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

/* From random vectors. */
static void make(multigrid *m)
{
    multigrid_setup(m);
    m->pace = (multigrid_pace){0};
    m->renew = m->refreshed = 0;
    m->made_on = m->version;
}

static void refresh(multigrid *m)
{
    multigrid_refresh(m);
    m->pace.solves = 0;
    m->refreshed = 1;
}

void multigrid_follow(multigrid *m)
{
    multigrid_pace *p = &m->pace;
    const unsigned long version = links_version(m);
    close_solve(p);
    linop_refresh(m->levels[0].op);
    if (version == m->version && !m->renew) return;
    const int first = m->version == 0;
    m->version = version;
    if (first || m->renew || !m->follows) {
        make(m);
        return;
    }
    const double pace = p->worst;
    const int slow = p->reference > 0 && pace > m->keys.refresh_at * p->reference;
    m->made_on = 0;
    if (p->reference == 0) p->reference = pace;
    p->worst = 0;
    if (!slow) {
        log_debug("multigrid: %.1f iterations a digit, %.1f when the set-up was new: kept", pace, p->reference);
        if (pace > 0) m->refreshed = 0;
        return;
    }
    log_info("multigrid: %.1f iterations a digit, %.1f when the set-up was new: %s after %d solves", pace, p->reference,
             m->refreshed ? "made anew" : "null vectors are refreshed", p->solves);
    if (m->refreshed) make(m);
    else refresh(m);
}

void multigrid_forget(multigrid *m)
{
    const int same = m->made_on > 0 && m->made_on == links_version(m);
    m->pace = (multigrid_pace){0};
    m->refreshed = 0;
    m->renew = !same;
}

int multigrid_patience(const multigrid *m, double tolerance)
{
    if (m->made_on > 0 || m->pace.reference == 0) return INT_MAX;
    return PATIENCE_LEAST + (int)ceil(PATIENCE * m->pace.reference * -log10(tolerance));
}

int multigrid_renew(multigrid *m, const char *why)
{
    if (!m->follows || m->made_on > 0) return 0;
    log_info("multigrid: %s after %d solves: made anew", why, m->pace.solves);
    make(m);
    return 1;
}
