/* Neighbours of a unit. Virtual nodes read a table; the linear layout computes, as the GPU does. */

typedef struct {
    long unit; /* unit of the other parity, or of the face when near is NEAR_GHOST */
    int near, edge;
} T(neighbour);

#if PLAQ_SIMD
typedef const int32_t *T(stencil);

FN T(stencil) T(stencil_at)(const geom *g, int parity, long u)
{
    return g->stencil[parity] + u * STENCIL_INTS;
}

FN T(neighbour) T(neighbour_at)(const geom *g, T(stencil) s, int dir)
{
    (void)g;
    const int flags = s[8];
    T(neighbour)
    n = {s[dir], (flags >> (2 * dir)) & 3,
         dir == 6   ? flags & STENCIL_EDGE_UP
         : dir == 7 ? flags & STENCIL_EDGE_DOWN
                    : 0};
    return n;
}
#else
typedef struct {
    int x[4];
    int unit;
} T(stencil);

FN T(stencil) T(stencil_at)(const geom *g, int parity, long u)
{
    T(stencil) s;
    unsigned rest = (unsigned)u;
    s.unit = (int)u;
    const unsigned xh = rest % (unsigned)g->half_x;
    rest /= (unsigned)g->half_x;
    s.x[1] = (int)(rest % (unsigned)g->sub[1]);
    rest /= (unsigned)g->sub[1];
    s.x[2] = (int)(rest % (unsigned)g->sub[2]);
    s.x[3] = (int)(rest / (unsigned)g->sub[2]);
    s.x[0] = (int)(2 * xh) + ((s.x[1] + s.x[2] + s.x[3] + parity) & 1);
    return s;
}

FN T(neighbour) T(neighbour_at)(const geom *g, T(stencil) s, int dir)
{
    T(neighbour) n;
    const int d = dir / 2, up = dir % 2 == 0;
    const int leaves = up ? s.x[d] == g->sub[d] - 1 : s.x[d] == 0;
    n.near = leaves && g->split[d] ? NEAR_GHOST : NEAR_BODY;
    n.edge = leaves && d == 3;
    if (n.near == NEAR_GHOST) {
        long f = 0;
        UNROLL for (int e = 3; e >= 0; e--) if (e != d) f = f * g->sub[e] + s.x[e];
        n.unit = f / 2;
    } else if (d == 0) {
        const int x = leaves ? (up ? 0 : g->sub[0] - 1) : s.x[0] + (up ? 1 : -1);
        n.unit = s.unit - s.x[0] / 2 + x / 2;
    } else {
        const int step = leaves ? (up ? 1 - g->sub[d] : g->sub[d] - 1) : (up ? 1 : -1);
        n.unit = s.unit + step * g->stride[d];
    }
    return n;
}

/* True if a step from here leads over a face of the rank. */
FN int T(at_face)(const geom *g, T(stencil) s)
{
    int face = 0;
    UNROLL for (int d = 0; d < 4; d++) face |= g->split[d] && (s.x[d] == 0 || s.x[d] == g->sub[d] - 1);
    return face;
}
#endif

/* Code of turning the lanes one step along dir, see geom.h. */
FN int T(turn_code)(int dir)
{
    const int power[4] = {1, 3, 9, 27};
    return 40 + (dir % 2 ? -power[dir / 2] : power[dir / 2]);
}

/* ---- walks on the extended box, for kernels that reach beyond nearest neighbours ---- */

typedef struct {
    int x[4], turn;
    int unit, odd; /* linear layout: unit of its parity, as long as it is in the body */
} T(walker);

FN T(walker) T(walk_from)(const geom *g, int parity, long u)
{
    T(walker) w;
    const int16_t *c = g->coord[parity] + 4 * u;
    UNROLL for (int d = 0; d < 4; d++) w.x[d] = c[d];
    w.turn = 40;
    w.unit = (int)u;
    w.odd = parity;
    return w;
}

/* Global time slice of a lane of the unit where the walker stands, at home. */
FN int T(time_slice)(const geom *g, T(walker) home, int lane)
{
    return home.x[3] + g->lane_origin[4 * lane + 3];
}

/* Walks one step, 1 or -1. */
FN T(walker) T(walk)(const geom *g, T(walker) w, int d, int step)
{
    const int power[4] = {1, 3, 9, 27};
    /* d is compared, not an index: a GPU cannot index registers. */
    int from = w.x[0], size = g->sub[0], split = g->split[0], stride = 0;
    UNROLL for (int e = 1; e < 4; e++)
    {
        if (e != d) continue;
        from = w.x[e];
        size = g->sub[e];
        split = g->split[e];
        stride = g->stride[e];
    }
    int to = from + step;
    if (!split && (step > 0 ? to == size : to < 0)) {
        to -= step * size;
        if (PLAQ_SIMD && g->lane_grid[d] > 1) w.turn += step * power[d];
    }
    UNROLL for (int e = 0; e < 4; e++) if (e == d) w.x[e] = to;
    if (!PLAQ_SIMD) {
        w.unit += d == 0 ? (to >> 1) - (from >> 1) : (to - from) * stride;
        w.odd ^= 1;
    }
    return w;
}

/* Storage unit of the place a walker stands on. */
FN long T(walk_unit)(const geom *g, T(walker) w)
{
#if !PLAQ_SIMD
    /* The body needs no table. */
    int inside = 1;
    UNROLL for (int d = 0; d < 4; d++) inside = inside && (!g->split[d] || (w.x[d] >= 0 && w.x[d] < g->sub[d]));
    if (inside) return w.unit + (w.odd ? (int)g->odd_start : 0);
#endif
    long i = 0;
    UNROLL for (int d = 3; d >= 0; d--) i = i * g->ext_size[d] + w.x[d] + (g->split[d] ? g->depth : 0);
    return g->ext[i];
}

/* True if nothing within `reach` of home is on another rank. */
FN int T(far_from_faces)(const geom *g, T(walker) home, int reach)
{
    int far = 1;
    UNROLL for (int d = 0; d < 4; d++) far =
        far && (!g->split[d] || (home.x[d] >= reach && home.x[d] + reach < g->sub[d]));
    return far;
}

/* A kernel on the sites of a.parity whose work at one falls into parts, directions or planes, which T(name_part) does
 * one at a time. A GPU takes them apart, and PARTS_name and REACH_name tell it how many they are and how far from home
 * they read in any direction. */
#define PARTS_SITE(name)                                                                                               \
    FN void T(name##_site)(const name##_args *a, long u)                                                               \
    {                                                                                                                  \
        const T(walker) home = T(walk_from)(&a->g, a->parity, u);                                                      \
        for (int part = 0; part < PARTS_##name; part++) T(name##_part)(a, &a->g, home, part);                          \
    }

/* Turns the lanes of n components home, from where a walker with that code of turning has read them. */
FN void T(turn_home)(vreal *x, const geom *g, int turn, int n)
{
    if (PLAQ_SIMD && turn != 40) {
        UNROLL for (int i = 0; i < n; i++) x[i] = T(turn)(x[i], g, turn);
    }
}

/* Loads n components of a group from where the walker stands, lanes turned home. */
FN void T(walk_load)(vreal *x, const geom *g, const view *v, T(walker) w, int group, int n)
{
    T(load)(x, v, T(walk_unit)(g, w), group, n);
    T(turn_home)(x, g, w.turn, n);
}
