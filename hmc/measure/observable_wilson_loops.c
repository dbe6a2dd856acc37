/* wilson_loops: Re tr / 3 of rectangular Wilson loops, averaged over the lattice and over equivalent directions. The static
 * potential is V(d) = lim ln W(d, t) / W(d, t + 1) of loops in time (K. Wilson, Phys. Rev. D 10 (1974) 2445).
 *
 * A direction v = x.y.z stands for its images by permutations and signs. The path along n v is the sum over all shortest lattice
 * paths of v, n times in a row, at both ends of the loop: the paths off the axes have the symmetry of v then (G. S. Bali and
 * K. Schilling, Phys. Rev. D 46 (1992) 2636, use some of them). W is divided by the number of paths at each end. Loops in space
 * have both sides along axes, and both sides are at most r_max.
 *
 * Loops grow by strips (kernels/ops/wilson_loop.h), so that each of them takes two products a site. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/directions.h"
#include "hmc/measure/measure.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/wilson_loop.h"

typedef struct {
    int r_max, t_max;
    char directions[PARAM_WORDS_SIZE];
} loop_keys;

enum { TIME = 3 };

static const measure_column columns[] = {
    {"temporal", "", "1: loops of space and time, 0: loops in space"},
    {"x", "a", "displacement of the path in space, one for all its images"},
    {"y", "a", "along y"},
    {"z", "a", "along z"},
    {"r", "a", "length of the displacement"},
    {"t", "a", "the other side of the loop, time where temporal is 1"},
    {"loop", "", "Re tr / 3 of the loops"},
};
static const measure_column summary[] = {
    {"r_max", "a", "largest distance in space"},
    {"t_max", "a", "largest height of loops in time"},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* ---- strips ---- */

/* The path along a multiple of an image, the links at its end, strips, and paths in the making: pairs of fields, of which the
 * first is up to date. */
typedef struct {
    const field *links;
    field *path[2], *end[2], *strip[2], *part[2];
} strips;

static field **pair_of(strips *s, int i)
{
    field **const all[] = {s->path, s->end, s->strip, s->part};
    return all[i];
}

static void strips_open(strips *s, const field *links)
{
    s->links = links;
    for (int i = 0; i < 8; i++)
        pair_of(s, i / 2)[i % 2] =
            field_create(links->lat, FIELD_COLOUR_MATRIX, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
}

static void strips_close(strips *s)
{
    for (int i = 0; i < 8; i++) field_destroy(pair_of(s, i / 2)[i % 2]);
}

static void swap(field *pair[2])
{
    field *first = pair[0];
    pair[0] = pair[1];
    pair[1] = first;
}

/* Path and end go from n - 1 to n times the image. */
static void extend(strips *s, const int image[3])
{
    int steps[DIRECTION_STEPS], added = 0;
    const int n = direction_steps(image, steps);
    do {
        const field *from = s->path[0];
        for (int i = n - 1; i > 0; i--) {
            path_step(s->part[1], s->links, steps[i], from, 0);
            swap(s->part);
            from = s->part[0];
        }
        path_step(s->path[1], s->links, steps[0], from, added++ > 0);
    } while (direction_next_order(steps, n));
    swap(s->path);
    for (int i = 0; i < n; i++) {
        path_shift(s->end[1], steps[i], s->end[0], 0);
        swap(s->end);
    }
}

/* Sums of the loops with the path and heights 1 to most along nu are added to sums[most]. */
static void add_heights(strips *s, int nu, int most, exact_sum *sums)
{
    const field *from = s->path[0];
    for (int t = 0; t < most; t++) {
        loop_strip(s->strip[1], &sums[t], s->links, nu, from, s->end[0], s->path[0]);
        swap(s->strip);
        from = s->strip[0];
    }
}

/* Sums sums[n][most] of loops with paths along `n` multiples of an image and heights along nu. */
static int add_image(strips *s, const measure_context *c, const int image[3], int n, int nu, int most, exact_sum *sums)
{
    gauge_cold(s->path[0]);
    path_shift(s->end[0], -1, s->links, nu);
    for (int k = 0; k < n; k++) {
        if (measure_interrupted(c)) return MEASURE_GIVEN_UP;
        extend(s, image);
        add_heights(s, nu, most, sums + (long)k * most);
    }
    return MEASURE_DONE;
}

/* Loops of a direction in time, or in space, where the height is along each of the two other axes: rows of all multiples. */
static int measure_direction(strips *s, const measure_context *c, const int v[3], int r_max, int most, int temporal,
                             measure_result *r)
{
    int images[DIRECTION_IMAGES][3], status = MEASURE_DONE;
    const int n = direction_multiples(v, r_max), nimages = direction_images(v, images);
    const long nsums = (long)n * most;
    exact_sum *sums = malloc(((size_t)nsums + 1) * sizeof *sums);
    REQUIRE_MEMORY(sums, "out of memory for %ld sums", nsums);
    for (long i = 0; i < nsums; i++) sums[i] = exact_zero();
    for (int i = 0; i < nimages; i++)
        for (int nu = temporal ? TIME : 0; nu < (temporal ? TIME + 1 : TIME); nu++)
            if (status == MEASURE_DONE && (temporal || images[i][nu] == 0))
                status = add_image(s, c, images[i], n, nu, most, sums);
    comm_group_sum_exact(s->links->lat->group, sums, (int)nsums);
    const double loops = 3 * (double)s->links->lat->volume * nimages * (temporal ? 1 : 2), paths = direction_paths(v);
    for (int k = 1; k <= n && status == MEASURE_DONE; k++)
        for (int t = 1; t <= most; t++)
            measure_add_row(r, (const double[COLUMNS]){
                                   temporal, k * v[0], k * v[1], k * v[2], k * direction_length(v), t,
                                   exact_value(&sums[(long)(k - 1) * most + t - 1]) / loops / pow(paths, 2 * k)});
    free(sums);
    return status;
}

/* ---- the observable ---- */

/* Largest sides on a lattice: those that are asked for, or half of the extents. */
static void largest(const loop_keys *k, const int size[4], int *r_max, int *t_max)
{
    int side = size[0];
    for (int d = 1; d < 3; d++) side = size[d] < side ? size[d] : side;
    *r_max = k->r_max ? k->r_max : side / 2;
    *t_max = k->t_max ? k->t_max : size[3] / 2;
}

/* The key of a loop that is longer than the lattice, with a message, or null. */
static const char *fits(const loop_keys *k, const int size[4], const char *name, char *message, size_t length)
{
    for (int d = 0; d < 4; d++) {
        const int side = d < 3 ? k->r_max : k->t_max;
        if (side <= size[d]) continue;
        snprintf(message, length,
                 "%s = %d of [measure.%s] is longer than the extent %d of the lattice %d.%d.%d.%d; loops of more than "
                 "half of it feel its periodicity",
                 d < 3 ? "r_max" : "t_max", side, name, size[d], size[0], size[1], size[2], size[3]);
        return d < 3 ? "r_max" : "t_max";
    }
    return NULL;
}

static int measure_wilson_loops(const measure_context *c, const measure_params *m, measure_result *r)
{
    const loop_keys *k = OBSERVABLE_OWN(loop_keys, m);
    const int *size = c->links->lat->size;
    char message[256], word[PARAM_WORDS_SIZE];
    int r_max, t_max, status = MEASURE_DONE;
    const char *key = fits(k, size, r->name, message, sizeof message);
    if (key) user_error("%s: %s", ini_where(c->p->input, "measure", r->name, key), message);
    largest(k, size, &r_max, &t_max);
    strips s;
    strips_open(&s, c->links);
    for (int i = 0; param_word(k->directions, i, word, sizeof word) && status == MEASURE_DONE; i++) {
        int v[3];
        REQUIRE(!direction_read(word, v), "direction %s", word);
        status = measure_direction(&s, c, v, r_max, t_max, 1, r);
        if (status == MEASURE_DONE && v[0] == 1 && v[1] == 0) status = measure_direction(&s, c, v, r_max, r_max, 0, r);
    }
    strips_close(&s);
    r->summary[0] = r_max;
    r->summary[1] = t_max;
    return status;
}

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const loop_keys *k = OBSERVABLE_OWN(loop_keys, &m->p);
    if (directions_fault(k->directions, m->name, message, size)) return "directions";
    return p->lattice.size[3] > 0 ? fits(k, p->lattice.size, m->name, message, size) : NULL;
}

