#include "operators/staggered_links.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/staggered.h"

/* Links in one precision and place. */
typedef struct {
    field *near, *far, *far_phases;
    staggered_pair pair;
    unsigned long version; /* version of the thin links that it was built from */
} material;

struct staggered_links {
    const field *thin;
    staggered_links *base; /* has the first level; l itself, or another one's */
    field *v, *w;          /* HISQ's first level before and after projection */
    unsigned long level_version;
    staggered_smearing smearing;
    staggered_paths paths;
    double naik; /* 0: no long links */
    material materials[PREC_COUNT][2];
    double filtered;
};

static const staggered_paths fat7 = {1.0 / 8, 1.0 / 16, 1.0 / 64, 1.0 / 384, 0};

static void choose_paths(staggered_links *l)
{
    const staggered_smearing *s = &l->smearing;
    const double u2 = s->u0 * s->u0;
    if (s->kind == STAGGERED_FAT7 || s->kind == STAGGERED_ASQTAD) {
        l->paths = (staggered_paths){1.0 / 8, 1 / (16 * u2), 1 / (64 * u2 * u2), 1 / (384 * u2 * u2 * u2), 0};
        if (s->kind == STAGGERED_FAT7) return;
        l->paths.one = 5.0 / 8;
        l->paths.lepage = -1 / (16 * u2 * u2);
        l->naik = -1 / (24 * u2);
    } else if (s->kind == STAGGERED_HISQ) {
        l->paths = fat7;
        l->paths.one = 1 + s->epsilon / 8;
        l->paths.lepage = -1.0 / 8;
        l->naik = -(1 + s->epsilon) / 24;
    } else {
        l->paths = (staggered_paths){.one = 1};
    }
}

static field *made_like(const field *thin, field_kind kind, precision prec, place where)
{
    return field_create(thin->lat, kind, prec, PARITY_BOTH, 1, where);
}

static field *links_like(const field *thin, precision prec, place where)
{
    return made_like(thin, FIELD_LINKS, prec, where);
}

/* V and W of HISQ */
static void build_level(staggered_links *l)
{
    double undefined;
    if (l->level_version == l->thin->version) return;
    if (!l->v) l->v = links_like(l->thin, PREC_DOUBLE, l->thin->where);
    if (!l->w) l->w = links_like(l->thin, PREC_DOUBLE, l->thin->where);
    staggered_fatten(l->v, l->thin, LINKS_SPECIAL, &fat7);
    const double guarded = staggered_unitarise(l->w, l->v, &undefined);
    if (undefined > 0)
        user_error(
            "%g links smeared by fat7 have two singular values of zero, and so no projection to U(3): HISQ quarks "
            "have no links on such a configuration (of elements of the centre?); take another one",
            undefined);
    if (guarded > 0) log_debug("HISQ links: %g of %ld are nearly singular", guarded, 4 * l->thin->lat->volume);
    l->level_version = l->thin->version;
}

/* Links that the last level is made of. */
static const field *source_of(staggered_links *l)
{
    if (l->smearing.kind != STAGGERED_HISQ) return l->thin;
    build_level(l->base);
    return l->base->w;
}

static links_group group_of(const staggered_links *l)
{
    return l->smearing.kind == STAGGERED_HISQ ? LINKS_GENERAL : LINKS_SPECIAL;
}

/* The least power of two that is at least x: a factor that leaves no rounding. */
static double power_above(double x)
{
    int exponent;
    const double fraction = frexp(x, &exponent);
    return ldexp(1, fraction == 0.5 ? exponent - 1 : exponent);
}

/* Numbers of fixed point are at most 1: the sum of all paths bounds what a link can be. */
static double near_bound(const staggered_paths *c)
{
    return power_above(fabs(c->one) + 6 * fabs(c->three) + 24 * fabs(c->five) + 48 * fabs(c->seven) +
                       6 * fabs(c->lepage));
}

const double *staggered_links_theta(const staggered_links *l)
{
    return l->smearing.theta;
}

void staggered_links_turn(field *links, int reach, const double from[4], const double to[4])
{
    double angle[4];
    int turns = 0;
    for (int mu = 0; mu < 4; mu++) {
        angle[mu] = reach * (to[mu] - from[mu]) / links->lat->size[mu];
        turns = turns || angle[mu] != 0;
    }
    if (turns) links_twist(links, links, angle);
}

/* Phases, signs of the boundary and a twist into links that lead `reach` sites. */
static void add_phases(field *links, int reach, const double theta[4])
{
    static const double none[4];
    staggered_phases(links, reach);
    staggered_links_turn(links, reach, none, theta);
}

static int is_whole(const staggered_links *l)
{
    return l->smearing.long_reals == 18;
}

