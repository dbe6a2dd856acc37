#include "kernels/ops/domainwall.h"

#include "kernels/base/error.h"
#include "kernels/ops/sums.h"

fifth_matrix domainwall_matrix(int Ls, int from)
{
    REQUIRE(Ls >= 1 && Ls <= DOMAINWALL_SLICES && from >= 1 && from <= DOMAINWALL_SLICES,
            "a matrix from %d slices to %d", from, Ls);
    return (fifth_matrix){.Ls = Ls, .from = from};
}

fifth_matrix domainwall_scaled(double factor, const fifth_matrix *m, int transposed)
{
    fifth_matrix r = transposed ? domainwall_matrix(m->from, m->Ls) : domainwall_matrix(m->Ls, m->from);
    for (int c = 0; c < 2; c++)
        for (int s = 0; s < r.Ls; s++)
            for (int t = 0; t < r.from; t++) r.of[c][s][t] = factor * (transposed ? m->of[c][t][s] : m->of[c][s][t]);
    return r;
}

/* Fields that are alike, slices aside. */
static int alike_but_slices(const field *x, const field *y)
{
    return x->lat == y->lat && x->kind == y->kind && x->prec == y->prec && x->where == y->where && x->nrhs == y->nrhs;
}

void domainwall_fifth(field *out, parity p, double factor, const fifth_matrix *m, int transposed, const field *in,
                      double b, const field *add)
{
    fifth_args args = {.in = field_in(in, p), .b = b, .m = domainwall_scaled(factor, m, transposed)};
    const int to = args.m.Ls, from = args.m.from;
    REQUIRE(out->kind == FIELD_SPINOR && out->Ls == to && in->Ls == from && alike_but_slices(out, in),
            "a matrix from %d slices to %d on %d and %d", from, to, in->Ls, out->Ls);
    REQUIRE(b == 0 || (field_alike(out, add) && out->prec == add->prec), "%d slices added to %d", b == 0 ? 0 : add->Ls,
            to);
    if (b != 0) args.add = field_in(add, p);
    args.out = field_out(out, p);
    const double sites = (double)field_units(out) * out->lay->lanes * out->nrhs;
    const kernel_work w = {.n = field_units(out),
                           .flops = sites * 48 * to * from,
                           .bytes = sites * 24 * (from + to * (b != 0 ? 2 : 1)) * field_traffic(out)};
    kernel_run(KERNEL_fifth, out, &args, w);
}

void domainwall_map(field *out, const fifth_matrix *m, int transposed, const field *in)
{
    FOR_PARITIES(p, out) domainwall_fifth(out, (parity)p, 1, m, transposed, in, 0, NULL);
}

void domainwall_gamma_5(field *out, const field *in)
{
    fifth_matrix gamma_5 = domainwall_matrix(1, 1);
    gamma_5.of[0][0][0] = 1;
    gamma_5.of[1][0][0] = -1;
    domainwall_map(out, &gamma_5, 0, in);
}
