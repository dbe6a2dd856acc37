#include "kernels/ops/overlap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/pool.h"
#include "kernels/field/stored_device.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/plan.h"
#include "kernels/ops/vector.h"
#include "kernels/run/exchange.h"
#include "kernels/run/messages.h"

/* Indices have 32 bits, coordinates 16. */
#define MOST_SITES 2000000000
#define MOST_EXTENT 32766

/* Moves, stored where the fields are. */
typedef struct {
    stored_move *moves;
    long n, room;
} move_list;

/* Partner rank that lies `step` ranks away, from which sites come; as many leave for the one that lies as far on the other
 * side, since all ranks and their blocks are alike. Lists by parity, on the lattice that is extended. */
typedef struct {
    int step[4], to, from;
    move_list pack[2], unpack[2];
} partner;

struct overlap {
    const lattice *lat;
    lattice *own;
    int size[4], reach[4], extent[4];
    int odd; /* parities change places */
    precision prec;
    place where;
    move_list here[2], keep[2];
    partner *partners;
    int npartners;
    size_t counted; /* bytes of the lists, which a planned lattice has not */
};

/* ---- what fits ---- */

static void shape(const lattice *lat, const int asked[4], int sites, int size[4], int reach[4])
{
    const int box = asked[0] == 0 && asked[1] == 0 && asked[2] == 0 && asked[3] == 0;
    for (int d = 0; d < 4; d++) {
        size[d] = box ? lat->local[d] : asked[d];
        reach[d] = size[d] < lat->size[d] ? sites : 0;
    }
}

void overlap_extents(const lattice *lat, const int asked[4], int sites, int block[4], int all[4])
{
    int size[4], reach[4];
    shape(lat, asked, sites, size, reach);
    for (int d = 0; d < 4; d++) {
        block[d] = size[d] + 2 * reach[d];
        all[d] = lat->local[d] / size[d] * block[d];
    }
}

int overlap_can_be(const lattice *lat, const int asked[4], int sites, char *message, size_t bytes)
{
    int block[4], all[4], longest = 0;
    overlap_extents(lat, asked, sites, block, all);
    for (int d = 0; d < 4; d++) longest = all[d] > longest ? all[d] : longest;
    if (longest <= MOST_EXTENT && (double)all[0] * all[1] * all[2] * all[3] <= MOST_SITES) return 1;
    snprintf(message, bytes,
             "the extended blocks of a rank have %d.%d.%d.%d sites, and at most %d in all and %d in a direction can "
             "be counted: use more ranks, larger blocks or less overlap",
             all[0], all[1], all[2], all[3], MOST_SITES, MOST_EXTENT);
    return 0;
}

int overlap_fit(const lattice *lat, const int asked[4], int sites, char *message, size_t bytes)
{
    int size[4], reach[4], extended = 0;
    shape(lat, asked, sites, size, reach);
    for (int d = 0; d < 4; d++) {
        extended += reach[d] > 0;
        if (reach[d] == 0 || size[d] + 2 * sites <= lat->size[d]) continue;
        snprintf(message, bytes,
                 "blocks of %d sites, continued by %d on either side, are longer than the %d sites of the lattice in "
                 "direction %c; the overlap may be 0 to %d there",
                 size[d], sites, lat->size[d], "xyzt"[d], (lat->size[d] - size[d]) / 2);
        return 0;
    }
    if (!overlap_can_be(lat, asked, sites, message, bytes)) return 0;
    if (sites == 0 || extended) return 1;
    snprintf(message, bytes,
             "a block of %d.%d.%d.%d sites is the whole lattice and has nothing to overlap with; the overlap may be 0, "
             "or the block smaller",
             size[0], size[1], size[2], size[3]);
    return 0;
}

/* ---- lists ---- */

/* Steps from this rank to the one that has place z of a direction with l places a rank. */
static int steps_to(int z, int l)
{
    return z >= 0 ? z / l : -((l - 1 - z) / l);
}

