/* Operations of plaq bench: together they run every kernel that there is, each with the fields that it needs alone, and
 * often without anything's running away. With the argument `gpu` on the device. */
#include "hmc/bench/ops.h"
#include "kernels/kernels.h"
#include "tests/kernels/kit.h"

/* Halos are no part of what is measured. */
static int is_of_halos(int kernel)
{
    return kernel == KERNEL_hop_pack || kernel == KERNEL_staggered_pack || kernel == KERNEL_ghost_pack ||
           kernel == KERNEL_ghost_unpack;
}

static double reals_of(const field *f)
{
    double sum = 0;
    double *slice = field_slice_buffer(f);
    const int *l = f->lat->local;
    for (int t = 0; f->par == PARITY_BOTH && t < l[3]; t++) {
        field_export(f, t, slice);
        for (long i = 0; i < (long)l[0] * l[1] * l[2] * f->groups * f->reals; i++) sum += fabs(slice[i]);
    }
    free(slice);
    return sum;
}

static void run_often(bench *b, const bench_op *o)
{
    bench_open(b, o->needs);
    for (int i = 0; i < 20; i++) o->run(b);
    const field *changed[] = {b->momenta, b->force, b->tensor, b->links_double, b->one, b->two, b->three};
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        if (changed[i] && !check_note(reals_of(changed[i]) < 1e3 * (double)changed[i]->lat->volume * changed[i]->reals))
            printf("field %zu runs away in %s\n", i, o->name);
    bench_close(b);
}

int main(int argc, char **argv)
{
    static const int size[4] = {4, 4, 4, 8}, grid[4] = {0, 0, 0, 0};
    const bench_op *o;
    kit_begin(&argc, &argv);
    lattice *lat = lattice_create(size, grid, 3, -1);
    kernel_counts_reset();
    for (int prec = 0; prec <= PREC_SINGLE; prec++)
        for (int i = 0; (o = bench_op_number(i)); i++) {
            bench b = {.lat = lat, .prec = (precision)prec, .where = kit_place, .link_reals = 18, .rhs = 1};
            if (bench_op_has(o, b.prec)) run_often(&b, o);
        }
    for (int k = 0; k < KERNEL_COUNTED; k++) {
        long calls = 0;
        for (int prec = 0; prec < PREC_COUNT; prec++) calls += kernel_counted((kernel_id)k, (precision)prec).calls;
        if (!check_note(calls > 0 || is_of_halos(k))) printf("no operation runs %s\n", kernel_infos[k].name);
    }
    lattice_destroy(lat);
    return kit_end();
}
