/* Links of hops, of Wilson and of staggered quarks: 18 or 12 reals; 8 as the matrix of a long link (staggered.h). */

/* Fixed-point spinors and links are taken as the integers that are stored, and one factor a direction brings back what they
 * stand for where the direction is added: RAW_LINK times the spinor's scale. A third row that is computed from such numbers is
 * too large for that; what it is multiplied with, or makes, takes RAW_THIRD_ROW, four numbers instead of six. Half spinors from
 * other ranks come as such numbers too, with the scale behind them, so that the split leaves no trace. */
#if PLAQ_PREC >= 2
#define RAW_LINK(reals) ((reals) == 8 ? 1 / FIXED_RANGE : 1 / FIXED_RANGE / FIXED_RANGE)
#define RAW_THIRD_ROW(reals) ((reals) == 12 ? 1 / FIXED_RANGE : 1)
#define HALF_SPINOR_REALS 13
#else
#define RAW_LINK(reals) 1
#define RAW_THIRD_ROW(reals) 1
#define HALF_SPINOR_REALS 12
#endif

/* A link, or where its rows are to be had. With many lanes a link does not fit into registers beside the spinors: rows
 * are loaded where they are used. */
typedef struct {
    vreal u[18];
    const view *links;
    long unit;
    int mu;
} T(link);

FN void T(link_load)(T(link) * l, const view *links, long unit, int mu, int reals)
{
    l->links = links;
    l->unit = unit;
    l->mu = mu;
    if (LOADS_BY_ROW && reals == 18) return;
    if (reals == 8) {
        vreal x[8];
        T(load_stream)(x, links, unit, mu, 8);
        T(su3_from_eight)(l->u, x);
        return;
    }
    T(load_raw_stream)(l->u, links, unit, mu, reals);
    if (reals == 12) T(su3_third_row)(l->u);
}

FN void T(link_row)(vreal row[6], const T(link) * l, int i, int reals)
{
    if (LOADS_BY_ROW && reals == 18) {
        T(load_raw_part)(row, l->links, l->unit, l->mu, 6 * i, 6);
    } else {
        UNROLL for (int k = 0; k < 6; k++) row[k] = l->u[6 * i + k];
    }
}