/* Places on other ranks that the blocks of a rank reach. */
static size_t places_away(const lattice *lat, const int reach[4])
{
    size_t reached = 1, here = 1;
    for (int d = 0; d < 4; d++) {
        const int l = lat->local[d];
        size_t mine = 0;
        for (int z = -reach[d]; z < l + reach[d]; z++) mine += steps_to(z, l) % lat->grid[d] == 0;
        reached *= (size_t)(l + 2 * reach[d]);
        here *= mine;
    }
    return reached - here;
}

/* Every place of the extended blocks has an entry; every place of the blocks, which comes back, another; and every
 * place elsewhere that they reach, which is sent as often as it is received. */
size_t overlap_list_bytes(const lattice *lat, const int asked[4], int sites)
{
    int size[4], reach[4];
    size_t extended = 1;
    shape(lat, asked, sites, size, reach);
    for (int d = 0; d < 4; d++) extended *= (size_t)(lat->local[d] / size[d] * (size[d] + 2 * reach[d]));
    return (extended + (size_t)lat->local_volume + places_away(lat, reach)) * sizeof(stored_move);
}

static void append(move_list *l, stored_move m)
{
    if (l->n == l->room) {
        l->room = 2 * l->room + 64;
        l->moves = realloc(l->moves, (size_t)l->room * sizeof *l->moves);
        REQUIRE_MEMORY(l->moves, "out of memory for a list of %ld sites", l->room);
    }
    l->moves[l->n++] = m;
}

/* A list that is complete, to where it is used. */
static void settle(const overlap *o, move_list *l)
{
    const size_t bytes = (size_t)l->n * sizeof *l->moves;
    if (l->n == 0) return;
    stored_move *there = pool_take(o->where, bytes);
    if (o->where == PLACE_DEVICE) gpu_copy(there, PLACE_DEVICE, l->moves, PLACE_HOST, bytes);
    else memcpy(there, l->moves, bytes);
    free(l->moves);
    l->moves = there;
}

static void free_list(const overlap *o, move_list *l)
{
    if (l->n > 0) pool_give(o->where, l->moves, (size_t)l->n * sizeof *l->moves);
}

/* Does so with all lists. */
static void each_list(overlap *o, void (*with)(const overlap *o, move_list *l))
{
    for (int p = 0; p < 2; p++) {
        with(o, &o->here[p]);
        with(o, &o->keep[p]);
        for (int k = 0; k < o->npartners; k++) {
            with(o, &o->partners[k].pack[p]);
            with(o, &o->partners[k].unpack[p]);
        }
    }
}

static const layout *layout_of(const overlap *o, const lattice *lat)
{
    return o->where == PLACE_DEVICE ? &lat->layouts[0] : lattice_layout(lat, field_lanes(lat, o->prec));
}

/* Locates the site at x of a rank's box in storage, with units counted within its parity, which is returned. */
static int locate(const layout *lay, const int x[4], int32_t *unit, int8_t *lane)
{
    const int p = (x[0] + x[1] + x[2] + x[3]) & 1;
    long u;
    int l;
    layout_locate(lay, x, &u, &l);
    *unit = (int32_t)(p ? u - lay->odd_start : u);
    *lane = (int8_t)l;
    return p;
}

/* Origin of a site of the rank's extended box: this rank, or a place in the message of a partner. */
typedef struct {
    int partner; /* partner's number; -1: this rank */
    int32_t unit;
    int8_t lane;
} origin;

static partner *partner_at(overlap *o, const int step[4])
{
    const lattice *lat = o->lat;
    for (int k = 0; k < o->npartners; k++)
        if (!memcmp(o->partners[k].step, step, sizeof o->partners[k].step)) return &o->partners[k];
    o->partners = realloc(o->partners, (size_t)(o->npartners + 1) * sizeof *o->partners);
    REQUIRE_MEMORY(o->partners, "out of memory for %d partners", o->npartners + 1);
    partner *q = &o->partners[o->npartners++];
    *q = (partner){.to = 0};
    memcpy(q->step, step, sizeof q->step);
    int from = 0, to = 0;
    for (int d = 3; d >= 0; d--) {
        const int g = lat->grid[d], c = lat->coord[d], s = step[d] % g;
        from = from * g + (c + s + g) % g;
        to = to * g + (c - s + g) % g;
    }
    q->from = comm_group_to_world(lat->group, from);
    q->to = comm_group_to_world(lat->group, to);
    return q;
}

