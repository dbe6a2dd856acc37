#include "kernels/run/halo.h"

#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/pool.h"
#include "kernels/family/blas.h"
#include "kernels/family/staggered.h"
#include "kernels/gpu/transport.h"
#include "kernels/lattice/comm.h"
#include "kernels/run/kernel.h"

/* ---- an exchange of whole vectors over the faces of the rank ----
 *
 * What goes along direction `dir` arrives over the opposite side. A kernel packs vectors of all lanes, turned by one
 * step along dir: inner lanes are then at home, and those at the rank's edge travel. On the device there is one lane,
 * and the transport moves the messages (kernels/gpu/transport.h). */

typedef struct {
    int dir, slot, reals, groups;
    size_t vectors;
    void *packed; /* where the kernel that packs writes */
    void *ghost;  /* where all is found after exchange_wait() */
    int edge[GEOM_MAX_LANES], nedge;
} part;

static struct {
    const lattice *lat;
    const layout *lay;
    place where;
    size_t real_bytes;
    double started;
    int n;
    part parts[8];
    gpu_message messages[8];
} flight;

/* A message buffer that grows as needed and lives as long as the program. */
typedef struct {
    char *data;
    size_t size;
} buffer;

static buffer ghosts[8], outgoing[8], incoming[8];
static double counted_bytes, counted_seconds;

static char *reserve(buffer *b, size_t size)
{
    if (b->size < size) {
        pool_give(PLACE_HOST, b->data, b->size);
        b->data = pool_take(PLACE_HOST, size);
        b->size = size;
    }
    return b->data;
}

/* Lanes whose neighbour over side g of the rank (0..7) lies on another rank. */
static int edge_lanes(const layout *lay, int g, int lanes[])
{
    const int *v = lay->lane_grid, d = g / 2, wanted = g % 2 ? 0 : v[d] - 1;
    int n = 0;
    for (int i = 0; i < lay->lanes; i++) {
        const int place[4] = {i % v[0], i / v[0] % v[1], i / v[0] / v[1] % v[2], i / v[0] / v[1] / v[2]};
        if (place[d] == wanted) lanes[n++] = lay->lane_number[i];
    }
    return n;
}

/* Moves the edge lanes of vectors of `lanes` elements of `bytes` between their field (`wide`) and a message (`narrow`).
 */
static void gather_lanes(char *narrow, const char *wide, size_t vectors, int lanes, size_t bytes, const int *edge,
                         int n)
{
    for (size_t i = 0; i < vectors; i++)
        for (int k = 0; k < n; k++) memcpy(narrow + (i * n + k) * bytes, wide + (i * lanes + edge[k]) * bytes, bytes);
}

static void scatter_lanes(char *wide, const char *narrow, size_t vectors, int lanes, size_t bytes, const int *edge,
                          int n)
{
    for (size_t i = 0; i < vectors; i++)
        for (int k = 0; k < n; k++) memcpy(wide + (i * lanes + edge[k]) * bytes, narrow + (i * n + k) * bytes, bytes);
}

static void exchange_open(const field *f)
{
    flight.lat = f->lat;
    flight.lay = f->lay;
    flight.where = f->where;
    flight.real_bytes = f->prec == PREC_DOUBLE ? sizeof(double) : sizeof(float);
    flight.n = 0;
}

static void exchange_add(int dir, int slot, long units, int groups, int reals)
{
    const layout *lay = flight.lay;
    part *p = &flight.parts[flight.n++];
    *p = (part){.dir = dir, .slot = slot, .reals = reals, .groups = groups};
    const long whole = lay->lanes > 1 ? units : (units + LINEAR_BLOCK - 1) / LINEAR_BLOCK * LINEAR_BLOCK;
    p->vectors = (size_t)whole * (size_t)(groups * reals);
    p->nedge = edge_lanes(lay, dir ^ 1, p->edge);
}

static int is_direct(const part *p)
{
    return p->nedge == flight.lay->lanes;
}

static size_t message_bytes(const part *p)
{
    return p->vectors * (size_t)p->nedge * flight.real_bytes;
}

/* Gives every part its places, and the views of them by slot; where `fuse` is set, one kernel is going to be the
 * exchange. */
