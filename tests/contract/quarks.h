/* Every quark: kinds of fermions from their registry, each with the keys that it has. */
#ifndef PLAQ_TESTS_QUARKS_H
#define PLAQ_TESTS_QUARKS_H

#include "tests/kernels/kit.h"

#include "hmc/assemble/simulation.h"
#include "hmc/quarks/quark.h"

/* Keys of one quark, tried with every kind that has the first of them. */
static const char *const quark_variants[] = {
    "",
    "c_sw = 1.3\n",
    "c_sw = 1.3\nschur = symmetric\n",
    "schur = asymmetric\nlink_reals = 12\n",
    "c_sw = 1.9\nclover_term = exponential\n",
    "mu = 0.8\nc_sw = 1.9\nclover_term = exponential\nschur = symmetric\n",
    "mu = 0.3\nc_sw = 0\n",
    "mu = -0.25\nc_sw = 1.3\n",
    "mu = 0.4\nc_sw = 1.3\nschur = symmetric\nlink_reals = 12\n",
    "mu = 0.2\nc_sw = 1.1\ntheta = 0.7 0 -0.4 0.9\nlinks = smeared\n[links.smeared]\nkind = stout\nrho = 0.1\n",
    "xi_0 = 2.5\nnu = 0.9\nclover_R = 1.4\nclover_T = 0.7\nlink_reals = 12\n",
    "xi_0 = 3.4\nnu = 1.2\nclover_R = 1.6\nclover_T = 0.9\nschur = symmetric\nlinks = smeared\n[links.smeared]\n"
    "kind = stout\nrho = 0.14\nsteps = 2\ndirections = space\n",
    "mu = 0.2\nxi_0 = 2.5\nnu = 0.9\nclover_R = 1.4\nclover_T = 0.7\ntheta = 0.3 0 0 0.5\n",
    "mu_sigma = 0.3\nmu_delta = 0.25\nc_sw = 1.3\n",
    "mu_sigma = -0.2\nmu_delta = 0.4\nc_sw = 0\nlink_reals = 12\n",
    "mu_sigma = 0.4\nmu_delta = -0.3\nc_sw = 1.3\nschur = symmetric\nparity = odd\n",
    "mu_sigma = 0.2\nmu_delta = 0.1\nc_sw = 1.1\ntheta = 0.7 0 -0.4 0.9\nlinks = smeared\n[links.smeared]\nkind = "
    "stout\n"
    "rho = 0.1\n",
    "mu_sigma = 0.2\nmu_delta = 0.3\nxi_0 = 2.5\nnu = 0.9\nclover_R = 1.4\nclover_T = 0.7\n",
    "parity = odd\n",
    "Ls = 5\nb5 = 1\nc5 = 0\nM5 = 1.4\n",
    "c_sw = 1.1\nlinks = smeared\n[links.smeared]\nkind = stout\nrho = 0.12\n"
    "steps = 2\n",
    "c_sw = 1.1\nlinks = smeared\n[links.smeared]\nkind = hex\nsteps = 2\n",
    "c_sw = 1.3\nlinks = smeared\nclover_links = thin\n[links.smeared]\nkind = stout\nrho = 0.12\n",
    "c_sw = 1.1\nlinks = flowed\n[links.flowed]\nkind = flow\nflow_time = 0.05\n",
    "c_sw = 1.2\ntheta = 0.7 0 -0.4 0.9\nlinks = smeared\n[links.smeared]\nkind = stout\nrho = 0.1\n",
    "Ls = 4\nb5 = 1.25\nc5 = 0.25\ntheta = 0 0.6 0 -1.1\n",
    "omega = 0.9 1.3 0.8+0.2i 0.8-0.2i\nLs = 4\nb5 = 1.25\nc5 = 0.25\n",
    "omega = 0.8-0.1i 1.2 0.8+0.1i\nLs = 3\nb5 = 1\nc5 = 0\nparity = odd\nlinks = smeared\n[links.smeared]\nkind = "
    "stout\nrho = 0.1\n",
    "u0 = 0.9\nlinks = fat7\n",
    "u0 = 0.9\nlinks = asqtad\nlong_reals = 13\n",
    "naik_epsilon = -0.2\nlinks = hisq\n",
    "long_reals = 13\ntheta = 0.5 0 0 0.8\nlinks = hisq\n"};

/* [quark.q] with these keys, behind which sections of its own may stand, and solver s, and further sections. */
static parameters *quark_parameters(const char *kind, const char *keys, const char *sections)
{
    char path[64];
    snprintf(path, sizeof path, "test-quarks-%ld.ini", (long)getpid());
    if (comm_rank() == 0) {
        FILE *out = fopen(path, "w");
        REQUIRE(out, "%s cannot be written", path);
        fprintf(out,
                "[quark.q]\nkind = %s\nmass = 0.3\nsolver = s\n%s[solver.s]\ntype = cg\n"
                "tolerance = 1e-10\n%s",
                kind, keys, sections);
        fclose(out);
    }
    parameters *p = parameters_read(path, 0, NULL, 0);
    if (comm_rank() == 0) remove(path);
    return p;
}

/* Twisted masses and coefficients of slices have to be there. */
static int quark_has(const quark_kind *kind, const char *keys)
{
    if (quark_kind_has(kind, "omega") && strncmp(keys, "omega", 5)) return 0;
    if ((kind->twisted_mass || kind->doublet) && strncmp(keys, "mu", 2)) return 0;
    char word[32] = "";
    sscanf(keys, "%31s", word);
    return !word[0] || !strcmp(word, "parity") || quark_kind_has(kind, word);
}

/* Calls try() for every quark; how many there were. */
static int quarks_all(void (*try)(const quark_kind *kind, const char *keys))
{
    int n = 0;
    for (int i = 0; quark_kind_number(i); i++)
        for (size_t k = 0; k < sizeof quark_variants / sizeof quark_variants[0]; k++)
            if (quark_has(quark_kind_number(i), quark_variants[k])) {
                try(quark_kind_number(i), quark_variants[k]);
                n++;
            }
    return n;
}

#endif
