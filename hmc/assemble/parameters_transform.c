/* Transforms between numbers of slices of domain wall quarks, which plaq train makes and [solver.NAME] sections name: their
 * files, and whether they are those of the quarks that are solved for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/quarks/quark.h"
#include "hmc/assemble/parameters.h"
#include "io/history/fifth_hdf5.h"
#include "kernels/base/error.h"

#define KEYS_SIZE 512

/* Reads the transform of solver `number`; quark: the keys of the quark that it was made for. */
static void read_file(const ini_input *in, parameters *p, int number, char quark[KEYS_SIZE])
{
    named_settings *s = &p->solvers[number];
    fifth_transform *t = calloc(1, sizeof *t);
    char message[1024];
    REQUIRE_MEMORY(t, "out of memory");
    p->transforms[number] = t;
    if (fifth_read(s->p.transform_file, &t->T, &t->mu, quark, KEYS_SIZE, message, sizeof message))
        user_error("%s: [solver.%s] transform: %s; plaq train makes it", ini_where(in, "solver", s->name, "transform"),
                   s->name, message);
    s->p.transform = t;
}

/* The first line in which two texts of keys differ; null where they are the same. */
static const char *difference(const char *a, const char *b, char text[256])
{
    while (*a && *b) {
        const size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (n != m || memcmp(a, b, n)) {
            snprintf(text, 256, "%.*s, and not %.*s", (int)n, a, (int)m, b);
            return text;
        }
        a += n + (a[n] == '\n');
        b += m + (b[m] == '\n');
    }
    return *a || *b ? "other keys" : NULL;
}

/* A section that has `solver` solve for quark f, by its key or (null) as every section does. */
static void check(const ini_input *in, const parameters *p, char quarks[MAX_NAMED][KEYS_SIZE], const named_quark *f,
                  const named_settings *solver)
{
    char keys[KEYS_SIZE], text[256];
    const solver_settings *with = solver_with_transform(&solver->p);
    if (!with) return;
    const quark_kind *kind = quark_kind_of(&f->p);
    int number = 0;
    while (strcmp(p->solvers[number].p.transform_file, with->transform_file)) number++;
    const char *file = with->transform_file, *name = p->solvers[number].name;
    if (!kind->transform_keys)
        user_error("%s: [solver.%s] works on fewer slices (transform = %s), which kind = %s of [quark.%s] does not "
                   "have; name another solver there",
                   ini_where(in, "solver", name, "transform"), name, file, kind->name, f->name);
    kind->transform_keys(&f->p, keys, sizeof keys);
    const char *differs = difference(quarks[number], keys, text);
    if (differs)
        user_error("%s: [solver.%s] transform = %s is that of a quark with %s as [quark.%s] has it; make one for "
                   "that by plaq train",
                   ini_where(in, "solver", name, "transform"), name, file, differs, f->name);
}

static void check_named(const ini_input *in, const parameters *p, char quarks[MAX_NAMED][KEYS_SIZE],
                        const named_quark *f, const char *solver)
{
    const named_settings *s;
    for (int i = 0; (s = parameters_attempt(p, solver, i)); i++) check(in, p, quarks, f, s);
}

void transform_parameters_read(const ini_input *in, parameters *p, int every)
{
    char quarks[MAX_NAMED][KEYS_SIZE];
    solver_use use;
    int there = 0;
    for (int i = 0; i < p->nsolvers; i++) {
        quarks[i][0] = 0;
        if (!solver_type_has(solver_type_of(&p->solvers[i].p), "transform")) continue;
        read_file(in, p, i, quarks[i]);
        there = 1;
    }
    for (int i = 0; there && parameters_solver_use(p, i, &use); i++) check_named(in, p, quarks, use.quark, use.solver);
    for (int i = 0; i < p->nquarks && there && every; i++)
        for (int k = 0; k < p->nsolvers; k++)
            if (solver_solves(&p->solvers[k].p)) check(in, p, quarks, &p->quarks[i], &p->solvers[k]);
}