/* The place z of the box that the blocks of the rank reach over, in the frame of the rank. */
static origin find_origin(overlap *o, const int z[4])
{
    const lattice *lat = o->lat;
    int x[4], step[4], away = 0;
    origin at = {.partner = -1};
    for (int d = 0; d < 4; d++) {
        const int l = lat->local[d];
        step[d] = steps_to(z[d], l);
        x[d] = z[d] - step[d] * l;
        if (lat->grid[d] == 1) step[d] = 0;
        away = away || step[d] % lat->grid[d];
    }
    const int p = locate(layout_of(o, lat), x, &at.unit, &at.lane);
    if (!away) return at;
    partner *q = partner_at(o, step);
    stored_move m = {.to = (int32_t)q->pack[p].n, .from = at.unit, .from_lane = at.lane};
    append(&q->pack[p], m);
    return (origin){(int)(q - o->partners), m.to, 0};
}

/* The place after x in a box from low to high, x fastest; false after the last. */
static int next_place(int x[4], const int low[4], const int high[4])
{
    for (int d = 0; d < 4; d++) {
        if (++x[d] < high[d]) return 1;
        x[d] = low[d];
    }
    return 0;
}

static origin *find_origins(overlap *o)
{
    int low[4], high[4], z[4];
    size_t n = 1, i = 0;
    for (int d = 0; d < 4; d++) {
        low[d] = z[d] = -o->reach[d];
        high[d] = o->lat->local[d] + o->reach[d];
        n *= (size_t)(high[d] - low[d]);
    }
    origin *all = malloc(n * sizeof *all);
    REQUIRE_MEMORY(all, "out of memory for %zu sites", n);
    do all[i++] = find_origin(o, z);
    while (next_place(z, low, high));
    return all;
}

/* Sites beyond the edge of the lattice in time. */
static int over_the_edge(const overlap *o, int t)
{
    const int global = o->lat->origin[3] + t;
    return o->lat->time_sign < 0 && (global < 0 || global >= o->lat->size[3]);
}

static void fill_lists(overlap *o)
{
    const layout *lay = layout_of(o, o->lat), *own = layout_of(o, o->own);
    origin *all = find_origins(o);
    int w[4] = {0}, none[4] = {0};
    do {
        int z[4], inside = 1;
        size_t place = 0;
        for (int d = 3; d >= 0; d--) {
            const int in = w[d] % o->extent[d] - o->reach[d];
            z[d] = w[d] / o->extent[d] * o->size[d] + in;
            inside = inside && in >= 0 && in < o->size[d];
            place = place * (size_t)(o->lat->local[d] + 2 * o->reach[d]) + (size_t)(z[d] + o->reach[d]);
        }
        const origin *at = &all[place];
        stored_move m = {.from = at->unit, .from_lane = at->lane, .negative = (int8_t)over_the_edge(o, z[3])};
        const int p = locate(own, w, &m.to, &m.to_lane) ^ o->odd;
        append(at->partner < 0 ? &o->here[p] : &o->partners[at->partner].unpack[p], m);
        if (!inside) continue;
        stored_move back = {.from = m.to, .from_lane = m.to_lane};
        locate(lay, z, &back.to, &back.to_lane);
        append(&o->keep[p], back);
    } while (next_place(w, none, o->own->local));
    free(all);
}

/* Lattice of the extended blocks; a plan on a planned lattice. */
static lattice *lattice_of_blocks(const lattice *lat, const int all[4])
{
    char message[512];
    if (!lat->planned) return lattice_create_alone(all, 1);
    lattice *plan = plan_lattice(all, (const int[4]){1, 1, 1, 1}, 1, 1, message, sizeof message);
    REQUIRE(plan, "%s", message);
    return plan;
}

