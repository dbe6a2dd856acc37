/* Staggered quarks on 4^4, as the text of input files: four flavours in three ways, 2+1 asqtad and 2+1+1 HISQ ones. */
#ifndef PLAQ_TESTS_STAGGERED_H
#define PLAQ_TESTS_STAGGERED_H

#define FRAME                                                                                                          \
    "[run]\noutput = none\nseed = 5\n"                                                                                 \
    "[lattice]\nsize = 4.4.4.4\n"                                                                                      \
    "[solver.cg]\ntype = cg\ninner_precision = double\ntolerance = 1e-9\n"                                             \
    "[solver.good]\ntype = cg\ninner_precision = double\ntolerance = 1e-12\n"
#define SOLVERS "solver = cg\naction_solver = good\n"
#define LEVELS(actions, steps)                                                                                         \
    "[integrator.0]\nscheme = omelyan2\nsteps = " steps "\nactions = " actions "\n"                                    \
    "[integrator.1]\nscheme = omelyan2\nsteps = 2\nactions = gauge\n"

static const char four[] = FRAME "[gauge]\nbeta = 5.2\n"
                                 "[quark.a]\nkind = staggered\nlinks = asqtad\nu0 = 0.9\nmass = 0.1\n[action.a]\nkind "
                                 "= four_flavours\nquark = a\npredictor = 2\n" SOLVERS LEVELS("a", "5");
static const char four_trivial[] =
    FRAME "[gauge]\nbeta = 5.2\n"
          "[quark.a]\nkind = staggered\nlinks = asqtad\nu0 = 0.9\nmass = 0.1\n[action.a]\nkind = rational\nquark = "
          "a\nflavours = 4\n" SOLVERS LEVELS("a", "5");
static const char four_roots[] =
    FRAME "[gauge]\nbeta = 5.2\n"
          "[quark.a]\nkind = staggered\nlinks = asqtad\nu0 = 0.9\nmass = 0.1\n[action.a]\nkind = rational\nquark = "
          "a\nflavours = 4\npseudofermions = 2\n" SOLVERS LEVELS("a", "5");
/* Couplings and tadpole factors of published ensembles (arXiv:0903.3598, arXiv:1212.4768). */
#define ASQTAD(name, mass, of_quark, flavours, keys)                                                                   \
    "[quark." name "]\nkind = staggered\nlinks = asqtad\nu0 = 0.8677\nmass = " mass "\n" of_quark "[action." name      \
    "]\nkind = rational\nquark = " name "\nflavours = " flavours "\n" keys SOLVERS
#define HISQ(name, mass, of_quark, flavours, keys)                                                                     \
    "[quark." name "]\nkind = staggered\nmass = " mass "\n" of_quark "[action." name                                   \
    "]\nkind = rational\nquark = " name "\nflavours = " flavours "\n" keys SOLVERS
#define ASQTAD_GLUE FRAME "[gauge]\naction = symanzik_1loop\nbeta = 6.76\nu0 = 0.8677\n"
#define HISQ_GLUE FRAME "[gauge]\naction = symanzik_1loop_hisq\nbeta = 5.8\nu0 = 0.85535\nflavours = 4\n"
#define CHARM HISQ("charm", "0.838", "naik_epsilon = -0.358\n", "1", "")
static const char asqtad[] = ASQTAD_GLUE ASQTAD("a", "0.02", "", "2", "with = 0.05:1 0.2:-3\n")
    ASQTAD("heavy", "0.2", "parity = even\n", "3", "pseudofermions = 3\n") LEVELS("a heavy", "3");
static const char hisq[] = HISQ_GLUE HISQ("a", "0.02", "", "2", "with = 0.065:1 0.2:-3\n")
    HISQ("heavy", "0.2", "", "3", "pseudofermions = 3\n") CHARM LEVELS("a heavy charm", "3");
/* The same determinants, one a quark, by other functions, roots and steps. */
static const char asqtad_apart[] = ASQTAD_GLUE ASQTAD("light", "0.02", "", "2", "force_approximation = 1e-5\n")
    ASQTAD("strange", "0.05", "parity = even\n", "1", "approximation = 1e-11\n") LEVELS("light strange", "3");
static const char hisq_apart[] =
    HISQ_GLUE HISQ("light", "0.02", "", "2", "pseudofermions = 2\nforce_approximation = 1e-5\n")
        HISQ("strange", "0.065", "parity = even\n", "1", "approximation = 1e-11\n")
            CHARM LEVELS("light strange charm", "3");

#endif
