/* Solvers of A x = b for linear operators.
 *
 * A solver is an object: made of settings and an operator, used for any number of right-hand sides, updated when the
 * links have changed, destroyed. Its type is found by name in solvers.def. solver_solve() starts from x and ends with the
 * true residual |b - A x| / |b| computed in the precision of b, whatever happened inside. Not converging is a status
 * that the caller has to handle: x then holds what was reached last, and `residual` is its own: that of a solver whose
 * residual may grow can be above where it began.
 *
 * Two precisions: that of b, in which the residual is true and x is added up, and that of the iteration, which is
 * inner_precision or, where that is the higher one, that of b. A solver inside another works on the same operator in
 * the precision of what it is given.
 *
 * On a planned lattice (kernels/lattice/plan.h) nothing is left of a residual: an iteration ends, and has converged, as
 * soon as it has all of its vectors. */
#ifndef PLAQ_SOLVER_H
#define PLAQ_SOLVER_H

#include <stddef.h>

#include "kernels/base/param.h"
#include "operators/linop.h"

typedef enum {
    SOLVE_CONVERGED,
    SOLVE_TOO_MANY_ITERATIONS,
    SOLVE_STALLED,    /* the residual no longer falls: the tolerance is below what the precision can reach */
    SOLVE_BROKEN,     /* NaN, infinity, an operator that is not as the solver needs it */
    SOLVE_INTERRUPTED /* given up on request: solver_interrupt_by() */
} solve_status;

/* Solvers that may share what they keep from solve to solve, as multigrid shares set-ups. {0} is empty; it outlives them. */
typedef struct {
    struct multigrid *multigrids;
} solver_family;

/* Settings of a solver: the section [solver.NAME]. Types have keys of their own in `own`, whose layout is theirs. */
typedef struct solver_settings {
    int type;                                  /* solver_type_number() */
    double tolerance;                          /* bound of |b - A x| / |b| */
    int max_iterations;                        /* applications of A in the iteration, at most */
    char fallback[PARAM_STRING_SIZE];          /* name of the solver that repeats a failed solve, or empty */
    int inner_precision;                       /* precision of the iteration */
    double delta;                              /* drop of the residual at which the true one is computed */
    char inner_name[PARAM_STRING_SIZE];        /* name of the solver inside, of types that can have one; or empty */
    const struct solver_settings *inner;       /* solver so named, or null */
    char eigenvectors_file[PARAM_STRING_SIZE]; /* file of eigenvectors to deflate with, or empty: solver_deflate() */
    int low_modes;                             /* lowest eigenvectors that deflate; 0: all */
    char transform_file[PARAM_STRING_SIZE];    /* file of the transform, of types with this key */
    const struct fifth_transform *transform;   /* transform in the file; borrowed */
    int follows; /* state kept from solve to solve may stay, in actions, when the links have changed a little */
    solver_family *family; /* family that state is shared in; null: the solver is alone */
    union {
        double align;
        char bytes[320];
    } own;
} solver_settings;

#define SOLVER_BLOCK_MOST 64 /* right-hand sides that are solved together */

/* Offset of a member of the type's struct, for tables of own keys. */
#define SOLVER_KEY(keys, member) (offsetof(solver_settings, own) + offsetof(keys, member))

typedef struct {
    solve_status status;
    int iterations; /* applications of A in the iteration, all precisions together; to a block of right-hand sides: once */
    int inside;     /* applications of A in preconditioners */
    double residual; /* true, relative */
    double seconds, flops;
    double setup; /* seconds of bringing the solver up to date with the links, which are no part of the others */
    int attempts; /* attempts of fallback_try() */
} solve_result;

typedef struct solver solver;

/* Iterations as a part of those of CG, at least or (part 0) always `least`; work and exchanges of one in those of CG. For plans,
 * right within a factor of a few. */
typedef struct {
    double part, least, work, exchanges;
} solver_model;

/* Types of solvers: a table each, in the file of the type. Vectors have up to solver_block_size() right-hand sides, which
 * share their work and have a result each. */
