#include "hmc/report/vertices.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/report/jackknife.h"
#include "hmc/report/table.h"
#include "hmc/sources/gamma.h"
#include "kernels/base/json.h"

enum { N = 12, ELEMENTS = N * N, PART_VERTEX = 2 };

typedef double complex matrix[N][N];

const char *const vertices_names[VERTICES_VALUES] = {"s(p_1)", "v_x(p_1)",     "v_y(p_1)", "v_z(p_1)", "v_t(p_1)",
                                                     "s(p_2)", "v_x(p_2)",     "v_y(p_2)", "v_z(p_2)", "v_t(p_2)",
                                                     "scalar", "pseudoscalar", "vector",   "axial",    "tensor"};

/* ---- matrices of a table ---- */

/* Labels of a matrix, behind those of the lattice. */
static int labels_of(const correlator *c, int *part, int *gamma)
{
    const char *at = strstr(c->labels, "gamma = ");
    return at && sscanf(at, "gamma = %d part = %d", gamma, part) == 2;
}

static int of_same(const correlator *a, const correlator *b)
{
    const char *at = strstr(a->labels, "gamma = ");
    return !strcmp(a->table, b->table) && a->n == b->n && !strncmp(a->labels, b->labels, (size_t)(at - a->labels));
}

static const correlator *find(const correlators *c, const correlator *like, const char *column, int part, int gamma)
{
    for (int i = 0; i < c->n; i++) {
        int p, g;
        const correlator *of = &c->all[i];
        if (!strcmp(of->column, column) && of->T == ELEMENTS && labels_of(of, &p, &g) && p == part && g == gamma &&
            of_same(like, of))
            return of;
    }
    return NULL;
}

int vertices_begin(const correlators *c, int i)
{
    int part, gamma;
    const correlator *of = &c->all[i];
    return !strcmp(of->column, "real") && of->T == ELEMENTS && labels_of(of, &part, &gamma) && part == 0;
}

/* Means of a matrix, over all blocks and without each: [1 + blocks]; null where it was not measured. */
static matrix *means_of(const correlators *c, const correlator *like, int part, int gamma, long blocks, int block)
{
    double *mean[2], *without[2];
    const correlator *of[2] = {find(c, like, "real", part, gamma), find(c, like, "imaginary", part, gamma)};
    if (!of[0] || !of[1]) return NULL;
    matrix *m = (matrix *)table_numbers(2 * ELEMENTS * (size_t)(blocks + 1));
    for (int k = 0; k < 2; k++) {
        mean[k] = table_numbers(ELEMENTS);
        without[k] = table_numbers(ELEMENTS * (size_t)blocks);
        jackknife_means(mean[k], without[k], of[k]->values, ELEMENTS, blocks, block);
    }
    for (long b = 0; b <= blocks; b++)
        for (int e = 0; e < ELEMENTS; e++) {
            const double *re = b ? without[0] + (b - 1) * ELEMENTS : mean[0],
                         *im = b ? without[1] + (b - 1) * ELEMENTS : mean[1];
            m[b][e / N][e % N] = CMPLX(re[e], im[e]);
        }
    for (int k = 0; k < 2; k++) {
        free(without[k]);
        free(mean[k]);
    }
    return m;
}

/* ---- algebra ---- */

static void multiply(matrix c, const matrix a, const matrix b)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            c[i][j] = 0;
            for (int k = 0; k < N; k++) c[i][j] += a[i][k] * b[k][j];
        }
}

/* out = a^-1 by elimination with the largest pivots; NaN where there is none. */
static void invert(matrix out, const matrix a)
{
    double complex m[N][2 * N] = {{0}};
    for (int i = 0; i < N; i++) {
        memcpy(m[i], a[i], sizeof a[i]);
        m[i][N + i] = 1;
    }
    for (int k = 0; k < N; k++) {
        int pivot = k;
        for (int i = k + 1; i < N; i++)
            if (cabs(m[i][k]) > cabs(m[pivot][k])) pivot = i;
        for (int j = 0; j < 2 * N; j++) {
            const double complex swap = m[k][j];
            m[k][j] = m[pivot][j];
            m[pivot][j] = swap;
        }
        const double complex by = cabs(m[k][k]) > 0 ? 1 / m[k][k] : NAN;
        for (int j = 0; j < 2 * N; j++) m[k][j] *= by;
        for (int i = 0; i < N; i++) {
            const double complex factor = m[i][k];
            for (int j = 0; j < 2 * N && i != k; j++) m[i][j] -= factor * m[k][j];
        }
    }
    for (int i = 0; i < N; i++) memcpy(out[i], m[i] + N, sizeof out[i]);
}

/* gamma_5 a^dagger gamma_5. */
static void conjugate(matrix out, const matrix a)
{
    const spin_matrix five = gamma_number(GAMMA_5);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) out[i][j] = five.value[i / 3] * conj(a[j][i]) * five.value[j / 3];
}

