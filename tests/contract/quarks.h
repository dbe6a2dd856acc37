/* Every quark: kinds of fermions from their registry, each with the keys that it has. */
#ifndef PLAQ_TESTS_QUARKS_H
#define PLAQ_TESTS_QUARKS_H

#include "tests/kernels/kit.h"

#include "hmc/build/simulation.h"
#include "hmc/evolve/fermion_kind.h"

/* Keys of one quark, tried with every kind that has the first of them. */
static const char *const quark_variants[] = {
    "",
    "c_sw = 1.3\n",
    "c_sw = 1.3\nschur = symmetric\n",
    "schur = asymmetric\nlink_reals = 12\n",
    "parity = odd\n",
    "Ls = 5\nb5 = 1\nc5 = 0\nM5 = 1.4\n",
    "c_sw = 1.1\nlinks = smeared\n[links.smeared]\nkind = stout\nrho = 0.12\n"
    "steps = 2\n",
    "c_sw = 1.1\nlinks = smeared\n[links.smeared]\nkind = hex\nsteps = 2\n",
    "c_sw = 1.1\nlinks = flowed\n[links.flowed]\nkind = flow\nflow_time = 0.05\n",
    "u0 = 0.9\nlinks = fat7\n",
    "u0 = 0.9\nlinks = asqtad\nlong_reals = 13\n",
    "naik_epsilon = -0.2\nlinks = hisq\n"};

/* [fermion.q] with these keys, behind which sections of its own may stand, and solver s, and further sections. */
static parameters *quark_parameters(const char *kind, const char *keys, const char *sections)
{
    char path[64];
    snprintf(path, sizeof path, "test-quarks-%ld.ini", (long)getpid());
    if (comm_rank() == 0) {
        FILE *out = fopen(path, "w");
        REQUIRE(out, "%s cannot be written", path);
        fprintf(out,
                "[fermion.q]\nkind = %s\nmeasured_only = yes\nmass = 0.3\nsolver = s\n%s[solver.s]\ntype = cg\n"
                "tolerance = 1e-10\n%s",
                kind, keys, sections);
        fclose(out);
    }
    parameters *p = parameters_read(path, 0, NULL, 0);
    if (comm_rank() == 0) remove(path);
    return p;
}

static int quark_has(const fermion_kind *kind, const char *keys)
{
    char word[32] = "";
    sscanf(keys, "%31s", word);
    return !word[0] || !strcmp(word, "parity") || fermion_kind_has(kind, word);
}

/* Kinds with several actions have one quark. */
static int quark_is_first(int kind)
{
    for (int i = 0; i < kind; i++)
        if (fermion_kind_number(i)->quark == fermion_kind_number(kind)->quark) return 0;
    return 1;
}

/* Calls try() for every quark; how many there were. */
static int quarks_all(void (*try)(const fermion_kind *kind, const char *keys))
{
    int n = 0;
    for (int i = 0; fermion_kind_number(i); i++)
        for (size_t k = 0; k < sizeof quark_variants / sizeof quark_variants[0]; k++)
            if (quark_is_first(i) && quark_has(fermion_kind_number(i), quark_variants[k])) {
                try(fermion_kind_number(i), quark_variants[k]);
                n++;
            }
    return n;
}

#endif