/* Products of matrices at a site: two a loop, and those of the paths. */
static double flops(const measure_params *m, const int size[4])
{
    const loop_keys *k = OBSERVABLE_OWN(loop_keys, m);
    char word[PARAM_WORDS_SIZE];
    int r_max, t_max, v[3], images[DIRECTION_IMAGES][3], steps[DIRECTION_STEPS];
    double products = 0;
    largest(k, size, &r_max, &t_max);
    for (int i = 0; param_word(k->directions, i, word, sizeof word); i++) {
        if (direction_read(word, v)) continue;
        const int on_axis = v[0] == 1 && v[1] == 0;
        const double heights = t_max + (on_axis ? 2 * r_max : 0), path = direction_paths(v) * direction_steps(v, steps);
        products += direction_images(v, images) * (double)direction_multiples(v, r_max) *
                    (2 * heights + (on_axis ? 3 : 1) * path);
    }
    return products * 198;
}

static const param own[] = {
    {"r_max", PARAM_INT, OBSERVABLE_KEY(loop_keys, r_max), "0", "[0,1024]", "a",
     "largest distance in space; 0: half of the shortest extent in space", 0},
    {"t_max", PARAM_INT, OBSERVABLE_KEY(loop_keys, t_max), "0", "[0,1024]", "a",
     "largest height of loops in time; 0: half of the extent in time", 0},
    {"directions", PARAM_WORDS, OBSERVABLE_KEY(loop_keys, directions), "1.0.0", NULL, NULL,
     "directions x.y.z of paths in space, with their multiples up to r_max, each with all its images by permutations "
     "and "
     "signs; 1.0.0 has the loops in space, too",
     0},
};
static const param_section part = PARAM_PART("measure", "wilson_loops", measure_params, own);
_Static_assert(sizeof(loop_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of wilson_loops");

const observable observable_wilson_loops = {.name = "wilson_loops",
                                            .periodic = "loops through the inactive links in time are zero",
                                            .help = "Wilson loops of all sizes, for the static potential",
                                            .own = &part,
                                            .check = check,
                                            .columns = columns,
                                            .ncolumns = COLUMNS,
                                            .axis = "t",
                                            .summary = summary,
                                            .nsummary = sizeof summary / sizeof summary[0],
                                            .measure = measure_wilson_loops,
                                            .flops = flops};