/* tr [a Gamma^dagger] / 12. */
static double complex project(const matrix a, const spin_matrix *gamma)
{
    double complex sum = 0;
    for (int i = 0; i < N; i++) sum += a[i][3 * gamma->at[i / 3] + i % 3] * conj(gamma->value[i / 3]);
    return sum / N;
}

/* ---- values ---- */

/* s and v_mu of S^-1; gamma_mu is Hermitian. */
static void put_inverse(double value[5], const matrix inverse)
{
    for (int mu = -1; mu < 4; mu++) {
        const spin_matrix gamma = gamma_number(mu < 0 ? 0 : 1 << mu);
        const double complex trace = project(inverse, &gamma);
        value[mu + 1] = mu < 0 ? creal(trace) : cimag(trace);
    }
}

static void evaluate(double value[VERTICES_VALUES], const matrix S[2], matrix *const G[GAMMAS], long sample)
{
    static const char *const kinds[VERTICES_KINDS] = {"scalar", "pseudoscalar", "vector", "axial", "tensor"};
    matrix left, inverse[2], turned;
    for (int k = 0; k < 2; k++) {
        invert(inverse[k], S[k]);
        put_inverse(value + 5 * k, inverse[k]);
    }
    conjugate(turned, S[0]);
    invert(left, turned);
    for (int kind = 0; kind < VERTICES_KINDS; kind++) {
        int numbers[GAMMAS];
        const int n = gamma_listed(kinds[kind], numbers);
        double sum = 0;
        for (int i = 0; i < n; i++) {
            const spin_matrix gamma = gamma_number(numbers[i]);
            matrix half, amputated;
            if (!G[numbers[i]]) {
                sum = NAN;
                continue;
            }
            multiply(half, left, G[numbers[i]][sample]);
            multiply(amputated, half, inverse[1]);
            sum += creal(project(amputated, &gamma)) / n;
        }
        value[10 + kind] = sum;
    }
}

void vertices_of(vertices *v, const correlators *c, int i, int block)
{
    const correlator *first = &c->all[i];
    *v = (vertices){.n = first->n, .blocks = first->n / block};
    snprintf(v->table, sizeof v->table, "%s", first->table);
    snprintf(v->labels, sizeof v->labels, "%.*s", (int)(strstr(first->labels, "gamma = ") - first->labels),
             first->labels);
    matrix *S[2], *G[GAMMAS];
    for (int k = 0; k < 2; k++) S[k] = means_of(c, first, k, 0, v->blocks, block);
    for (int g = 0; g < GAMMAS; g++) G[g] = means_of(c, first, PART_VERTEX, g, v->blocks, block);
    double *samples = table_numbers((size_t)VERTICES_VALUES * (size_t)v->blocks),
           *of = table_numbers((size_t)v->blocks);
    for (long b = 0; b <= v->blocks && S[1]; b++) {
        matrix both[2];
        memcpy(both[0], S[0][b], sizeof both[0]);
        memcpy(both[1], S[1][b], sizeof both[1]);
        evaluate(b ? samples + (b - 1) * VERTICES_VALUES : v->value, both, G, b);
    }
    for (int k = 0; k < VERTICES_VALUES; k++) {
        for (long b = 0; b < v->blocks; b++) of[b] = samples[b * VERTICES_VALUES + k];
        v->error[k] = jackknife_error(of, v->blocks);
        if (!S[1]) v->value[k] = NAN;
    }
    free(of);
    free(samples);
    for (int g = 0; g < GAMMAS; g++) free(G[g]);
    for (int k = 0; k < 2; k++) free(S[k]);
}

/* ---- output ---- */

void vertices_text(param_text *out, const vertices *v)
{
    param_text_add(out, "%s, amputated vertices, %s: %ld configuration%s, %ld block%s\n%-14s %16s %16s\n", v->table,
                   v->labels, v->n, v->n == 1 ? "" : "s", v->blocks, v->blocks == 1 ? "" : "s", "", "value", "error");
    for (int k = 0; k < VERTICES_VALUES; k++) {
        param_text_add(out, "%-14s", vertices_names[k]);
        table_cell(out, v->value[k], "%.8f");
        table_cell(out, v->error[k], "%.8f");
        param_text_add(out, "\n");
    }
    param_text_add(out, "\n");
}

void vertices_json(FILE *out, const vertices *v)
{
    json j = json_begin(out);
    json_string(&j, "measure", v->table);
    json_string(&j, "labels", v->labels);
    json_int(&j, "configurations", v->n);
    json_int(&j, "blocks", v->blocks);
    for (int k = 0; k < VERTICES_VALUES; k++) {
        char name[64];
        json_real(&j, vertices_names[k], v->value[k]);
        snprintf(name, sizeof name, "%s_error", vertices_names[k]);
        json_real(&j, name, v->error[k]);
    }
    json_end(&j);
}
