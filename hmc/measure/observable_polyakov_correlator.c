/* polyakov_correlator: Re <L(x) conj(L(x + d))> of Polyakov loops L = (1/3) tr prod_t U_t, averaged over space and over the images of
 * d, for the free energy of a static pair, F(d) = -ln C(d) / L_t and a constant (L. McLerran and B. Svetitsky, Phys. Rev. D 24 (1981)
 * 450). The product begins at every time in turn, which changes its trace by rounding alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/measure/directions.h"
#include "hmc/measure/measure.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/wilson_loop.h"

typedef struct {
    int r_max;
    char directions[PARAM_WORDS_SIZE];
} correlator_keys;

enum { STEP_IN_TIME = 6 };

static const measure_column columns[] = {
    {"x", "a", "distance of the loops in space, one for all its images"},
    {"y", "a", "along y"},
    {"z", "a", "along z"},
    {"r", "a", "its length"},
    {"correlator", "", "real part of the product of two loops, tr / 3 each"},
};
static const measure_column summary[] = {{"r_max", "a", "largest distance"}};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void swap(field *pair[2])
{
    field *first = pair[0];
    pair[0] = pair[1];
    pair[1] = first;
}

/* Polyakov loops from every site, as matrices. */
static field *loops_of(const field *links, field *work)
{
    field *pair[2] = {field_like(work), work};
    gauge_cold(pair[0]);
    for (int t = 0; t < links->lat->size[3]; t++) {
        path_step(pair[1], links, STEP_IN_TIME, pair[0], 0);
        swap(pair);
    }
    if (pair[0] != work) return pair[0];
    field_copy(pair[1], pair[0]);
    return pair[1];
}

/* Sum over sites and images of the products at the distances 1 to n times a direction. */
static void add_direction(const field *loops, field *pair[2], const int v[3], int n, exact_sum *sums)
{
    int images[DIRECTION_IMAGES][3], steps[DIRECTION_STEPS];
    const int nimages = direction_images(v, images);
    for (int i = 0; i < nimages; i++) {
        const int nsteps = direction_steps(images[i], steps);
        field_copy(pair[0], loops);
        for (int k = 0; k < n; k++) {
            for (int s = 0; s < nsteps; s++) {
                path_shift(pair[1], steps[s], pair[0], 0);
                swap(pair);
            }
            trace_products(&sums[k], loops, pair[0]);
        }
    }
}

/* Rows of all multiples of a direction, those of 0.0.0 the square of a loop. */
static void add_rows(const field *loops, field *pair[2], const int v[3], int n, measure_result *r)
{
    exact_sum sums[1024];
    int images[DIRECTION_IMAGES][3];
    const int zero = v[0] == 0;
    REQUIRE(n <= 1024, "%d multiples", n);
    for (int k = 0; k < n; k++) sums[k] = exact_zero();
    if (zero) trace_products(&sums[0], loops, loops);
    else add_direction(loops, pair, v, n, sums);
    comm_group_sum_exact(loops->lat->group, sums, n);
    const double products = 9 * (double)loops->lat->volume * (zero ? 1 : direction_images(v, images));
    for (int k = 1; k <= n; k++)
        measure_add_row(r, (const double[COLUMNS]){k * v[0], k * v[1], k * v[2], k * direction_length(v),
                                                   exact_value(&sums[k - 1]) / products});
}

static int shortest(const int size[4])
{
    int side = size[0];
    for (int d = 1; d < 3; d++) side = size[d] < side ? size[d] : side;
    return side;
}

/* The key of a distance that is longer than the lattice, with a message, or null. */
static const char *fits(const correlator_keys *k, const int size[4], const char *name, char *message, size_t length)
{
    if (k->r_max <= shortest(size)) return NULL;
    snprintf(message, length,
             "r_max = %d of [measure.%s] is longer than the shortest extent of the lattice %d.%d.%d.%d", k->r_max, name,
             size[0], size[1], size[2], size[3]);
    return "r_max";
}

static int measure_correlator(const measure_context *c, const measure_params *m, measure_result *r)
{
    static const int zero[3];
    const correlator_keys *k = OBSERVABLE_OWN(correlator_keys, m);
    const int *size = c->links->lat->size, r_max = k->r_max ? k->r_max : shortest(size) / 2;
    char message[256], word[PARAM_WORDS_SIZE];
    const char *key = fits(k, size, r->name, message, sizeof message);
    int v[3];
    if (key) user_error("%s: %s", ini_where(c->p->input, "measure", r->name, key), message);
    field *pair[2];
    for (int i = 0; i < 2; i++)
        pair[i] = field_create(c->links->lat, FIELD_COLOUR_MATRIX, PREC_DOUBLE, PARITY_BOTH, 1, c->links->where);
    field *loops = loops_of(c->links, pair[0]);
    add_rows(loops, pair, zero, 1, r);
    for (int i = 0; param_word(k->directions, i, word, sizeof word); i++) {
        REQUIRE(!direction_read(word, v), "direction %s", word);
        add_rows(loops, pair, v, direction_multiples(v, r_max), r);
    }
    field_destroy(loops);
    for (int i = 0; i < 2; i++) field_destroy(pair[i]);
    r->summary[0] = r_max;
    return MEASURE_DONE;
}

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const correlator_keys *k = OBSERVABLE_OWN(correlator_keys, &m->p);
    if (directions_fault(k->directions, m->name, message, size)) return "directions";
    return p->lattice.size[3] > 0 ? fits(k, p->lattice.size, m->name, message, size) : NULL;
}

static const param own[] = {
    {"r_max", PARAM_INT, OBSERVABLE_KEY(correlator_keys, r_max), "0", "[0,1024]", "a",
     "largest distance; 0: half of the shortest extent in space", 0},
    {"directions", PARAM_WORDS, OBSERVABLE_KEY(correlator_keys, directions), "1.0.0", NULL, NULL,
     "directions x.y.z of distances, with their multiples up to r_max, each with all its images by permutations and "
     "signs",
     0},
};
static const param_section part = PARAM_PART("measure", "polyakov_correlator", measure_params, own);
_Static_assert(sizeof(correlator_keys) <= sizeof(((measure_params *)0)->own),
               "no room for the keys of polyakov_correlator");

const observable observable_polyakov_correlator = {.name = "polyakov_correlator",
                                                   .periodic = "every line in time passes an inactive link",
                                                   .help = "correlators of two Polyakov loops by distance",
                                                   .own = &part,
                                                   .check = check,
                                                   .columns = columns,
                                                   .ncolumns = COLUMNS,
                                                   .summary = summary,
                                                   .nsummary = sizeof summary / sizeof summary[0],
                                                   .measure = measure_correlator};
