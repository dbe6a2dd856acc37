/* Sides of staples on the GPU, T(staple_sides_link) for a block of sites; part of staggered.cuh in double precision.
 *
 * What stands at a site gives something to the derivative there and to that at the next site along mu, and is read once
 * more for the site behind it in nu (T(add_sides)). A block walks along a line of boxes in direction mu. What stands in a
 * box, and one site beyond its upper face in nu, it brings to shared memory, a pair of fields at a time, and the next
 * pair, or the first of the next box, while it works on this one. Half of its threads do what stays at a site, the others
 * what goes on to the next one, which is handed over in shared memory, from box to box, too. Small blocks of few
 * registers a thread leave room for some of them on a processor: one works while others wait. */

#define SIDE_SITES 64  /* sites of a box, at most */
#define SIDE_PLACES 80 /* places that a box reads, at most */
#define SIDE_RUN 16    /* sites in x that fill a line of the cache */
#define SIDE_PACKS 9   /* packs of two reals in a matrix */
#define SIDE_TILE (SIDE_PACKS * SIDE_PLACES)
#define SIDE_SHARED                                                                                                    \
    ((2 * 2 * SIDE_TILE + SIDE_PACKS * SIDE_SITES) * (int)sizeof(double2) + 3 * SIDE_PLACES * (int)sizeof(int))
#define SIDE_BLOCKS 3 /* resident blocks, if memory allows; leaves 168 registers, as in staggered.def */

/* Boxes for derivatives by U_nu, in a kernel for all nu: their extents and those of what they read, how many lie side by
 * side and in how many lines, of which a block does so many steps, and blocks; their sites, those of a slice in mu, and
 * places of what they read. */
typedef struct {
    int extent[4], tile[4], count[4], lines, steps, blocks, sites, slice, places;
} side_box;

typedef struct {
    side_box of[4];
} side_boxes;

static side_box side_box_of(const geom *g, int mu, int nu, const int extent[4])
{
    side_box b = {};
    b.lines = b.sites = b.places = 1;
    for (int d = 0; d < 4; d++) {
        b.extent[d] = b.tile[d] = extent[d];
        if (d == nu) b.tile[d] += d == 0 ? 2 : 1; /* even in x, where sites of one parity are two apart */
        b.count[d] = g->sub[d] / extent[d];
        b.sites *= b.extent[d];
        b.places *= b.tile[d];
        b.lines *= d == mu ? 1 : b.count[d];
    }
    b.slice = b.sites / b.extent[mu];
    return b;
}

/* Threads with work, for more the better what they read fills lines of the cache: in long runs in x, or all of x. By
 * measurement: 24 x 2 sites of 24 in x are faster than 8 x 8, 16 x 4 of 48 faster than 24 x 2. */
static int side_box_worth(const side_box *b, const geom *g)
{
    const int fills = b->extent[0] >= SIDE_RUN || b->extent[0] == g->sub[0];
    return b->sites * (SIDE_RUN / 2 + (fills ? SIDE_RUN : b->extent[0]));
}

/* True if a box is worth more; or else reads less, or is thinner in mu. */
static int side_box_better(const side_box *b, const side_box *than, const geom *g, int mu)
{
    const int worth = side_box_worth(b, g), least = side_box_worth(than, g);
    if (worth != least) return worth > least;
    if (b->places != than->places) return b->places < than->places;
    return b->extent[mu] < than->extent[mu];
}

/* Looks for a better box, of these extents in the directions below d. */
static void side_box_search(side_box *best, const geom *g, int mu, int nu, int extent[4], int d, int room)
{
    if (d == 4) {
        const side_box b = side_box_of(g, mu, nu, extent);
        if (b.places <= SIDE_PLACES && side_box_better(&b, best, g, mu)) *best = b;
        return;
    }
    const int step = d == 0 ? 2 : 1;
    for (extent[d] = step; extent[d] <= room; extent[d] += step)
        if (g->sub[d] % extent[d] == 0) side_box_search(best, g, mu, nu, extent, d + 1, room / extent[d]);
}

