#include "kernels/run/exchange.h"

#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/pool.h"
#include "kernels/lattice/comm.h"

/* A kernel packs vectors of all lanes, turned by one step along the direction of the message: inner lanes are then at
 * home, and those at the rank's edge travel. On the device there is one lane, and the transport moves the messages
 * (kernels/run/messages.h). */

/* A message buffer that grows as needed and lives as long as the program. */
typedef struct {
    char *data;
    size_t size;
} buffer;

enum { GHOST, OUT, IN, BUFFER_KINDS };
static buffer buffers[2][2][BUFFER_KINDS][EXCHANGE_PARTS]; /* [planned][place] */
static const exchange *in_flight;
static double counted_bytes, counted_seconds;

static char *reserve(const exchange *e, int kind, int slot, size_t size)
{
    buffer *b = &buffers[e->lat->planned][e->where][kind][slot];
    const int pool = lattice_pool(e->lat, e->where);
    if (b->size < size) {
        pool_give(pool, b->data, b->size);
        b->data = pool_take(pool, size);
        b->size = size;
    }
    return b->data;
}

void exchange_forget_planned(void)
{
    for (int where = 0; where < 2; where++)
        for (int k = 0; k < BUFFER_KINDS * EXCHANGE_PARTS; k++) {
            buffer *b = &buffers[1][where][k / EXCHANGE_PARTS][k % EXCHANGE_PARTS];
            pool_give(POOL_COUNTED(where), b->data, b->size);
            *b = (buffer){0};
        }
}

/* ---- edge lanes ---- */

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

/* True if all lanes travel, so that the message is the packed vectors. */
static int is_direct(const exchange *e, const exchange_part *p)
{
    return p->nedge == e->lay->lanes;
}

static size_t message_bytes(const exchange *e, const exchange_part *p)
{
    return p->vectors * (size_t)p->nedge * e->real_bytes;
}

/* Edge lanes of the packed vectors into the message. */
static void gather_lanes(const exchange *e, const exchange_part *p, char *message)
{
    const size_t bytes = e->real_bytes, lanes = (size_t)e->lay->lanes, n = (size_t)p->nedge;
    const char *wide = p->packed;
    for (size_t i = 0; i < p->vectors; i++)
        for (size_t k = 0; k < n; k++)
            memcpy(message + (i * n + k) * bytes, wide + (i * lanes + (size_t)p->edge[k]) * bytes, bytes);
}

/* A message into the edge lanes of the ghost vectors. */
static void scatter_lanes(const exchange *e, const exchange_part *p, const char *message)
{
    const size_t bytes = e->real_bytes, lanes = (size_t)e->lay->lanes, n = (size_t)p->nedge;
    char *wide = p->ghost;
    for (size_t i = 0; i < p->vectors; i++)
        for (size_t k = 0; k < n; k++)
            memcpy(wide + (i * lanes + (size_t)p->edge[k]) * bytes, message + (i * n + k) * bytes, bytes);
}

/* ---- the exchange ---- */

void exchange_open(exchange *e, const field *f)
{
    e->lat = f->lat;
    e->lay = f->lay;
    e->where = f->where;
    e->real_bytes = f->prec == PREC_DOUBLE ? sizeof(double) : sizeof(float);
    e->n = 0;
    memset(e->ghost, 0, sizeof e->ghost);
}

void exchange_add(exchange *e, int dir, int slot, long units, int groups, int reals)
{
    const layout *lay = e->lay;
    REQUIRE(e->n < EXCHANGE_PARTS && slot >= 0 && slot < EXCHANGE_PARTS, "part %d of an exchange in slot %d", e->n,
            slot);
    exchange_part *p = &e->parts[e->n++];
    *p = (exchange_part){.dir = dir, .slot = slot, .reals = reals, .groups = groups};
    const long whole = lay->lanes > 1 ? units : (units + LINEAR_BLOCK - 1) / LINEAR_BLOCK * LINEAR_BLOCK;
    p->vectors = (size_t)whole * (size_t)(groups * reals);
    p->nedge = edge_lanes(lay, dir ^ 1, p->edge);
}

static void place_part(const exchange *e, exchange_part *p, const gpu_message *m)
{
    const size_t size = message_bytes(e, p);
    if (e->where == PLACE_DEVICE && !e->lat->planned) {
        p->packed = m->out;
        p->ghost = m->in;
        return;
    }
    /* Transports have one place for what leaves and two in turn for what arrives. */
    const size_t wide = p->vectors * (size_t)e->lay->lanes * e->real_bytes;
    p->ghost = reserve(e, GHOST, p->slot, e->where == PLACE_DEVICE ? 2 * wide : wide);
    char *out = reserve(e, OUT, p->slot, size);
    if (!is_direct(e, p)) reserve(e, IN, p->slot, size);
    p->packed = is_direct(e, p) ? out : p->ghost;
}