static void exchange_buffers(view packed[8], view ghost[8], int fuse)
{
    for (int i = 0; i < flight.n; i++) {
        part *p = &flight.parts[i];
        flight.messages[i] = (gpu_message){.to = flight.lat->neighbour[p->dir],
                                           .from = flight.lat->neighbour[p->dir ^ 1],
                                           .slot = p->slot,
                                           .bytes = message_bytes(p)};
        counted_bytes += (double)message_bytes(p);
    }
    if (flight.where == PLACE_DEVICE && fuse) gpu_exchange_fuse(flight.messages, flight.n);
    else if (flight.where == PLACE_DEVICE) gpu_exchange_begin(flight.messages, flight.n);
    for (int i = 0; i < flight.n; i++) {
        part *p = &flight.parts[i];
        if (flight.where == PLACE_DEVICE) {
            p->packed = flight.messages[i].out;
            p->ghost = flight.messages[i].in;
        } else {
            p->ghost = reserve(&ghosts[p->slot], p->vectors * (size_t)flight.lay->lanes * flight.real_bytes);
            p->packed = is_direct(p) ? reserve(&outgoing[p->slot], message_bytes(p)) : p->ghost;
        }
        const int stride = p->groups * p->reals;
        packed[i] = (view){p->packed, NULL, stride, p->groups, p->reals};
        ghost[p->slot] = (view){p->ghost, NULL, stride, p->groups, p->reals};
    }
}

static void exchange_start(void)
{
    flight.started = comm_wtime();
    if (flight.where == PLACE_DEVICE) {
        gpu_exchange_start(flight.messages, flight.n);
        return;
    }
    for (int i = 0; i < flight.n; i++) {
        const part *p = &flight.parts[i];
        const size_t size = message_bytes(p);
        char *out = p->packed, *in = p->ghost;
        if (!is_direct(p)) {
            out = reserve(&outgoing[p->slot], size);
            in = reserve(&incoming[p->slot], size);
            gather_lanes(out, p->packed, p->vectors, flight.lay->lanes, flight.real_bytes, p->edge, p->nedge);
        }
        comm_start_receive(in, size, flight.messages[i].from, p->slot);
        comm_start_send(out, size, flight.messages[i].to, p->slot);
    }
}

static void exchange_wait(void)
{
    const double start = comm_wtime();
    if (flight.where == PLACE_DEVICE) {
        gpu_exchange_finish(flight.messages, flight.n);
    } else {
        comm_wait();
        if (flight.n > 0 && comm_delay() > 0) comm_wait_since(flight.started, comm_delay());
        for (int i = 0; i < flight.n; i++) {
            const part *p = &flight.parts[i];
            if (!is_direct(p))
                scatter_lanes(p->ghost, incoming[p->slot].data, p->vectors, flight.lay->lanes, flight.real_bytes,
                              p->edge, p->nedge);
        }
    }
    counted_seconds += comm_wtime() - start;
}

/* ---- half spinors of the hop ---- */

/* Fixed point travels with its scale, see kernels/site/hop.h. */
static int half_spinor_reals(precision prec)
{
    return prec >= PREC_HALF ? 13 : 12;
}

/* Arguments that pack the parts [first, first + n) of the flight from parity p of `in`. */
static hop_pack_args pack_half_spinors(const field *in, parity p, const field *links, int sign, const view *packed,
                                       int first, int n)
{
    const layout *tables = layout_tables(in->lay, in->where == PLACE_DEVICE);
    hop_pack_args args = {.g = tables->g,
                          .in = field_in(in, p),
                          .links = field_in(links, p),
                          .faces = n,
                          .sign = sign,
                          .link_reals = links->reals};
    for (int i = 0; i < n; i++) {
        const int dir = flight.parts[first + i].dir;
        args.dir[i] = dir;
        args.face[i] = tables->face[dir][p];
        args.out[i] = packed[first + i];
        args.start[i + 1] = args.start[i] + (int)in->lay->nface[dir / 2];
    }
    return args;
}

static void run_pack(const field *in, const hop_pack_args *args)
{
    kernel_run(KERNEL_hop_pack, in, args, (kernel_work){.n = args->start[args->faces], .aside = 1});
}

int halo_hop_fuses(const field *in)
{
    return in->where == PLACE_DEVICE && gpu_exchange_can_fuse();
}

void halo_hop_start(const field *in, parity p, const field *links, int sign, int fuse, view ghost[8],
                    hop_pack_args *pack)
{
    view packed[8];
    exchange_open(in);
    for (int dir = 0; dir < 8; dir++)
        if (in->lay->g.split[dir / 2])
            exchange_add(dir, dir ^ 1, in->lay->nface[dir / 2], in->groups, half_spinor_reals(in->prec));
    exchange_buffers(packed, ghost, fuse);
    *pack = pack_half_spinors(in, p, links, sign, packed, 0, flight.n);
    if (fuse) return;
    run_pack(in, pack);
    exchange_start();
}

void halo_hop_wait(void)
{
    exchange_wait();
}

