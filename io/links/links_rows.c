#include "io/links/links_rows.h"

#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"

#define SITE_REALS 72
#define TAG_ROWS 731
#define BATCH 32

/* ---- runs ---- */

int rows_count(const lattice *lat)
{
    if (lat->local[0] < lat->size[0]) return lat->local[1] * lat->local[2];
    return lat->local[1] < lat->size[1] ? lat->local[2] : 1;
}

rows_run rows_get(const lattice *lat, int t, int i)
{
    const int *l = lat->local, *o = lat->origin, *g = lat->size;
    const int count = rows_count(lat);
    rows_run r = {.n = (size_t)l[0] * (size_t)l[1] * (size_t)l[2] / (size_t)count};
    r.start = (size_t)i * r.n;
    const int row = (int)(r.start / (size_t)l[0]); /* rows y, then z */
    const int y = row % l[1] + o[1], z = row / l[1] + o[2];
    r.site = (((uint64_t)(t + o[3]) * (uint64_t)g[2] + (uint64_t)z) * (uint64_t)g[1] + (uint64_t)y) * (uint64_t)g[0] +
             (uint64_t)o[0];
    return r;
}

/* Sites of a piece, at most: 288 kB. */
enum { PIECE = 512 };

static int pieces_of_run(const lattice *lat)
{
    return (int)((rows_get(lat, 0, 0).n + PIECE - 1) / PIECE);
}

int rows_pieces(const lattice *lat)
{
    return rows_count(lat) * pieces_of_run(lat);
}

rows_run rows_piece(const lattice *lat, int t, int k)
{
    const int pieces = pieces_of_run(lat);
    rows_run r = rows_get(lat, t, k / pieces);
    const size_t first = (size_t)(k % pieces) * PIECE, rest = r.n - first;
    return (rows_run){r.site + first, r.start + first, rest < PIECE ? rest : PIECE};
}

/* ---- numbers ---- */

static void third_row(double *m)
{
    for (int i = 0; i < 3; i++) {
        const double *a = m + 2 * ((i + 1) % 3), *b = m + 2 * ((i + 2) % 3), *c = a + 6, *d = b + 6;
        m[12 + 2 * i] = (a[0] * d[0] - a[1] * d[1]) - (b[0] * c[0] - b[1] * c[1]);
        m[13 + 2 * i] = -((a[0] * d[1] + a[1] * d[0]) - (b[0] * c[1] + b[1] * c[0]));
    }
}

void rows_decode(const links_file *f, const unsigned char *bytes, size_t links, double *u)
{
    const int reals = 6 * f->rows;
    for (size_t link = 0; link < links; link++, u += 18) {
        for (int i = 0; i < reals; i++, bytes += f->width) {
            if (f->width == 4) {
                const uint32_t w = load32(bytes, f->big);
                float x;
                memcpy(&x, &w, 4);
                u[i] = x;
            } else {
                const uint64_t w = load64(bytes, f->big);
                memcpy(&u[i], &w, 8);
            }
        }
        if (f->rows == 2) third_row(u);
    }
}

void rows_encode(const links_file *f, const double *u, size_t links, unsigned char *bytes)
{
    const int reals = 6 * f->rows;
    for (size_t link = 0; link < links; link++, u += 18)
        for (int i = 0; i < reals; i++, bytes += f->width) {
            if (f->width == 4) {
                const float x = (float)u[i];
                uint32_t w;
                memcpy(&w, &x, 4);
                store32(bytes, w, f->big);
            } else {
                uint64_t w;
                memcpy(&w, u + i, 8);
                store64(bytes, w, f->big);
            }
        }
}

void rows_trace(const double *u, size_t links, exact_sum *sum)
{
    for (size_t i = 0; i < links; i++) exact_add(sum, u[18 * i] + u[18 * i + 8] + u[18 * i + 16]);
}

/* ---- all rows in order past rank 0 ---- */

static int rank_at(const lattice *lat, int cx, int cy, int z, int t)
{
    const int *g = lat->grid;
    return cx + g[0] * (cy + g[1] * (z / lat->local[2] + g[2] * (t / lat->local[3])));
}

static void place_rows(const lattice *lat, double *plane, const double *part, int cx, int cy)
{
    const size_t lx = (size_t)lat->local[0], ly = (size_t)lat->local[1], gx = (size_t)lat->size[0];
    for (size_t y = 0; y < ly; y++)
        memcpy(plane + SITE_REALS * (((size_t)cy * ly + y) * gx + (size_t)cx * lx), part + SITE_REALS * y * lx,
               SITE_REALS * lx * sizeof(double));
}