typedef struct {
    const char *name, *help;
    const char *keys;         /* inner_precision, delta or transform, where it uses them, separated by spaces */
    const char *precision;    /* the inner_precision of an input that gives none; null: the default of the key */
    const param_section *own; /* a part of the section with its own keys, its owner the name; or null */
    int positive;             /* A has to be Hermitian and positive */
    const char *inner_key;    /* key of the solver inside; null: there is none */
    int inner_solves;         /* the solver inside has to be there, and to solve; else any preconditioner, or none */
    int blocks;               /* A is needed inside blocks of sites (linop_local()) */
    int coarsens;             /* A is needed on coarse lattices (operators/coarse.h) */
    int restarts;             /* the space is begun anew where the residual has fallen by delta, in any precision */
    /* Own keys that have an effect for quarks of a twisted mass alone, in actions alone, whose links change, and as a
     * preconditioner alone, separated by spaces. Null: none. */
    const char *keys_of_twist, *keys_of_actions, *keys_inside;
    solver_model model; /* no work: that of CG */
    /* Contradictions among settings, and of settings and a lattice, which may be a plan: the key, with a message, or null.
     * Null where there can be none. */
    const char *(*check)(const solver_settings *s, char *message, size_t size);
    const char *(*fits)(const solver_settings *s, const lattice *lat, char *message, size_t size);
    /* True if what the settings leave open is chosen on this lattice as it is on one rank. Null where nothing depends on the
     * process grid. */
    int (*same_on_any_grid)(const solver_settings *s, const lattice *lat);
    /* Why a key of its own has no effect beside the other keys: the reason, or null. Null where every key always has one. */
    const char *(*why_key_has_no_effect)(const solver_settings *s, const char *key);
    /* The operator of the solver inside, owned by A; null: A itself. */
    linop *(*inside)(const solver_settings *s, linop *a);
    /* The operator that it is to be the inverse of, owned by A; null: A itself. */
    linop *(*inverts)(const solver_settings *s, linop *a);
    /* A x = b from x, without the true residual at the end; null: it only preconditions. */
    void (*solve)(solver *s, field *x, const field *b, solve_result *each);
    /* x = K b for a K that is near A^-1, from x = 0, of the right-hand sides that have going[]; null where that is a solve to
     * the tolerance. Each of several has the bits that it has alone. */
    void (*precondition)(solver *s, const char *going, field *x, const field *b, solve_result *each);
    /* x about A^-1 b from x = 0, likewise, of any number of right-hand sides, until the residual of the recurrence has fallen
     * by the tolerance or max_iterations are over; null: precondition() is that. */
    void (*reduce)(solver *s, const char *going, field *x, const field *b, solve_result *each);
    /* x += K r and r -= A K r, likewise, with room for a vector in q; going[] is lost where there is no such step. Null:
     * precondition() is K. */
    void (*smooth)(solver *s, char *going, field *x, field *r, field *q);
    /* Right-hand sides that solve() and precondition() take at most; null: one. */
    int (*block_size)(const solver_settings *s);
    /* State kept from solve to solve: made before the first, made anew when the links have changed, given up. Null where
     * there is none. */
    void (*open)(solver *s);
    void (*update)(solver *s);
    void (*close)(solver *s);
    /* See solver_forget(); of types that mind settings.follows. */
    void (*forget)(solver *s);
} solver_type;

struct solver {
    const solver_type *type;
    solver_settings settings; /* settings of its own: tolerance and max_iterations may be set between solves */
    linop *a;                 /* borrowed */
    solver *inner;            /* solver of settings.inner, on the same operator unless its type has another; or null */
    void *state;              /* state of its type */
    const struct eigen_pairs *low; /* eigenpairs of solver_deflate(), or null */
    int modes, low_normal;
};

const char *solve_status_text(solve_status status);
/* Types by number, null after the last. */
const solver_type *solver_type_number(int i);
/* The type of settings. */
static inline const solver_type *solver_type_of(const solver_settings *s)
{
    return solver_type_number(s->type);
}
/* True if the type has this key, of those that not every type has; and all of these, separated by spaces. */
int solver_type_has(const solver_type *type, const char *key);
void solver_type_keys(const solver_type *type, char *text, size_t size);
/* The section [solver.NAME] and its parts by number, null after the last. */
const param_section *solver_section(int i);

/* The settings, or those of a solver inside, that have a transform; or null. */
const solver_settings *solver_with_transform(const solver_settings *s);
/* A solver with those inside it. The operator is borrowed; settings are copied, those of solvers inside too. */
solver *solver_create(const solver_settings *s, linop *a);
/* A solver of a type that no name leads to, around one that it then owns, or none (null). */
solver *solver_create_around(const solver_type *type, const solver_settings *s, linop *a, solver *inner);
void solver_destroy(solver *s);
/* Brings the operator, and what the solver keeps, up to date with the links. Collective. */
void solver_update(solver *s);
/* Forgets earlier links: from the next update on, what the solver keeps comes from the links alone. */
void solver_forget(solver *s);
/* Updates, solves and measures. x, b: vectors of A in any precision, not the same, of any number of right-hand sides,
 * which are solved in blocks or one after another, as the type does; each[r], unless that is null, is the result of
 * right-hand side r, with its share of the seconds and flops of a block. Returns all of them together: the worst status,
 * the largest residual, the sums of the others, iterations of a block counted once. With b = 0 the answer is x = 0.
 * Collective. */
solve_result solver_solve(solver *s, field *x, const field *b, solve_result *each);

/* How far a solution is from the exact one, by a double solve (J. Osborn et al., PoS LATTICE2010 (2010) 037): A e = b - A x
 * by the same solver, from e = 0. */
typedef struct {
    double error; /* |e| / |x|; NaN where the second solve did not converge */
    double ratio; /* error over |b - A x| / |b|; NaN where there is no residual */
} solve_error;
/* Errors of each right-hand side of A x = b, which s has solved; each[nrhs]. Returns the largest of each of the two. Takes a
 * second solve, to SOLVER_ERROR_TOLERANCE of the residual. Collective. */