overlap *overlap_create(const lattice *lat, const int asked[4], int sites, precision prec, place where)
{
    overlap *o = calloc(1, sizeof *o);
    REQUIRE_MEMORY(o, "out of memory");
    int all[4];
    *o = (overlap){.lat = lat, .prec = prec, .where = where};
    shape(lat, asked, sites, o->size, o->reach);
    overlap_extents(lat, asked, sites, o->extent, all);
    for (int d = 0; d < 4; d++) o->odd ^= o->reach[d] & 1;
    o->own = lattice_of_blocks(lat, all);
    if (lat->planned) {
        o->counted = overlap_list_bytes(lat, asked, sites);
        pool_take(POOL_COUNTED(where), o->counted);
        return o;
    }
    fill_lists(o);
    each_list(o, settle);
    return o;
}

void overlap_destroy(overlap *o)
{
    if (!o) return;
    if (o->lat->planned) pool_give(POOL_COUNTED(o->where), o, o->counted);
    each_list(o, free_list);
    free(o->partners);
    lattice_destroy(o->own);
    free(o);
}

const lattice *overlap_lattice(const overlap *o)
{
    return o->own;
}

parity overlap_parity(const overlap *o, parity p)
{
    return p == PARITY_BOTH ? p : (parity)((int)p ^ o->odd);
}

/* ---- moves ---- */

/* The storage unit from which a parity counts. */
static long first_unit(const field *f, int p)
{
    return f->par == PARITY_BOTH && p ? f->lay->odd_start : 0;
}

static void move(const overlap *o, const stored_field *y, long first_y, const stored_field *x, long first_x,
                 const move_list *l, int signs, int back, int aside)
{
    if (o->where == PLACE_DEVICE) {
        gpu_move(y, first_y, x, first_x, l->moves, l->n, signs, back, aside);
        return;
    }
#pragma omp parallel for schedule(static)
    for (long i = 0; i < l->n; i++) {
        const stored_move m = back ? stored_move_back(&l->moves[i]) : l->moves[i];
        for (int g = 0; g < x->groups; g++) stored_move_group(y, first_y, x, first_x, &m, signs, g);
    }
}

/* Messages of one parity on their way, at most GPU_SLOTS. */
typedef struct {
    const partner *with[GPU_SLOTS];
    gpu_message messages[GPU_SLOTS];
    int n;
    double started;
} batch;

/* The next ones with something in them, from partner `from` on; the partner after them. */
static int open_batch(const overlap *o, batch *b, const field *x, int p, int from)
{
    b->n = 0;
    for (; from < o->npartners && b->n < GPU_SLOTS; from++) {
        const partner *q = &o->partners[from];
        if (q->pack[p].n == 0) continue;
        gpu_message *m = &b->messages[b->n];
        *m = (gpu_message){.to = q->to, .from = q->from, .slot = b->n};
        exchange_sites(x, q->pack[p].n, NULL, &m->bytes);
        b->with[b->n++] = q;
    }
    if (o->where == PLACE_DEVICE) {
        gpu_exchange_begin(o->lat->group, b->messages, b->n);
        return from;
    }
    for (int i = 0; i < b->n; i++) {
        gpu_message *m = &b->messages[i];
        m->out = pool_take(PLACE_HOST, m->bytes);
        m->in = pool_take(PLACE_HOST, m->bytes);
    }
    return from;
}

static void send_batch(const overlap *o, batch *b, const field *x, int p)
{
    const stored_field from = field_stored(x);
    size_t bytes;
    for (int i = 0; i < b->n; i++) {
        const move_list *l = &b->with[i]->pack[p];
        const stored_field to = exchange_sites(x, l->n, b->messages[i].out, &bytes);
        move(o, &to, 0, &from, first_unit(x, p), l, 0, 0, 1);
        exchange_count((double)bytes, 0);
    }
    b->started = comm_wtime();
    if (o->where == PLACE_DEVICE) {
        gpu_exchange_start(b->messages, b->n);
        return;
    }
    for (int i = 0; i < b->n; i++) {
        const gpu_message *m = &b->messages[i];
        comm_start_receive(m->in, m->bytes, m->from, m->slot);
        comm_start_send(m->out, m->bytes, m->to, m->slot);
    }
}