/* Long links in double precision; those of fewer reals are products of three without their coefficient. */
static void build_far(staggered_links *l, material *m, const field *source)
{
    const place where = l->thin->where;
    const int whole = is_whole(l), eight = l->smearing.long_reals == 9;
    field *far = whole && m->far ? m->far : links_like(l->thin, PREC_DOUBLE, where);
    staggered_lengthen(far, source, whole ? l->naik : 1);
    add_phases(far, 3, l->smearing.theta);
    if (whole) {
        m->far = far;
        return;
    }
    if (!m->far) m->far = made_like(l->thin, eight ? FIELD_LINKS_EIGHT : FIELD_LINKS_TWO_ROWS, PREC_DOUBLE, where);
    if (!m->far_phases) m->far_phases = made_like(l->thin, FIELD_PHASES, PREC_DOUBLE, where);
    staggered_link_phases(m->far_phases, far);
    if (eight) staggered_link_specials(far, m->far_phases);
    field_copy(m->far, far);
    field_destroy(far);
}

static void set_pair(const staggered_links *l, material *m, double near_scale, double far_scale)
{
    const double far = is_whole(l) ? far_scale : l->naik;
    m->pair = (staggered_pair){m->near, m->far, m->far_phases, near_scale, far};
    m->version = l->thin->version;
}

static void build(staggered_links *l, material *m)
{
    const field *source = source_of(l);
    if (!m->near) m->near = links_like(l->thin, PREC_DOUBLE, l->thin->where);
    if (staggered_links_smeared(l)) staggered_fatten(m->near, source, group_of(l), &l->paths);
    else staggered_scale(m->near, 1, source);
    add_phases(m->near, 1, l->smearing.theta);
    if (l->naik != 0) build_far(l, m, source);
    set_pair(l, m, 1, 1);
}

/* Links of a sibling from those of its base: fat ones differ by one link with a weight, long ones by a factor, both by a
 * twist. */
static void build_from_base(staggered_links *l, material *m)
{
    const place where = l->thin->where;
    const double *theta = l->base->smearing.theta;
    const staggered_pair *base = staggered_links_at(l->base, PREC_DOUBLE, where);
    if (!m->near) m->near = links_like(l->thin, PREC_DOUBLE, where);
    if (staggered_links_extra(l) != 0) {
        staggered_scale(m->near, staggered_links_extra(l), source_of(l));
        add_phases(m->near, 1, theta);
        field_add(m->near, 1, base->near);
    } else {
        field_copy(m->near, base->near);
    }
    staggered_links_turn(m->near, 1, theta, l->smearing.theta);
    if (l->naik != 0 && base->far && is_whole(l) && is_whole(l->base)) {
        if (!m->far) m->far = links_like(l->thin, PREC_DOUBLE, where);
        staggered_scale(m->far, l->naik / l->base->naik, base->far);
        staggered_links_turn(m->far, 3, theta, l->smearing.theta);
    } else if (l->naik != 0) {
        build_far(l, m, source_of(l));
    }
    set_pair(l, m, 1, 1);
}

/* Converts to another precision or place: to = from / scale. */
static void convert(field **to, const field *from, double scale, precision prec, place where)
{
    if (!from) return;
    field *scaled = scale != 1 ? field_scratch(from) : NULL;
    if (scaled) staggered_scale(scaled, 1 / scale, from);
    if (!*to) *to = made_like(from, from->kind, prec, where);
    field_copy(*to, scaled ? scaled : from);
    field_destroy(scaled);
}

const staggered_pair *staggered_links_at(staggered_links *l, precision prec, place where)
{
    material *source = &l->materials[PREC_DOUBLE][l->thin->where], *m = &l->materials[prec][where];
    if (source->version != l->thin->version) {
        if (l->base == l) build(l, source);
        else build_from_base(l, source);
    }
    if (m->version != l->thin->version) {
        const int fixed = prec >= PREC_HALF, whole = is_whole(l);
        const double near_scale = fixed ? near_bound(&l->paths) : 1;
        const double far_scale = fixed && whole && l->naik != 0 ? power_above(fabs(l->naik)) : 1;
        convert(&m->near, source->near, near_scale, prec, where);
        convert(&m->far, source->far, far_scale, prec, where);
        convert(&m->far_phases, source->far_phases, 1, prec, where);
        set_pair(l, m, near_scale, far_scale);
    }
    return &m->pair;
}

const field *staggered_links_thin(const staggered_links *l)
{
    return l->thin;
}

staggered_links *staggered_links_base(staggered_links *l)
{
    return l->base;
}

int staggered_links_smeared(const staggered_links *l)
{
    return l->smearing.kind != STAGGERED_NAIVE;
}

double staggered_links_naik(const staggered_links *l)
{
    return l->naik;
}

double staggered_links_extra(const staggered_links *l)
{
    return l->paths.one - l->base->paths.one;
}

/* ---- forces ---- */