void halo_hop_pair(const field *x, const field *y, parity p, const field *links, view x_ghost[8], view y_ghost[8])
{
    view packed[8], ghost[8];
    const field *const of[2] = {x, y};
    exchange_open(x);
    for (int k = 0; k < 2; k++)
        for (int d = 0; d < 4; d++)
            if (x->lay->g.split[d]) exchange_add(2 * d + 1, 2 * d + k, x->lay->nface[d], x->groups, 12);
    exchange_buffers(packed, ghost, 0);
    for (int k = 0; k < 2; k++) {
        const int n = flight.n / 2;
        const hop_pack_args args = pack_half_spinors(of[k], p, links, k == 0 ? 1 : -1, packed, k * n, n);
        run_pack(of[k], &args);
    }
    exchange_start();
    for (int d = 0; d < 4; d++) {
        if (!x->lay->g.split[d]) continue;
        x_ghost[2 * d] = ghost[2 * d];
        y_ghost[2 * d] = ghost[2 * d + 1];
    }
    exchange_wait();
}

/* ---- colour vectors of the staggered hop ---- */

/* Sends upwards what is multiplied with links, unless near is null, and downwards vectors of 1 or 3 slices. */
static void send_vectors(const field *in, parity p, const field *near, const field *far, const field *far_phases,
                         int slices, view ghost[8])
{
    const layout *tables = layout_tables(in->lay, in->where == PLACE_DEVICE);
    view packed[8];
    staggered_pack_args args = {.g = tables->g, .in = field_in(in, p)};
    if (near) args.near = field_in(near, p);
    if (far) args.far = field_in(far, p);
    if (far_phases) args.phase = field_in(far_phases, p);
    args.far_reals = far ? far->reals + (far_phases != NULL) : 0;
    exchange_open(in);
    for (int dir = 0; dir < 8; dir++) {
        const int parts = dir % 2 ? slices : far ? 4 : 1;
        if (!in->lay->g.split[dir / 2] || (dir % 2 == 0 && !near)) continue;
        exchange_add(dir, dir ^ 1, parts * in->lay->nface[dir / 2], in->groups, in->prec >= PREC_HALF ? 7 : 6);
        args.dir[args.faces] = dir;
        args.face[args.faces] = tables->face[dir][p];
        args.start[args.faces + 1] = args.start[args.faces] + (int)(parts * in->lay->nface[dir / 2]);
        args.faces++;
    }
    exchange_buffers(packed, ghost, 0);
    for (int i = 0; i < args.faces; i++) args.out[i] = packed[i];
    for (int d = 0; d < 4; d++) args.nface[d] = in->lay->nface[d];
    kernel_run(KERNEL_staggered_pack, in, &args, (kernel_work){.n = args.start[args.faces], .aside = 1});
    exchange_start();
}

void halo_staggered_start(const field *in, parity p, const field *near, const field *far, const field *far_phases,
                          view ghost[8])
{
    send_vectors(in, p, near, far, far_phases, far ? 3 : 1, ghost);
}

void halo_vectors_above(const field *in, parity p, int slices, view ghost[8])
{
    send_vectors(in, p, NULL, NULL, NULL, slices, ghost);
    exchange_wait();
}

/* ---- ghosts with corners ---- */

static void fill_direction(field *f, int d)
{
    const layout *tables = layout_tables(f->lay, f->where == PLACE_DEVICE);
    view packed[8], ghost[8];
    const field whole = *f;
    exchange_open(f);
    for (int s = 2 * d; s < 2 * d + 2; s++) exchange_add(s ^ 1, s, f->lay->nshell[d], f->groups, f->reals);
    exchange_buffers(packed, ghost, 0);
    for (int k = 0; k < 2; k++) {
        const int s = 2 * d + k;
        ghost_pack_args args = {tables->g, field_all(&whole), packed[k], tables->shell_from[s], s ^ 1, f->reals};
        kernel_run(KERNEL_ghost_pack, f, &args, (kernel_work){.n = f->lay->nshell[d], .aside = 1});
    }
    exchange_start();
    exchange_wait();
    for (int k = 0; k < 2; k++) {
        const int s = 2 * d + k;
        ghost_unpack_args args = {field_all(&whole), ghost[s], tables->shell_to[s], f->reals};
        kernel_run(KERNEL_ghost_unpack, f, &args, (kernel_work){.n = f->lay->nshell[d]});
    }
}

void halo_fill(field *f)
{
    if (f->ghost_version == f->version) return;
    REQUIRE(field_kinds[f->kind].ghosts && f->par == PARITY_BOTH, "a %s has no ghosts", field_kinds[f->kind].name);
    for (int d = 0; d < 4; d++)
        if (f->lay->g.split[d]) fill_direction(f, d);
    f->ghost_version = f->version;
}

void halo_counted(double *bytes, double *seconds)
{
    *bytes = counted_bytes;
    *seconds = counted_seconds;
}

void halo_count(double bytes, double seconds)
{
    counted_bytes += bytes;
    counted_seconds += seconds;
}

void halo_counts_reset(void)
{
    counted_bytes = counted_seconds = 0;
}
