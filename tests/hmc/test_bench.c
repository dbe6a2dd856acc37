/* Operations of plaq bench: together they run every kernel that there is, each with the fields that it needs alone, and
 * often without anything's running away. With the argument `gpu` on the device. */
#include "hmc/bench/ops.h"
#include "kernels/run/kernel.h"
#include "tests/kernels/kit.h"

static double size_of(const field *f)
{
    double *reals = kit_gather(f), sum = 0;
    for (size_t i = 0; i < kit_reals(f); i++) sum += fabs(reals[i]);
    free(reals);
    return sum;
}

/* What is added to grows no faster than the number of calls. Only the calls are counted. */
static void run_often(bench *b, const bench_op *o)
{
    enum { CALLS = 20 };
    kernel_counts_pause(1);
    bench_open(b, o->needs);
    kernel_counts_pause(0);
    const field *changed[] = {b->momenta,     b->force, b->tensor,  b->inverse,  b->links_double,
                              b->other_links, b->one,   b->two,     b->three,    b->x,
                              b->y,           b->z,     b->sx,      b->sy,       b->vx,
                              b->vy,          b->vz,    b->shifted, b->converted};
    double size[2][sizeof changed / sizeof *changed] = {{0}};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < CALLS; i++) o->run(b);
        for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
            if (changed[i]) size[round][i] = size_of(changed[i]);
    }
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        if (!check_note(size[1][i] <= 2.01 * size[0][i])) /* not so for NaN */
            printf("%s: field %zu, from %g to %g in %d calls\n", o->name, i, size[0][i], size[1][i], CALLS);
    kernel_counts_pause(1);
    bench_close(b);
    kernel_counts_pause(0);
}

int main(int argc, char **argv)
{
    static const int size[4] = {4, 4, 4, 8}, grid[4] = {0, 0, 0, 0};
    const bench_op *o;
    kit_begin(&argc, &argv);
    lattice *lat = lattice_create(size, grid, 3, -1);
    kernel_counts_reset();
    for (int prec = 0; prec <= PREC_HALF; prec++)
        for (int i = 0; (o = bench_op_number(i)); i++) {
            bench b = {.lat = lat, .prec = (precision)prec, .where = kit_place, .link_reals = 18, .rhs = 1};
            if (bench_op_has(o, b.prec)) run_often(&b, o);
        }
    for (int k = 0; k < KERNEL_COUNTED; k++) {
        long calls = 0;
        for (int prec = 0; prec < PREC_COUNT; prec++) calls += kernel_counted((kernel_id)k, (precision)prec).calls;
        if (!check_note(calls > 0 || bench_is_packing(k))) printf("no operation runs %s\n", kernel_infos[k].name);
    }
    lattice_destroy(lat);
    return kit_end();
}
