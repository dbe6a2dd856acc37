#include "kernels/ops/domainwall.h"

#include "kernels/base/error.h"
#include "kernels/ops/sums.h"
#include "kernels/ops/vector.h"

fifth_matrix domainwall_scaled(double factor, const fifth_matrix *m, int transposed)
{
    fifth_matrix r = {.Ls = m->Ls};
    for (int c = 0; c < 2; c++)
        for (int s = 0; s < m->Ls; s++)
            for (int t = 0; t < m->Ls; t++) r.of[c][s][t] = factor * (transposed ? m->of[c][t][s] : m->of[c][s][t]);
    return r;
}

void domainwall_fifth(field *out, parity p, double factor, const fifth_matrix *m, int transposed, const field *in,
                      double b, const field *add)
{
    const int Ls = m->Ls;
    REQUIRE(out->kind == FIELD_SPINOR && out->Ls == Ls && field_alike(out, in) && out->prec == in->prec,
            "a matrix of %d slices on %d and %d", Ls, out->Ls, in->Ls);
    REQUIRE(b == 0 || (field_alike(out, add) && out->prec == add->prec), "%d slices added to %d", b == 0 ? 0 : add->Ls,
            Ls);
    fifth_args args = {.in = field_in(in, p), .b = b, .m = domainwall_scaled(factor, m, transposed)};
    if (b != 0) args.add = field_in(add, p);
    args.out = field_out(out, p);
    const double sites = (double)field_units(out) * out->lay->lanes * out->nrhs;
    const kernel_work w = {.n = field_units(out),
                           .flops = sites * 48 * Ls * Ls,
                           .bytes = sites * 24 * Ls * (b != 0 ? 3 : 2) * field_traffic(out)};
    kernel_run(KERNEL_fifth, out, &args, w);
}

static void copy_slice(field *to, const field *from)
{
    field slice = field_group(to, 0);
    const field of = field_group(from, 0);
    vector_axpby(&slice, 1, &of, 0);
    field_written(to);
}

static void on_both(field *out, const fifth_matrix *m, const field *in)
{
    for (int p = 0; p < 2; p++) domainwall_fifth(out, (parity)p, 1, m, 0, in, 0, NULL);
}

void domainwall_enter(field *five, const fifth_matrix *m, const field *four)
{
    field *t = field_like(five);
    copy_slice(t, four);
    on_both(five, m, t);
    field_destroy(t);
}

void domainwall_leave(field *four, const fifth_matrix *m, const field *five)
{
    field *t = field_scratch(five);
    on_both(t, m, five);
    copy_slice(four, t);
    field_destroy(t);
}
