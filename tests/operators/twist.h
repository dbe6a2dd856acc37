/* Scenes of quarks with twisted boundary conditions: every kind of quark, its links, and M of it. */
#ifndef PLAQ_TWIST_SCENE_H
#define PLAQ_TWIST_SCENE_H

#include "tests/kernels/kit.h"
#include "tests/operators/staggered.h"
#include "tests/solve.h"

#include "kernels/ops/domainwall.h"
#include "kernels/ops/gauge.h"
#include "operators/eofa.h"
#include "operators/staggered.h"
#include "operators/wilson.h"

enum { CLOVER, WALLS, STAGGERED };

typedef struct {
    const char *name;
    int type, stout; /* stout: hops on links of two steps */
    int open;        /* time with open ends */
    int idle;        /* slices behind the last one */
    wilson_settings w;
    mobius_settings m;
    staggered_smearing s;
} kind;

#define MASS 0.3
#define STOUT_RHO 0.12

static const kind kinds[] = {
    {.name = "clover", .type = CLOVER, .w = {.c_sw = 1.3, .storage = FIELD_LINKS_TWO_ROWS}},
    {.name = "Wilson", .type = CLOVER, .w = {.form = SCHUR_SYMMETRIC, .p = PARITY_ODD, .storage = FIELD_LINKS}},
    {.name = "clover on stout links",
     .type = CLOVER,
     .stout = 1,
     .w = {.c_sw = 1.1, .form = SCHUR_SYMMETRIC, .p = PARITY_ODD, .storage = FIELD_LINKS}},
    {.name = "exponential clover",
     .type = CLOVER,
     .w = {.c_sw = 1.9, .exponential = 1, .storage = FIELD_LINKS_TWO_ROWS}},
    {.name = "exponential twisted clover, open time",
     .type = CLOVER,
     .open = 1,
     .w = {.c_sw = 1.2, .exponential = 1, .mu = 0.2, .inside = {0.1, 0.1}, .p = PARITY_ODD, .storage = FIELD_LINKS}},
    {.name = "Moebius",
     .type = WALLS,
     .m = {.mass = MASS, .M5 = 1.8, .b5 = 1.5, .c5 = 0.5, .Ls = 6, .storage = FIELD_LINKS_TWO_ROWS}},
    {.name = "Moebius on stout links",
     .type = WALLS,
     .stout = 1,
     .m = {.mass = MASS, .M5 = 1.4, .b5 = 1, .c5 = 0, .Ls = 5, .p = PARITY_ODD, .storage = FIELD_LINKS}},
    {.name = "clover, open time",
     .type = CLOVER,
     .open = 1,
     .w = {.c_sw = 1.7, .inside = {0.2, 0.2}, .storage = FIELD_LINKS_TWO_ROWS}},
    {.name = "clover on stout links, open time",
     .type = CLOVER,
     .stout = 1,
     .open = 1,
     .w = {.c_sw = 1.1, .p = PARITY_ODD, .storage = FIELD_LINKS}},
    {.name = "twisted clover, open time",
     .type = CLOVER,
     .open = 1,
     .idle = 1,
     .w = {.c_sw = 0.9, .mu = 0.2, .inside = {-0.1, 0.3}, .storage = FIELD_LINKS}},
    {.name = "doublet, open time",
     .type = CLOVER,
     .open = 1,
     .w = {.c_sw = 1.2,
           .mu = 0.3,
           .epsilon = 0.25,
           .doublet = 1,
           .inside = {0.1, 0.1},
           .storage = FIELD_LINKS_TWO_ROWS}},
    {.name = "symmetric doublet without clover term, open time",
     .type = CLOVER,
     .open = 1,
     .w = {.mu = -0.2, .epsilon = 0.3, .doublet = 1, .form = SCHUR_SYMMETRIC, .p = PARITY_ODD, .storage = FIELD_LINKS}},
    {.name = "Moebius, open time",
     .type = WALLS,
     .open = 1,
     .m = {.mass = MASS, .M5 = 1.4, .b5 = 1.5, .c5 = 0.5, .Ls = 4, .storage = FIELD_LINKS_TWO_ROWS}},
    {.name = "naive", .type = STAGGERED, .s = {.kind = STAGGERED_NAIVE}},
    {.name = "asqtad, 13 reals", .type = STAGGERED, .s = {.kind = STAGGERED_ASQTAD, .u0 = 1, .long_reals = 13}},
    {.name = "HISQ", .type = STAGGERED, .s = {.kind = STAGGERED_HISQ, .epsilon = -0.2}},
    {.name = "HISQ, 9 reals", .type = STAGGERED, .s = {.kind = STAGGERED_HISQ, .long_reals = 9}},
};
#define KINDS ((int)(sizeof kinds / sizeof kinds[0]))

