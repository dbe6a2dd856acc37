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
#include "solvers/multigrid/multigrid.h"

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
static void make(multigrid *owner)
{
    REQUIRE(owner->users > 0, "a set-up of a quark that is gone");
    linop_refresh(owner->levels[0].op);
    multigrid_setup(owner);
    for (multigrid *m = owner; m; m = m->next_sharer) m->pace = (multigrid_pace){0};
    owner->renew = multigrid_given_up(owner); /* a set-up without its end serves no solve */
    owner->refreshed = 0;
    owner->setup_links_version = owner->version;
}

static void refresh(multigrid *owner)
{
    REQUIRE(owner->users > 0, "a set-up of a quark that is gone");
    linop_refresh(owner->levels[0].op);
    multigrid_refresh(owner);
    for (multigrid *m = owner; m; m = m->next_sharer) m->pace.solves = 0;
    owner->renew = multigrid_given_up(owner);
    owner->refreshed = 1;
}

static int solves_of(const multigrid *owner)
{
    int n = 0;
    for (const multigrid *m = owner; m; m = m->next_sharer) n += m->pace.solves;
    return n;
}

/* How much slower than with a new set-up those solve that have it, most; 0: no solve tells. */
static double slowness(multigrid *owner)
{
    double most = 0;
    for (multigrid *m = owner; m; m = m->next_sharer) {
        multigrid_pace *p = &m->pace;
        close_solve(p);
        if (p->reference == 0) p->reference = p->worst;
        if (p->worst > 0) most = fmax(most, p->worst / p->reference);
        p->worst = 0;
    }
    return most;
}

/* Makes, refreshes or keeps the set-up, as the links of this version need. */
static void follow(multigrid *owner, unsigned long version)
{
    const int first = owner->version == 0;
    owner->version = version;
    if (first || owner->renew || !owner->follows) {
        make(owner);
        return;
    }
    const double slow = slowness(owner);
    owner->setup_links_version = 0;
    if (!(slow > owner->keys.refresh_at)) {
        log_debug("multigrid: %.2f times the iterations a digit of a new set-up: kept", slow);
        if (slow > 0) owner->refreshed = 0;
        return;
    }
    log_info("multigrid: %.2f times the iterations a digit of a new set-up: %s after %d solves", slow,
             owner->refreshed ? "made anew" : "null vectors are refreshed", solves_of(owner));
    if (owner->refreshed) make(owner);
    else refresh(owner);
}

void multigrid_follow(multigrid *m)
{
    multigrid_open(m);
    multigrid *owner = m->owner;
    const unsigned long version = links_version(m);
    close_solve(&m->pace);
    linop_refresh(m->levels[0].op);
    if (version != owner->version || owner->renew) follow(owner, version);
    if (m != owner && m->setup_taken != owner->number && !owner->renew) multigrid_take(m);
}

void multigrid_forget(multigrid *m)
{
    multigrid *owner = m->owner;
    if (!owner) return;
    const int same = owner->setup_links_version > 0 && owner->setup_links_version == links_version(owner);
    m->pace = (multigrid_pace){0};
    owner->refreshed = 0;
    owner->renew = !same;
}

int multigrid_patience(const multigrid *m, double tolerance)
{
    if (m->owner->setup_links_version > 0 || m->pace.reference == 0) return INT_MAX;
    return PATIENCE_LEAST + (int)ceil(PATIENCE * m->pace.reference * -log10(tolerance));
}

int multigrid_renew(multigrid *m, const char *why)
{
    multigrid *owner = m->owner;
    if (!m->follows || owner->setup_links_version > 0 || multigrid_given_up(m)) return 0;
    log_info("multigrid: %s after %d solves: made anew", why, solves_of(owner));
    make(owner);
    if (m != owner && !owner->renew) multigrid_take(m);
    return 1;
}
