#include "kernels/run/redistribute.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/pool.h"
#include "kernels/lattice/comm.h"
#include "kernels/run/exchange.h"

/* Sites from low to below high, in global coordinates. */
typedef struct {
    int low[4], high[4];
} box;

/* The sites of a lattice that a rank holds, numbered among all ranks; 0 if it holds none. */
static int box_of(const lattice *lat, int rank, box *b)
{
    int extent[4], member = comm_group_from_world(lat->group, rank);
    if (member < 0) return 0;
    lattice_box(lat, extent);
    for (int d = 0; d < 4; member /= lat->grid[d++]) {
        b->low[d] = member % lat->grid[d] * extent[d];
        b->high[d] = b->low[d] + extent[d];
    }
    return 1;
}

/* Sites of x on rank `source` that are sites of y on rank `target`; 0 if there are none. */
static int shared_box(const field *y, int target, const field *x, int source, box *b)
{
    box of_y;
    if (!box_of(x->lat, source, b) || !box_of(y->lat, target, &of_y)) return 0;
    for (int d = 0; d < 4; d++) {
        if (b->low[d] < of_y.low[d]) b->low[d] = of_y.low[d];
        if (b->high[d] > of_y.high[d]) b->high[d] = of_y.high[d];
        if (b->low[d] >= b->high[d]) return 0;
    }
    return 1;
}

static int next_site(int x[4], const box *b)
{
    for (int d = 0; d < 4; d++) {
        if (++x[d] < b->high[d]) return 1;
        x[d] = b->low[d];
    }
    return 0;
}

/* Locates a site of a box in a field on this rank; 0 if the field has not its parity. */
static int locate(const field *f, const int site[4], long *unit, int *lane)
{
    int x[4];
    for (int d = 0; d < 4; d++) x[d] = site[d] - f->lat->origin[d];
    if (f->par != PARITY_BOTH && layout_parity(f->lay, x) != (int)f->par) return 0;
    layout_locate(f->lay, x, unit, lane);
    const int odd = layout_parity(f->lay, x) == PARITY_ODD;
    if (odd && f->par == PARITY_ODD) *unit -= f->lay->odd_start;
    else if (odd && f->order == ORDER_ROWS) *unit += f->lay->nunit - f->lay->odd_start;
    return 1;
}

/* Sites of a box that f holds, which is the same number for both fields. */
static long count_sites(const field *f, const box *b)
{
    long n = 1;
    for (int d = 0; d < 4; d++) n *= b->high[d] - b->low[d];
    return f->par == PARITY_BOTH || f->lat->parities == 1 ? n : n / 2;
}

enum { PACK, UNPACK };

/* The sites of a box between f, stored in `memory` of the host, and a message, in which they follow each other. */
static void move_sites(const field *f, const stored_field *memory, const box *b, const stored_field *message, int way)
{
    int x[4];
    int32_t i = 0;
    memcpy(x, b->low, sizeof x);
    do {
        long unit;
        int lane;
        if (!locate(f, x, &unit, &lane)) continue;
        const stored_move m = way == PACK ? (stored_move){.to = i, .from = (int32_t)unit, .from_lane = (int8_t)lane}
                                          : (stored_move){.to = (int32_t)unit, .to_lane = (int8_t)lane, .from = i};
        for (int g = 0; g < f->groups; g++)
            if (way == PACK) stored_move_group(message, 0, memory, 0, &m, 0, g);
            else stored_move_group(memory, 0, message, 0, &m, 0, g);
        i++;
    } while (next_site(x, b));
}

/* Moves rows of a box as bytes, else like move_sites(). */
static void move_rows(const field *f, const stored_field *memory, const box *b, char *message, int way)
{
    const size_t bytes = (size_t)f->reals * field_real_bytes(f);
    int x[4];
    memcpy(x, b->low, sizeof x);
    do {
        long row;
        int lane;
        if (!locate(f, x, &row, &lane)) continue;
        for (int g = 0; g < f->groups; g++, message += bytes) {
            char *at = (char *)memory->data + (size_t)(g * f->group_stride + row * f->stride) * field_real_bytes(f);
            if (way == PACK) memcpy(message, at, bytes);
            else memcpy(at, message, bytes);
        }
    } while (next_site(x, b));
}

static size_t message_bytes(const field *f, long n)
{
    size_t bytes = (size_t)n * (size_t)(f->groups * f->reals) * field_real_bytes(f);
    if (f->order == ORDER_SITES) exchange_sites(f, n, NULL, &bytes);
    return bytes;
}

static void move_box(const field *f, const stored_field *memory, const box *b, void *message, int way)
{
    size_t bytes;
    if (f->order == ORDER_ROWS) {
        move_rows(f, memory, b, message, way);
        return;
    }
    const stored_field m = exchange_sites(f, count_sites(f, b), message, &bytes);
    move_sites(f, memory, b, &m, way);
}