/* Best box; a block walks a whole line if that makes so many blocks, else a piece of one. */
static side_box side_box_for(const geom *g, int mu, int nu, int blocks)
{
    side_box best = {};
    int extent[4];
    side_box_search(&best, g, mu, nu, extent, 0, SIDE_SITES);
    int pieces = (blocks + best.lines - 1) / best.lines;
    if (pieces > best.count[mu]) pieces = best.count[mu];
    best.steps = best.count[mu] / pieces;
    best.blocks = best.lines * ((best.count[mu] + best.steps - 1) / best.steps);
    return best;
}

/* Sites of a box have places, even ones first, by the sum of their coordinates in the box. */
static __device__ __forceinline__ void side_coordinates(int x[4], int place, const int *extent, int sites)
{
    const int odd = 2 * place >= sites, half = extent[0] / 2;
    int i = place - odd * (sites / 2), rest = i / half;
    x[0] = i - rest * half;
    i = rest / extent[1];
    x[1] = rest - i * extent[1];
    x[3] = i / extent[2];
    x[2] = i - x[3] * extent[2];
    x[0] = 2 * x[0] + ((x[1] + x[2] + x[3] + odd) & 1);
}

static __device__ __forceinline__ int side_place(const int x[4], const int *extent, int sites)
{
    const int odd = (x[0] + x[1] + x[2] + x[3]) & 1;
    return odd * (sites / 2) + ((x[3] * extent[2] + x[2]) * extent[1] + x[1]) * (extent[0] / 2) + (x[0] >> 1);
}

/* A walker at coordinates that may be outside of the rank's box, by no more than its size. */
static __device__ __forceinline__ T(walker) T(walker_at)(const geom *g, const int x[4])
{
    T(walker) w = {{x[0], x[1], x[2], x[3]}, 40, 0, 0};
    UNROLL for (int d = 0; d < 4; d++)
    {
        if (g->split[d]) continue;
        if (w.x[d] < 0) w.x[d] += g->sub[d];
        if (w.x[d] >= g->sub[d]) w.x[d] -= g->sub[d];
    }
    w.unit = (w.x[0] >> 1) + w.x[1] * g->stride[1] + w.x[2] * g->stride[2] + w.x[3] * g->stride[3];
    w.odd = (w.x[0] + w.x[1] + w.x[2] + w.x[3]) & 1;
    return w;
}

/* The boxes of a block: where the first begins, how far from one to the next in sites and in units, and how many they are;
 * how many boxes on the one in front of the first is, or -1; closed: it is the last. */
typedef struct {
    int origin[4], extent, jump, steps, front, closed;
} side_line;

/* Lines side by side in nu come one after the other. */
static __device__ __forceinline__ side_line side_line_of(const side_box *box, const geom *g, int number, int mu, int nu)
{
    const int piece = number / box->lines, start = piece * box->steps;
    int count = box->count[0], split = g->split[0];
    side_line l = {{0, 0, 0, 0}, box->extent[0], box->extent[0] / 2, 0, -1, 0};
    number -= piece * box->lines;
    UNROLL for (int pass = 0; pass < 2; pass++)
    {
        UNROLL for (int d = 0; d < 4; d++)
        {
            if (d == mu || pass == (d == nu)) continue;
            const int rest = number / box->count[d];
            l.origin[d] = (number - rest * box->count[d]) * box->extent[d];
            number = rest;
        }
    }
    UNROLL for (int d = 1; d < 4; d++)
    {
        if (d != mu) continue;
        l.extent = box->extent[d];
        l.jump = box->extent[d] * g->stride[d];
        count = box->count[d];
        split = g->split[d];
    }
    l.steps = count - start < box->steps ? count - start : box->steps;
    l.closed = !split && l.steps == count;
    if (!split && start == 0) l.front = count - 1;
    UNROLL for (int d = 0; d < 4; d++) if (d == mu) l.origin[d] = start * l.extent;
    return l;
}