/* Singular values of V below this are taken as this in forces: the square root of 5e-5, the bound that is usual for
 * eigenvalues of V^dagger V (A. Bazavov et al., Phys. Rev. D 82 (2010) 074501, section II.B). */
#define LEAST_SINGULAR_VALUE 7.0710678118654752e-3

double staggered_links_back(field *momenta, staggered_links *l, const field *near, const field *far, field *extra)
{
    const field *source = source_of(l);
    double filtered = 0;
    REQUIRE(l->base == l, "a force through links that share another one's");
    if (!staggered_links_smeared(l)) {
        staggered_momenta_add(momenta, source, near);
        return 0;
    }
    field *level = extra ? extra : field_scratch(near);
    staggered_fatten_back(level, extra != NULL, source, group_of(l), near, &l->paths);
    if (far) staggered_lengthen_back(level, source, far, 1);
    if (l->smearing.kind == STAGGERED_HISQ) {
        filtered = staggered_unitarise_back(level, l->w, l->v, LEAST_SINGULAR_VALUE);
        field *thin = field_scratch(level);
        staggered_fatten_back(thin, 0, l->thin, LINKS_SPECIAL, level, &fat7);
        staggered_momenta_add(momenta, l->thin, thin);
        field_destroy(thin);
    } else {
        staggered_momenta_add(momenta, l->thin, level);
    }
    if (level != extra) field_destroy(level);
    if (filtered > 0 && l->filtered == 0)
        log_warn("HISQ force: %g of %ld links have a singular value below %.1e, which the force takes as that; further "
                 "ones are counted",
                 filtered, 4 * l->thin->lat->volume, LEAST_SINGULAR_VALUE);
    l->filtered += filtered;
    return filtered;
}

double staggered_links_filtered(const staggered_links *l)
{
    return l->base->filtered;
}

staggered_links *staggered_links_create(const field *thin, const staggered_smearing *s)
{
    staggered_links *l = calloc(1, sizeof *l);
    REQUIRE_MEMORY(l, "out of memory");
    REQUIRE(thin->prec == PREC_DOUBLE && thin->kind == FIELD_LINKS, "links of kind %d, precision %d", thin->kind,
            thin->prec);
    REQUIRE((s->kind != STAGGERED_FAT7 && s->kind != STAGGERED_ASQTAD) || s->u0 > 0, "u0 = %g", s->u0);
    l->thin = thin;
    l->smearing = *s;
    if (!s->long_reals) l->smearing.long_reals = 18;
    REQUIRE(is_whole(l) || s->long_reals == 13 || s->long_reals == 9, "long links of %d reals", s->long_reals);
    l->base = l;
    choose_paths(l);
    REQUIRE(l->naik == 0 || thin->lat->reach >= 3, "long links on a lattice of reach %d", thin->lat->reach);
    return l;
}

staggered_links *staggered_links_like(staggered_links *base, const staggered_smearing *s)
{
    REQUIRE(staggered_links_alike(base, s), "links of kind %d and u0 = %g, of a base of kind %d and u0 = %g", s->kind,
            s->u0, base->smearing.kind, base->smearing.u0);
    REQUIRE(s->kind == STAGGERED_HISQ || s->epsilon == base->smearing.epsilon, "epsilon = %g of links of kind %d",
            s->epsilon, s->kind);
    staggered_links *l = staggered_links_create(base->thin, s);
    l->base = base->base;
    return l;
}

staggered_links *staggered_links_sibling(staggered_links *base, double epsilon, int long_reals)
{
    staggered_smearing s = base->smearing;
    s.epsilon = epsilon;
    s.long_reals = long_reals;
    return staggered_links_like(base, &s);
}

int staggered_links_alike(const staggered_links *l, const staggered_smearing *s)
{
    return l->smearing.kind == s->kind && l->smearing.u0 == s->u0;
}

int staggered_links_same(const staggered_links *l, const staggered_smearing *s)
{
    const int reals = s->long_reals ? s->long_reals : 18;
    for (int mu = 0; mu < 4; mu++)
        if (l->smearing.theta[mu] != s->theta[mu]) return 0;
    return staggered_links_alike(l, s) && l->smearing.epsilon == s->epsilon && l->smearing.long_reals == reals;
}

int staggered_links_projected(const staggered_links *l)
{
    return l->smearing.kind == STAGGERED_HISQ;
}

void staggered_links_destroy(staggered_links *l)
{
    if (!l) return;
    if (l->filtered > 0)
        log_info("HISQ force: %g links in all had a singular value below %.1e", l->filtered, LEAST_SINGULAR_VALUE);
    for (int prec = 0; prec < PREC_COUNT; prec++)
        for (int where = 0; where < 2; where++) {
            field_destroy(l->materials[prec][where].near);
            field_destroy(l->materials[prec][where].far);
            field_destroy(l->materials[prec][where].far_phases);
        }
    field_destroy(l->v);
    field_destroy(l->w);
    free(l);
}