void exchange_place(exchange *e, int fuse)
{
    REQUIRE(!in_flight, "an exchange of %d parts within another one of %d", e->n, in_flight->n);
    for (int i = 0; i < e->n; i++) {
        const exchange_part *p = &e->parts[i];
        e->messages[i] = (gpu_message){.to = e->lat->neighbour[p->dir],
                                       .from = e->lat->neighbour[p->dir ^ 1],
                                       .slot = p->slot,
                                       .bytes = message_bytes(e, p)};
        if (!e->lat->planned) counted_bytes += (double)message_bytes(e, p);
    }
    const int by_gpu = e->where == PLACE_DEVICE && !e->lat->planned;
    if (by_gpu && fuse) gpu_exchange_fuse(e->messages, e->n);
    else if (by_gpu) gpu_exchange_begin(e->lat->group, e->messages, e->n);
    if (!fuse) in_flight = e;
    for (int i = 0; i < e->n; i++) {
        exchange_part *p = &e->parts[i];
        const int stride = p->groups * p->reals;
        place_part(e, p, &e->messages[i]);
        e->packed[i] = (view){p->packed, NULL, stride, p->groups, p->groups, p->reals};
        e->ghost[p->slot] = (view){p->ghost, NULL, stride, p->groups, p->groups, p->reals};
    }
}

void exchange_start(exchange *e)
{
    REQUIRE(in_flight == e, "an exchange starts that was not placed");
    if (e->lat->planned) return;
    e->started = comm_wtime();
    if (e->where == PLACE_DEVICE) {
        gpu_exchange_start(e->messages, e->n);
        return;
    }
    for (int i = 0; i < e->n; i++) {
        const exchange_part *p = &e->parts[i];
        const size_t size = message_bytes(e, p);
        const int direct = is_direct(e, p);
        char *out = reserve(e, OUT, p->slot, size), *in = direct ? p->ghost : reserve(e, IN, p->slot, size);
        if (!direct) gather_lanes(e, p, out);
        comm_start_receive(in, size, e->messages[i].from, p->slot);
        comm_start_send(out, size, e->messages[i].to, p->slot);
    }
}

void exchange_wait(exchange *e)
{
    const double start = comm_wtime();
    REQUIRE(in_flight == e, "an exchange is waited for that was not placed");
    in_flight = NULL;
    if (e->lat->planned) return;
    if (e->where == PLACE_DEVICE) {
        gpu_exchange_finish(e->messages, e->n);
    } else {
        comm_wait();
        if (e->n > 0 && comm_delay() > 0) comm_wait_since(e->started, comm_delay());
        for (int i = 0; i < e->n; i++) {
            const exchange_part *p = &e->parts[i];
            if (!is_direct(e, p)) scatter_lanes(e, p, reserve(e, IN, p->slot, message_bytes(e, p)));
        }
    }
    counted_seconds += comm_wtime() - start;
}

int exchange_can_fuse(const field *f)
{
    return f->where == PLACE_DEVICE && f->lat->group == comm_world() && gpu_exchange_can_fuse();
}

stored_field exchange_sites(const field *x, long n, void *memory, size_t *bytes)
{
    const size_t padded = (size_t)(n + LINEAR_BLOCK - 1) / LINEAR_BLOCK * LINEAR_BLOCK;
    const size_t data = padded * (size_t)(x->groups * x->reals) * field_real_bytes(x);
    stored_field m = field_stored(x);
    m.lanes = 1;
    m.stride = (long)x->groups * x->reals;
    m.group_stride = x->reals;
    m.scale_groups = x->groups;
    m.data = memory;
    m.scale = x->scale ? (float *)((char *)memory + data) : NULL;
    *bytes = data + (x->scale ? padded * (size_t)x->groups * sizeof(float) : 0);
    return m;
}

void exchange_counted(double *bytes, double *seconds)
{
    *bytes = counted_bytes;
    *seconds = counted_seconds;
}

void exchange_count(double bytes, double seconds)
{
    counted_bytes += bytes;
    counted_seconds += seconds;
}

void exchange_counts_reset(void)
{
    counted_bytes = counted_seconds = 0;
}