/* A place of the first box, in short: its unit and parity, or in a lattice that is not `whole` its coordinates in
 * the box; below zero where nothing is read. */
template <bool whole>
static __device__ __forceinline__ int T(side_code)(const side_box *box, const side_line *l, const geom *g, int place,
                                                   int nu)
{
    int x[4], code = 0;
    side_coordinates(x, place, box->tile, box->places);
    if (nu == 0 && x[0] > box->extent[0]) return -1;
    if (whole) {
        UNROLL for (int d = 0; d < 4; d++) x[d] += l->origin[d];
        const T(walker) w = T(walker_at)(g, x);
        code = w.unit << 1 | w.odd;
    } else {
        UNROLL for (int d = 3; d >= 0; d--) code = code << 8 | x[d];
    }
    return code;
}

/* The unit where it stands so many boxes on; below zero where nothing is read. Of a box in front of the first one no more
 * than the last slice need be. */
template <bool whole>
static __device__ __forceinline__ int T(side_unit)(const side_line *l, const geom *g, int code, int step, int mu)
{
    int x[4];
    if (code < 0) return -1;
    if (whole) {
        if (step < 0) step = l->front;
        return (code >> 1) + step * l->jump + ((code ^ (step & l->extent)) & 1 ? (int)g->odd_start : 0);
    }
    if (step < 0 && (code >> 8 * mu & 255) < l->extent - 1) return -1;
    UNROLL for (int d = 0; d < 4; d++) x[d] = l->origin[d] + (code >> 8 * d & 255) + (d == mu ? step * l->extent : 0);
    return (int)T(walk_unit)(g, T(walker_at)(g, x));
}

/* Starts to copy a pack to shared memory; without registers on its way. */
static __device__ __forceinline__ void side_fetch(double2 *to, const double *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
                 "l"(__cvta_generic_to_global(from))
                 : "memory");
}