#define SOLVER_ERROR_TOLERANCE 1e-5
solve_error solver_error(solver *s, const field *x, const field *b, solve_error *each);

/* Deflates solves from now on: solver_solve() begins with the part of the solution that lies in the space of the lowest
 * `modes` of these eigenvectors, those of A or, if of_normal, of A^dagger A. They are borrowed; null ends that. Vectors of
 * solves are then in double precision. */
void solver_deflate(solver *s, const struct eigen_pairs *low, int modes, int of_normal);

/* Solvers that are made when they are first asked for, and kept: one for each settings (by their place) and operator.
 * {0} is empty. */
#define SOLVER_STORE_MOST 64
typedef struct {
    const solver_settings *settings[SOLVER_STORE_MOST];
    solver *solvers[SOLVER_STORE_MOST];
    int n, follow;         /* follow: as settings.follows of all */
    solver_family *family; /* family of all; null: one of the store's own */
    solver_family own;
} solver_store;
/* Solver of the store, with the tolerance and max_iterations of its settings. */
solver *solver_from(solver_store *store, const solver_settings *s, linop *a);
void solver_store_forget(solver_store *store);
void solver_store_close(solver_store *store);

/* Right-hand sides that a solver of these settings takes at once, at most SOLVER_BLOCK_MOST. */
int solver_block_size(const solver_settings *s);
/* True if it is a solver, and not a preconditioner alone. */
int solver_solves(const solver_settings *s);
/* True if the operator has to be Hermitian and positive, for this solver or one inside it. */
int solver_needs_positive(const solver_settings *s);

/* ---- for solvers with a solver inside ---- */

/* x = K b from x = 0, in the precision of b, of those of up to SOLVER_BLOCK_MOST right-hand sides that have going[], or of all
 * where it is null; others are undefined in x. each: their results, or null. The solver is up to date. A solve that did not reach
 * its tolerance is as good as another; numbers that are none are for the caller to find in x. */
void solver_precondition(solver *s, const char *going, field *x, const field *b, solve_result *each);
/* A solve to a few digits, likewise, by the solver's recurrence alone: without reliable updates where it has them. */
void solver_reduce(solver *s, const char *going, field *x, const field *b, solve_result *each);
/* x += K r and r -= A K r, of those that have going[], which is lost where there is no such step; q: room for a vector. */
void solver_smooth(solver *s, char *going, field *x, field *r, field *q);
/* A solve of all right-hand sides without the true residual, from x, likewise. */
void solver_run(solver *s, field *x, const field *b, solve_result *each);
/* The operator where b lives, in its precision. */
linop *solver_operator(const solver *s, const field *b);
/* The precision of the iteration when b has precision `outer`. */
precision solver_precision(const solver_settings *s, precision outer);
/* r = (b - A x) / unit; |r|^2, which is zero on a planned lattice. r is neither x nor b. */
double solver_defect(linop *a, field *r, const field *x, const field *b, double unit);

/* ---- requests to stop ---- */

/* Interruption of solves, by a signal that has reached the program, say. `asked` says on all ranks alike whether solves
 * are to be given up; null ends that. Collective, and called four times a second. A solve that is given up ends within an
 * iteration, or a vector of a set-up, with SOLVE_INTERRUPTED; results of solves that reach their end do not depend on the
 * calls. */
void solver_interrupt_by(int (*asked)(void));
/* Called by each iteration: true if the solve is to be given up, from then on until solver_interrupt_by(). `lat` is the
 * lattice of the iteration: on lattices that some ranks alone hold, nobody is asked, and the answer is that of the last
 * call on all ranks. Collective over the ranks of the lattice. */
int solver_interrupted(const lattice *lat);

/* ---- history ---- */

typedef struct {
    int iteration;
    double residual; /* relative */
    precision prec;
    int is_true; /* computed from x, in the precision of b; else that of the recurrence */
    int system;  /* number of the system among those solved together, else 0 */
    int rhs;     /* right-hand side of the solve; of those that share a Krylov space, the first of them */
} solve_point;

typedef struct {
    solve_point *points; /* free() it */
    int n, room;
} solve_history;

/* Appends every iteration of outermost solvers to h from now on; null ends that. The same on all ranks. */
void solver_record(solve_history *h);
/* Calls `watch` at every iteration of outermost solvers from now on, with the relative residual, as it is known; null ends
 * that. It has to return at once. Local. */
void solver_watch(void (*watch)(int iteration, double residual));
/* Notes one point, if points are recorded or watched and the solver is an outermost one. */
void solver_note(int iteration, double residual, precision prec, int is_true);
/* Sets the system of the points that follow, after so many iterations; for solvers of several systems. */
void solver_note_system(int system, int before);
/* Sets the right-hand side of the points that follow, for solvers of several side by side. */
void solver_note_rhs(int rhs);
/* Brackets around what entries of solvers do. */
void solver_enter(void);
void solver_leave(void);
/* True if the solver that runs is inside no other. */
int solver_outermost(void);

#endif
