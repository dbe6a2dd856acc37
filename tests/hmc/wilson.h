/* Two flavours of Wilson-clover quarks in many ways, as texts of input files. */
#ifndef PLAQ_TESTS_WILSON_H
#define PLAQ_TESTS_WILSON_H

/* Each solver of a force has one of the accept step beside it. */
static const char two_flavours[] =
    "[run]\noutput = none\n"
    "[lattice]\nsize = 4.4.4.4\n"
    "[gauge]\nbeta = 5.6\n"
    "[solver.cg]\ntype = cg\ntolerance = 1e-8\n"
    "[solver.cg2]\ntype = cg\ntolerance = 1e-10\n"
    "[solver.bicgstab]\ntype = bicgstab\ntolerance = 1e-8\nfallback = cg2\n"
    "[solver.bicgstab2]\ntype = bicgstab\ntolerance = 1e-10\nfallback = cg2\n"
    "[solver.gcr]\ntype = gcr\npreconditioner = steps\ntolerance = 1e-8\nfallback = cg2\n"
    "[solver.gcr2]\ntype = gcr\npreconditioner = steps\ntolerance = 1e-10\nfallback = cg2\n"
    "[solver.gcrdd]\ntype = gcr\npreconditioner = blocks\ntolerance = 1e-8\nfallback = cg2\n"
    "[solver.gcrdd2]\ntype = gcr\npreconditioner = blocks\ntolerance = 1e-10\nfallback = cg2\n"
    "[solver.mr]\ntype = mr\ntolerance = 1e-8\nfallback = cg2\n"
    "[solver.mr2]\ntype = mr\ntolerance = 1e-10\nfallback = cg2\n"
    "[solver.refine]\ntype = refine\ncorrection = rough\ntolerance = 1e-8\nfallback = cg2\n"
    "[solver.refine2]\ntype = refine\ncorrection = rough\ntolerance = 1e-10\nfallback = cg2\n"
    "[solver.steps]\ntype = mr\nsteps = 4\nrelaxation = 0.9\n"
    "[solver.blocks]\ntype = schwarz\ninner_precision = half\nblock = 4.4.2.2\nsteps = 4\n"
    "[solver.rough]\ntype = bicgstab\ninner_precision = half\ntolerance = 1e-3\n";

#define FORMED(solver, of_quark)                                                                                       \
    "[quark.light]\nkappa = 0.134\nc_sw = 1.76\n" of_quark                                                             \
    "[action.light]\nkind = two_flavours\nquark = light\nsolver = " solver "\naction_solver = " solver "2\n"
#define LIGHT(solver, keys) FORMED(solver, "") keys
#define RATIONAL(name, of_quark, keys)                                                                                 \
    "[quark." name "]\nkappa = 0.134\nc_sw = 1.76\n" of_quark "[action." name "]\nkind = rational\nquark = " name      \
    "\nsolver = cg\naction_solver = cg2\n" keys
#define LEVELS(scheme, steps, actions, inside)                                                                         \
    "[integrator.0]\nscheme = " scheme "\nsteps = " steps "\nactions = " actions "\n"                                  \
    "[integrator.1]\nscheme = " scheme "\nsteps = " inside "\nactions = gauge\n"
#define OMELYAN LEVELS("omelyan2", "4", "light", "2")

#endif