/* Waits for all that this thread has started to copy. */
static __device__ __forceinline__ void side_fetched(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

template <int apart>
FN void T(tile_load)(vreal x[18], const double2 *tile)
{
    UNROLL for (int c = 0; c < SIDE_PACKS; c++)
    {
        const double2 pack = tile[c * apart];
        x[2 * c] = pack.x;
        x[2 * c + 1] = pack.y;
    }
}

FN void T(slot_save)(const vreal x[18], double2 *slot)
{
    UNROLL for (int c = 0; c < SIDE_PACKS; c++) slot[c * SIDE_SITES] = make_double2(x[2 * c], x[2 * c + 1]);
}

FN void T(slot_add)(vreal sum[18], const double2 *slot)
{
    vreal r[18];
    T(tile_load)<SIDE_SITES>(r, slot);
    T(su3_add)(sum, r);
}

/* sum += what a pair of fields gives, each once as the first and once as the last matrix. */
template <int next>
FN void T(add_pair)(vreal sum[18], const geom *g, const vreal link[18], const double2 *pair, int home, int up)
{
    for (int turned = 0; turned < 2; turned++) {
        vreal x[18], y[18];
        T(tile_load)<SIDE_PLACES>(y, pair + !turned * SIDE_TILE + up);
        T(tile_load)<SIDE_PLACES>(x, pair + turned * SIDE_TILE + home);
        T(matrix) first = {}, side = {};
        first.held = x;
        side.held = link;
        T(add_product)(sum, g, &first, &side, y, next);
    }
}

/* Seat of a thread in each box: its site (of the first box), the places of that site and of its neighbour in nu, slots where
 * what goes on is left and taken from, and whether it is in the first or the last slice. */
typedef struct {
    int x[4], home, up, to, from;
    bool mine, first, last;
} side_seat;

/* A slice of slots for each in the box but the last, and one for the box in front. */
static __device__ __forceinline__ side_seat side_seat_of(const side_box *box, const side_line *l, int me, int mu,
                                                         int nu)
{
    side_seat s = {};
    int within = 0, along = 0;
    s.mine = me < box->sites;
    side_coordinates(s.x, s.mine ? me : 0, box->extent, box->sites);
    UNROLL for (int d = 3; d >= 0; d--)
    {
        if (d == mu) along = s.x[d];
        else within = within * box->extent[d] + s.x[d];
    }
    s.first = along == 0;
    s.last = along == l->extent - 1;
    s.to = along * box->slice + within;
    s.from = s.first ? (l->extent - 1) * box->slice + within : s.to - box->slice;
    s.home = side_place(s.x, box->tile, box->places);
    UNROLL for (int d = 0; d < 4; d++) s.x[d] += d == nu;
    s.up = side_place(s.x, box->tile, box->places);
    UNROLL for (int d = 0; d < 4; d++) s.x[d] += l->origin[d] - (d == nu);
    return s;
}

/* The derivative at a unit += what stays there and what came to it, for a thread that `stays`; slots take what goes on.
 * The last slots hold what the box in front has left until it is read; where a closed line `begins` nothing has come yet
 * to its first slice, which gets it behind the last box. For all threads of a block together. */
static __device__ __forceinline__ void T(side_hand_over)(vreal sum[18], double2 *slots, const side_seat *s,
                                                         const view *out, long unit, int nu, bool stays, bool goes,
                                                         bool begins)
{
    if (stays) {
        vreal r[18];
        T(load)(r, out, unit, nu, 18);
        T(su3_add)(sum, r);
        if (s->first && !begins) T(slot_add)(sum, slots + s->from);
    }
    if (goes && !s->last) T(slot_save)(sum, slots + s->to);
    __syncthreads();
    if (stays) {
        if (!s->first) T(slot_add)(sum, slots + s->from);
        T(save)(sum, out, unit, nu, 18);
    }
    if (goes && s->last) T(slot_save)(sum, slots + s->to);
}

template <bool whole, int rows>
static __global__ void __launch_bounds__(2 * SIDE_SITES, SIDE_BLOCKS)
    T(staple_sides_global)(const __grid_constant__ staple_sides_args a, const __grid_constant__ side_boxes boxes)
{
    gpu_begin();
    /* Two tiles of [2][SIDE_PACKS][SIDE_PLACES] in turns, slots of what goes on, and places. */
    extern __shared__ double2 gpu_shared[];
    double2 *slots = gpu_shared + 2 * 2 * SIDE_TILE;
    int *codes = (int *)(slots + SIDE_PACKS * SIDE_SITES);
    const int next = (int)threadIdx.x >= SIDE_SITES, me = (int)threadIdx.x - next * SIDE_SITES;
    int *unit = codes + (1 + next) * SIDE_PLACES;
    const int nu = (int)(blockIdx.x % 4), mu = (nu + 4 - a.offset) % 4, number = (int)(blockIdx.x / 4);
    const side_box *box = &boxes.of[nu];
    if (number >= box->blocks) return;
    geom g = a.g; /* never in memory */
    if (whole) UNROLL for (int d = 0; d < 4; d++) g.split[d] = 0;
    const side_line line = side_line_of(box, &g, number, mu, nu);
    const side_seat seat = side_seat_of(box, &line, me, mu, nu);
    for (int n = (int)threadIdx.x; n < box->places; n += 2 * SIDE_SITES)
        codes[n] = T(side_code)<whole>(box, &line, &g, n, nu);
    __syncthreads();

    /* Stages: pairs of fields of box after box. Each half of the threads brings one of the two. What is not closed begins
     * with the box in front, for what goes on from its last slice. */
    auto fetch = [&](int stage) {
        const int k = stage % SIDE_PAIRS, step = stage / SIDE_PAIRS - 1;
        const view *v = next ? &a.a[k] : &a.m[k];
        double2 *tile = gpu_shared + (2 * (stage % 2) + next) * SIDE_TILE;
        for (int n = me; n < box->places; n += SIDE_SITES) {
            if (k == 0) unit[n] = T(side_unit)<whole>(&line, &g, codes[n], step, mu);
            if (unit[n] < 0) continue;
            const double *m = T(at)(v, unit[n], mu, 18, 0);
            UNROLL for (int c = 0; c < SIDE_PACKS; c++)
                side_fetch(&tile[c * SIDE_PLACES + n], m + 2 * LINEAR_BLOCK * c);
        }
    };
    const int begin = line.closed ? SIDE_PAIRS : 0, end = SIDE_PAIRS * (line.steps + 1);
    fetch(begin);
    vreal sum[18], link[18];
    long u = 0;
    T(su3_zero)(link);
    for (int stage = begin; stage < end; stage++) {
        const int k = stage % SIDE_PAIRS, step = stage / SIDE_PAIRS - 1;
        if (k == 0) T(su3_zero)(sum);
        if (k == 0 && (step >= 0 || seat.last)) {
            int y[4];
            UNROLL for (int d = 0; d < 4; d++) y[d] = seat.x[d] + (d == mu ? step * line.extent : 0);
            T(walker) here = T(walker_at)(&g, y);
            u = T(walk_unit)(&g, here);
            if (!next) here = T(walk)(&g, here, mu, 1);
            T(hold)(link, &g, T(matrix_at)(&g, &a.links, here, nu), rows);
        }
        if (k == 2) UNROLL for (int i = 0; i < 18; i++) link[i] *= (real)a.seven;
        side_fetched();
        __syncthreads();
        if (stage + 1 < end) fetch(stage + 1);
        const double2 *pair = gpu_shared + 2 * (stage % 2) * SIDE_TILE;
        if (next) T(add_pair)<1>(sum, &g, link, pair, seat.home, seat.up);
        else if (step >= 0) T(add_pair)<0>(sum, &g, link, pair, seat.home, seat.up);
        if (k < SIDE_PAIRS - 1) continue;
        const bool stays = !next && seat.mine && step >= 0, goes = next && seat.mine;
        T(side_hand_over)(sum, slots, &seat, &a.out, u, nu, stays, goes, line.closed && step == 0);
    }
    __syncthreads();
    if (!line.closed || next || !seat.mine || !seat.first) return;
    u = T(walk_unit)(&g, T(walker_at)(&g, seat.x));
    T(load)(sum, &a.out, u, nu, 18);
    T(slot_add)(sum, slots + seat.from);
    T(save)(sum, &a.out, u, nu, 18);
}

void T(staple_sides_launch)(const gpu_device *dev, const void *args, const int *list, long n)
{
    const staple_sides_args *a = (const staple_sides_args *)args;
    side_boxes boxes;
    int blocks = 0;
    REQUIRE(!list, "a list for staple_sides");
    /* Blocks fill the GPU once, a quarter of them for each nu. */
    const int round = SIDE_BLOCKS * dev->processors / 4;
    for (int nu = 0; nu < 4; nu++) {
        const int mu = (nu + 4 - a->offset) % 4;
        boxes.of[nu] = side_box_for(&a->g, mu, nu, round);
        if (boxes.of[nu].blocks > blocks) blocks = boxes.of[nu].blocks;
    }
    auto kernel = T(staple_sides_global)<true, 3>;
    if (a->special) kernel = T(staple_sides_global)<true, 2>;
    if (T(is_split)(&a->g)) kernel = a->special ? T(staple_sides_global)<false, 2> : T(staple_sides_global)<false, 3>;
    gpu_start_sharing(dev, kernel, dim3(4 * (unsigned)blocks), 2 * SIDE_SITES, SIDE_SHARED, *a, boxes);
}