static const struct ref_lattice shape = {{8, 4, 6, 8}};
CHECK_UNUSED static const double angles[4] = {0.7, -1.9, 2.3, 0.5}, other_angles[4] = {0, 0.4, -0.6, 1.2}, none[4];

CHECK_UNUSED static link_settings stout_settings(void)
{
    static const char *const text[][2] = {{"rho", "0.12"}, {"steps", "2"}, {"directions", "all"}};
    link_settings s = {.kind = param_kind(link_map_section(0), "stout")};
    const param_section *own = link_map_type_of(&s)->own;
    char message[PARAM_MESSAGE_SIZE];
    for (int i = 0; i < own->count; i++)
        for (size_t k = 0; k < sizeof text / sizeof text[0]; k++)
            if (!strcmp(own->table[i].name, text[k][0]))
                KIT_INT(param_set(&own->table[i], &s, text[k][1], message, sizeof message), 0);
    return s;
}

CHECK_UNUSED static fermion *quark(const kind *k, const field *links, const double theta[4], fermion *const *others,
                                   int n)
{
    if (k->type == STAGGERED) {
        staggered_fermion_settings s = {.smearing = k->s, .mass = MASS, .p = PARITY_EVEN};
        memcpy(s.smearing.theta, theta, sizeof s.smearing.theta);
        return staggered_fermion(links, &s, others, n);
    }
    const link_settings stout = stout_settings();
    link_map *map = fermion_link_map(links, k->stout ? &stout : NULL, theta, others, n);
    wilson_settings w = k->w;
    mobius_settings m = k->m;
    w.mass = MASS;
    w.map = m.map = map;
    fermion *f = k->type == CLOVER ? wilson_fermion(links, &w) : mobius_fermion(links, &m);
    link_map_destroy(map);
    return f;
}

CHECK_UNUSED static lattice *bounded(const kind *k, lattice *lat)
{
    if (lat && k->open) lattice_bound(lat, TIME_OPEN);
    if (lat && k->open) lattice_leave_idle(lat, k->idle);
    return lat;
}

CHECK_UNUSED static lattice *lattice_of(const kind *k, int time_sign)
{
    return bounded(k, kit_lattice(shape, k->type == STAGGERED ? 3 : 1, time_sign));
}

/* An end slice of the kind's lattice, by the number of the site. */
CHECK_UNUSED static int at_end(const kind *k, size_t site)
{
    int x[4];
    ref_coordinates(x, shape, site);
    return k->open && (x[3] == 0 || x[3] >= shape.size[3] - 1 - k->idle);
}

/* Complex numbers a site. */
CHECK_UNUSED static size_t components(const kind *k)
{
    return k->type == CLOVER ? k->w.doublet ? 24 : 12 : k->type == WALLS ? 12 * (size_t)k->m.Ls : 3;
}

CHECK_UNUSED static size_t numbers(const kind *k)
{
    return components(k) * ref_volume(shape);
}

CHECK_UNUSED static double complex *random_numbers(const kind *k, uint64_t seed)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    return (double complex *)kit_normals(2 * numbers(k), &rng);
}

CHECK_UNUSED static double complex *weak_links(const kind *k, uint64_t seed)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    double complex *u = kit_random_gauge(shape, 0.5, &rng);
    if (k->open) ref_open_time(u, shape, k->idle);
    return u;
}

CHECK_UNUSED static field *random_half(const fermion *f, uint64_t seed)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    field *x = linop_vector(f->normal, 1);
    double *a = kit_normals(kit_reals(x), &rng);
    kit_scatter(x, a);
    free(a);
    return x;
}

CHECK_UNUSED static double complex *apply_to(fermion *f, const double complex *x, int dagger)
{
    field *in = fermion_vector(f), *out = field_like(in);
    kit_scatter(in, x);
    fermion_apply(f, out, in, dagger);
    double complex *y = (double complex *)kit_gather(out);
    field_destroy(out);
    field_destroy(in);
    return y;
}

/* M x on links u. */
CHECK_UNUSED static double complex *apply_on(const kind *k, const lattice *lat, const double complex *u,
                                             const double theta[4], const double complex *x)
{
    field *links = kit_links(lat, u);
    fermion *f = quark(k, links, theta, NULL, 0);
    double complex *y = apply_to(f, x, 0);
    fermion_destroy(f);
    field_destroy(links);
    return y;
}

#endif
