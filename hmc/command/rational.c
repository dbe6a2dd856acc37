/* plaq rational: the best rational approximation of a power on a range, for a tolerance. */
#include <stdio.h>

#include "hmc/command/commands.h"
#include "kernels/base/error.h"
#include "kernels/base/param.h"
#include "kernels/lattice/comm.h"
#include "solvers/rational.h"

typedef struct {
    int num, den;
    double lo, hi, tolerance;
} request;

/* The arguments, in order. */
static const param arguments[] = {
    {"NUM", PARAM_INT, offsetof(request, num), NULL, "[-1000,1000]", "", "numerator of the exponent", 0},
    {"DEN", PARAM_INT, offsetof(request, den), NULL, "[1,1000]", "", "denominator of the exponent", 0},
    {"LO", PARAM_REAL, offsetof(request, lo), NULL, "(0,inf)", "", "lower end of the range", 0},
    {"HI", PARAM_REAL, offsetof(request, hi), NULL, "(0,inf)", "", "upper end of the range", 0},
    {"TOLERANCE", PARAM_REAL, offsetof(request, tolerance), NULL, "(0,1)", "", "largest relative error", 0},
};

#define NARGUMENTS ((int)(sizeof arguments / sizeof arguments[0]))

static request read_request(char **words)
{
    request q = {0};
    char message[PARAM_MESSAGE_SIZE];
    for (int i = 0; i < NARGUMENTS; i++)
        if (param_set(&arguments[i], &q, words[i], message, sizeof message))
            user_error("plaq rational: %s, the %s: %s", arguments[i].name, arguments[i].help, message);
    if (!(q.lo < q.hi)) user_error("plaq rational: LO = %s is not below HI = %s", words[2], words[3]);
    return q;
}

static void print(const rational *r)
{
    const shifted_power *p = &r->f.factors[0];
    printf("r(x) = c + sum_i residue_i / (x + pole_i) = c prod_i (x + zero_i) / (x + pole_i)\n");
    printf("function   x^(%d/%d) on [%.17g, %.17g]\n", p->num, p->den, r->lo, r->hi);
    printf("degree     %d\n", r->degree);
    printf("error      %.17g\n", r->error);
    printf("measured   %.2e\n", rational_measured_error(r));
    printf("c          %.16e\n", r->constant);
    printf("%-5s %-23s %-23s %s\n", "i", "residue", "pole", "zero");
    for (int i = 0; i < r->degree; i++)
        printf("%-5d %-+23.16e %-23.16e %.16e\n", i + 1, r->residues[i], r->poles[i], r->zeros[i]);
}

int command_rational(int argc, char **argv)
{
    int inverse = 0;
    const command_flag flags[] = {{"--inverse", &inverse, NULL, "then the approximation of 1 / x^(NUM/DEN) too"}};
    plain_arguments a = command_arguments(argc, argv, flags, 1, NARGUMENTS, NARGUMENTS);
    const request q = read_request(a.plain);
    const power_product f = power_of_x(q.num, q.den);
    rational_store *store = rational_store_create();
    char message[256];
    const rational *r = rational_for(store, &f, q.lo, q.hi, q.tolerance, message, sizeof message);
    const rational *other = r && inverse ? rational_inverse(store, r, message, sizeof message) : NULL;
    if (!r || (inverse && !other)) user_error("plaq rational: x^(%d/%d): %s", q.num, q.den, message);
    if (comm_rank() == 0) {
        print(r);
        if (other) print(other);
    }
    rational_store_destroy(store);
    command_arguments_free(&a);
    return 0;
}