/* Rank 0 brings together the plane (z, t); `slice` is its own time slice if it has that one. */
static void receive_plane(const lattice *lat, int z, int t, const double *slice, double *plane, double *parts)
{
    const size_t part = SITE_REALS * (size_t)lat->local[0] * (size_t)lat->local[1];
    const int ranks = lat->grid[0] * lat->grid[1];
    for (int first = 0; first < ranks; first += BATCH) {
        const int end = first + BATCH < ranks ? first + BATCH : ranks;
        for (int i = first; i < end; i++) {
            const int from = rank_at(lat, i % lat->grid[0], i / lat->grid[0], z, t);
            if (from == 0) memcpy(parts + (size_t)(i - first) * part, slice + (size_t)z * part, part * sizeof(double));
            else comm_start_receive(parts + (size_t)(i - first) * part, part * sizeof(double), from, TAG_ROWS);
        }
        comm_wait();
        for (int i = first; i < end; i++)
            place_rows(lat, plane, parts + (size_t)(i - first) * part, i % lat->grid[0], i / lat->grid[0]);
    }
}

static void hash_plane(sha256 *s, double *plane, size_t reals)
{
    for (size_t i = 0; i < reals; i++) {
        uint64_t w;
        memcpy(&w, plane + i, 8);
        store64((unsigned char *)(plane + i), w, 1);
    }
    sha256_add(s, plane, reals * sizeof(double));
}

static double *allocate(size_t reals)
{
    double *p = malloc(reals * sizeof(double));
    REQUIRE_MEMORY(p, "out of memory: %zu doubles", reals);
    return p;
}

/* Planes of all ranks on their way to the hash on rank 0: one is hashed while the next one comes. */
typedef struct {
    const lattice *lat;
    sha256 *hash;
    double *slice, *parts, *plane[2];
    size_t part, reals; /* doubles of this rank's part of a plane, and of a plane */
    int planes;         /* received so far */
} plane_queue;

/* Receives the plane (z, t), unless t is beyond the last slice, and hashes the one before. The main thread alone sends and
 * receives. */
static void pass_plane(plane_queue *q, int z, int t)
{
    const int first = q->planes == 0, more = t < q->lat->size[3];
    double *next = q->plane[q->planes % 2], *before = q->plane[(q->planes + 1) % 2];
#pragma omp parallel
    {
#ifdef _OPENMP
        const int me = omp_get_thread_num(), last = omp_get_num_threads() - 1;
#else
        const int me = 0, last = 0;
#endif
        if (me == last && !first) hash_plane(q->hash, before, q->reals);
        if (me == 0 && more) receive_plane(q->lat, z, t, q->slice, next, q->parts);
    }
    q->planes++;
}

static void send_plane(const plane_queue *q, int z)
{
    comm_start_send(q->slice + (size_t)z * q->part, q->part * sizeof(double), 0, TAG_ROWS);
    comm_wait();
}

void rows_hash(const field *u, sha256 *s)
{
    const lattice *lat = u->lat;
    const int root = comm_rank() == 0;
    plane_queue q = {.lat = lat,
                     .hash = s,
                     .part = SITE_REALS * (size_t)lat->local[0] * (size_t)lat->local[1],
                     .reals = SITE_REALS * (size_t)lat->size[0] * (size_t)lat->size[1]};
    q.slice = allocate(q.part * (size_t)lat->local[2]);
    for (int i = 0; i < 2 && root; i++) q.plane[i] = allocate(q.reals);
    if (root) q.parts = allocate(BATCH * q.part);
    for (int t = 0; t < lat->size[3]; t++) {
        const int mine = t >= lat->origin[3] && t < lat->origin[3] + lat->local[3];
        if (mine) field_export(u, t - lat->origin[3], q.slice);
        for (int z = 0; z < lat->size[2]; z++) {
            const int own_z = z - lat->origin[2];
            if (root) pass_plane(&q, z, t);
            else if (mine && own_z >= 0 && own_z < lat->local[2]) send_plane(&q, own_z);
        }
    }
    if (root) pass_plane(&q, 0, lat->size[3]);
    for (int i = 0; i < 2; i++) free(q.plane[i]);
    free(q.parts);
    free(q.slice);
}