static void receive_batch(const overlap *o, batch *b)
{
    const double start = comm_wtime();
    if (o->where == PLACE_DEVICE) {
        gpu_exchange_finish(b->messages, b->n);
    } else {
        comm_wait();
        if (comm_delay() > 0) comm_wait_since(b->started, comm_delay());
    }
    exchange_count(0, comm_wtime() - start);
}

/* Vectors have another sign beyond the edge of the lattice in time; links and what is made of them have not. */
static int has_signs(const field *x)
{
    return x->kind == FIELD_SPINOR || x->kind == FIELD_VECTOR;
}

static void unpack_batch(const overlap *o, batch *b, field *y, const field *x, int p)
{
    const stored_field to = field_stored(y);
    size_t bytes;
    for (int i = 0; i < b->n; i++) {
        const gpu_message *m = &b->messages[i];
        const stored_field from = exchange_sites(x, b->with[i]->pack[p].n, m->in, &bytes);
        move(o, &to, first_unit(y, p ^ o->odd), &from, 0, &b->with[i]->unpack[p], has_signs(x), 0, 0);
        if (o->where == PLACE_DEVICE) continue;
        pool_give(PLACE_HOST, m->out, m->bytes);
        pool_give(PLACE_HOST, m->in, m->bytes);
    }
}

static void check_fields(const overlap *o, const field *own, const field *whole)
{
    REQUIRE(own->lat == o->own && whole->lat == o->lat && own->kind == whole->kind && own->groups == whole->groups &&
                own->prec == o->prec && whole->prec == o->prec && own->where == o->where && whole->where == o->where &&
                own->par == overlap_parity(o, whole->par),
            "a %s of precision %d and parity %d for one of %d and %d", field_kinds[own->kind].name, own->prec, own->par,
            whole->prec, whole->par);
}

/* Counts the messages of one parity on a planned lattice: all that leaves and all that comes. */
static void count_messages(const overlap *o, const field *x)
{
    const long n = (long)places_away(o->lat, o->reach) / 2;
    const int pool = POOL_COUNTED(o->where);
    size_t bytes;
    exchange_sites(x, n, NULL, &bytes);
    pool_give(pool, pool_take(pool, 2 * bytes), 2 * bytes);
}

void overlap_gather(const overlap *o, field *y, const field *x)
{
    check_fields(o, y, x);
    const stored_field to = field_stored(y), from = field_stored(x);
    field_written(y);
    if (o->lat->planned) {
        count_messages(o, x);
        return;
    }
    for (int p = field_first_parity(x); p <= field_last_parity(x); p++) {
        move(o, &to, first_unit(y, p ^ o->odd), &from, first_unit(x, p), &o->here[p], has_signs(x), 0, 0);
        for (int next = 0; next < o->npartners;) {
            batch b;
            next = open_batch(o, &b, x, p, next);
            send_batch(o, &b, x, p);
            receive_batch(o, &b);
            unpack_batch(o, &b, y, x, p);
        }
    }
}

void overlap_keep(const overlap *o, field *y, const field *x)
{
    check_fields(o, x, y);
    const stored_field to = field_stored(y), from = field_stored(x);
    field_written(y);
    if (o->lat->planned) return;
    for (int p = field_first_parity(y); p <= field_last_parity(y); p++)
        move(o, &to, first_unit(y, p), &from, first_unit(x, p ^ o->odd), &o->keep[p], 0, 0, 0);
}

void overlap_place(const overlap *o, field *y, const field *x)
{
    check_fields(o, y, x);
    const stored_field to = field_stored(y), from = field_stored(x);
    field_written(y);
    if (o->lat->planned) return;
    for (int p = field_first_parity(x); p <= field_last_parity(x); p++)
        move(o, &to, first_unit(y, p ^ o->odd), &from, first_unit(x, p), &o->keep[p], 0, 1, 0);
}