/* The storage of f in memory of the host. */
static stored_field open_storage(const field *f)
{
    stored_field s = {.data = f->data, .scale = f->scale};
    if (f->order == ORDER_SITES) s = field_stored(f);
    if (f->where == PLACE_HOST) return s;
    s.data = pool_take(PLACE_HOST, f->bytes);
    gpu_copy(s.data, PLACE_HOST, f->data, PLACE_DEVICE, f->bytes);
    if (!f->scale) return s;
    s.scale = pool_take(PLACE_HOST, f->scale_bytes);
    gpu_copy(s.scale, PLACE_HOST, f->scale, PLACE_DEVICE, f->scale_bytes);
    return s;
}

/* Releases the storage in memory of the host; with `keep`, f gets what is there. */
static void close_storage(const field *f, const stored_field *s, int keep)
{
    if (f->where == PLACE_HOST) return;
    if (keep) gpu_copy(f->data, PLACE_DEVICE, s->data, PLACE_HOST, f->bytes);
    pool_give(PLACE_HOST, s->data, f->bytes);
    if (!f->scale) return;
    if (keep) gpu_copy(f->scale, PLACE_DEVICE, s->scale, PLACE_HOST, f->scale_bytes);
    pool_give(PLACE_HOST, s->scale, f->scale_bytes);
}

/* Sends to rank `to` and receives from rank `from`, both maybe this one. */
static void swap_with(field *y, const stored_field *ys, const field *x, const stored_field *xs, int to, int from)
{
    box leaving, coming;
    const int me = comm_rank(), sends = shared_box(y, to, x, me, &leaving),
              receives = shared_box(y, me, x, from, &coming);
    size_t out_bytes = 0, in_bytes = 0;
    void *out = NULL, *in = NULL;
    if (sends) {
        out_bytes = message_bytes(x, count_sites(x, &leaving));
        out = pool_take(PLACE_HOST, out_bytes);
        move_box(x, xs, &leaving, out, PACK);
    }
    if (receives) {
        in_bytes = message_bytes(y, count_sites(y, &coming));
        in = to == me ? out : pool_take(PLACE_HOST, in_bytes);
    }
    if (to != me) {
        if (receives) comm_start_receive(in, in_bytes, from, 0);
        if (sends) comm_start_send(out, out_bytes, to, 0);
        comm_wait();
        exchange_count((double)out_bytes, 0);
    }
    if (receives) {
        move_box(y, ys, &coming, in, UNPACK);
        if (in != out) pool_give(PLACE_HOST, in, in_bytes);
    }
    if (sends) pool_give(PLACE_HOST, out, out_bytes);
}

static int has_all_sites(const field *f)
{
    return f->par == PARITY_BOTH || f->lat->parities == 1;
}

/* Counts memory of the host, of a plan: messages of a rank's sites and fields of devices. */
static void count_memory(const field *y, const field *x)
{
    const field *const both[] = {y, x};
    const int pool = lattice_pool(x->lat, PLACE_HOST);
    size_t bytes = 2 * message_bytes(x, x->par == PARITY_BOTH || x->lat->parities == 1 ? x->lat->local_volume
                                                                                       : x->lat->local_volume / 2);
    for (int i = 0; i < 2; i++)
        if (both[i]->where == PLACE_DEVICE) bytes += both[i]->bytes + both[i]->scale_bytes;
    pool_give(pool, pool_take(pool, bytes), bytes);
}

void field_redistribute(field *y, const field *x)
{
    const int me = comm_rank(), ranks = comm_size();
    REQUIRE(y->kind == x->kind && y->prec == x->prec && y->groups == x->groups && y->Ls == x->Ls &&
                y->reals == x->reals && !(x->order == ORDER_ROWS && x->scale),
            "%s from %s", field_kinds[y->kind].name, field_kinds[x->kind].name);
    REQUIRE((has_all_sites(y) && has_all_sites(x)) || (y->par == x->par && y->lat->parities == x->lat->parities),
            "a %s of parity %d from one of parity %d", field_kinds[y->kind].name, y->par, x->par);
    for (int d = 0; d < 4; d++)
        REQUIRE(y->lat->size[d] == x->lat->size[d], "extents %d and %d", y->lat->size[d], x->lat->size[d]);
    field_written(y);
    if (y->lat->planned) {
        count_memory(y, x);
        return;
    }
    const double start = comm_wtime();
    const stored_field from = open_storage(x), to = open_storage(y);
    for (int step = 0; step < ranks; step++)
        swap_with(y, &to, x, &from, (me + step) % ranks, (me - step + ranks) % ranks);
    close_storage(x, &from, 0);
    close_storage(y, &to, 1);
    exchange_count(0, comm_wtime() - start);
}
