/* Products of links along paths. They follow walks of unit steps; a walk is a list of step codes,
 * 2 d forwards and 2 d + 1 backwards in direction d, and reaches over faces through the ghosts. */

/* The link where the walker stands. Forces take links that are in SU(3) by construction: they read two rows and compute
 * the third. Loops that are measured read whole links, of files too. */
FN void T(walk_link)(vreal u[18], const geom *g, const view *links, T(walker) w, int d, int rows)
{
    if (rows == 3) {
        T(walk_load)(u, g, links, w, d, 18);
        return;
    }
    T(load_raw_part)(u, links, T(walk_unit)(g, w), d, 0, 12);
    T(turn_home)(u, g, w.turn, 12);
    T(su3_third_row)(u);
}

/* m = m U for a step forwards from w, m U^dagger for a step backwards; w moves along. */
FN void T(step_mul)(vreal m[18], const geom *g, const view *links, T(walker) * w, int step, int rows)
{
    vreal u[18], r[18];
    const int d = step / 2;
    if (step % 2) {
        *w = T(walk)(g, *w, d, -1);
        T(walk_link)(u, g, links, *w, d, rows);
        T(su3_mul_right_dagger)(r, m, u);
    } else {
        T(walk_link)(u, g, links, *w, d, rows);
        *w = T(walk)(g, *w, d, 1);
        T(su3_mul)(r, m, u);
    }
    UNROLL for (int i = 0; i < 18; i++) m[i] = r[i];
}

/* The first step of a walk: m = U or U^dagger. */
FN void T(step_first)(vreal m[18], const geom *g, const view *links, T(walker) * w, int step, int rows)
{
    vreal u[18];
    const int d = step / 2;
    if (step % 2) {
        *w = T(walk)(g, *w, d, -1);
        T(walk_link)(u, g, links, *w, d, rows);
        T(su3_dagger)(m, u);
    } else {
        T(walk_link)(m, g, links, *w, d, rows);
        *w = T(walk)(g, *w, d, 1);
    }
}

FN void T(walk_product)(vreal m[18], const geom *g, const view *links, T(walker) w, const int *steps, int n, int rows)
{
    T(step_first)(m, g, links, &w, steps[0], rows);
    UNROLL for (int i = 1; i < n; i++) T(step_mul)(m, g, links, &w, steps[i], rows);
}

FN void T(add_real)(vdouble *s, vreal x)
{
    *s = vdouble_fma(x, vset(1), *s);
}
