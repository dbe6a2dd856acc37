/* Errors: what stops a run, and how.
 *
 *   REQUIRE(cond, fmt, ...)      a broken invariant: prints file, line, function, rank and the values given, then stops
 *                                every rank (exit status 3)
 *   REQUIRE_MEMORY(p, fmt, ...)  memory that the system does not give: says what was asked for and what to do, then
 *                                stops every rank, as error_set_memory() says
 *   DEBUG_ASSERT(cond, fmt, ...) the same in debug builds, nothing in release builds
 *   error_fault(status, ...)     what broke is not the program: a GPU, a peer that hangs; as REQUIRE, with its own exit
 *                                status and a text that says what happened and what to do
 *   user_error(fmt, ...)         the user can mend it (input file, lattice file, geometry): collective; every rank
 *                                calls it with the same text, rank 0 prints it once, the program ends with status 2
 *
 * The functions know nothing of MPI: the communication layer installs the rank and the way to stop all ranks. */
#ifndef PLAQ_ERROR_H
#define PLAQ_ERROR_H

#define EXIT_USER_ERROR 2
#define EXIT_INTERNAL 3
#define EXIT_HUNG 5   /* rank or GPU that does not answer (kernels/base/watchdog.h); 4 is in hmc/command/commands.h */
#define EXIT_DEVICE 6 /* a GPU is lost, broken or full */

#define REQUIRE(cond, ...)                                                                                             \
    do {                                                                                                               \
        if (!(cond)) error_stop(__FILE__, __LINE__, __func__, #cond, __VA_ARGS__);                                     \
    } while (0)

#define REQUIRE_MEMORY(pointer, ...)                                                                                   \
    do {                                                                                                               \
        if (!(pointer)) error_memory(__VA_ARGS__);                                                                     \
    } while (0)

#ifdef PLAQ_DEBUG
#define DEBUG_ASSERT(cond, ...) REQUIRE(cond, __VA_ARGS__)
#else
#define DEBUG_ASSERT(cond, ...) ((void)0)
#endif

#if defined(__GNUC__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define PRINTF_LIKE(f, a)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* How a rank names itself and how all ranks end: `end_all(status)` ends them at once, also when the others do not
 * come along; `end_together(status)` is collective. Neither returns. */
void error_set_hooks(int rank, void (*end_all)(int status), void (*end_together)(int status));

/* Exit status and advice when memory runs out from now on. Before the first call the status is 2, for a command that asks for
 * more than there is. */
void error_set_memory(int status, const char *advice);

__attribute__((noreturn)) void error_stop(const char *file, int line, const char *function, const char *condition,
                                          const char *fmt, ...) PRINTF_LIKE(5, 6);
__attribute__((noreturn)) void error_fault(int status, const char *file, int line, const char *function,
                                           const char *fmt, ...) PRINTF_LIKE(5, 6);
__attribute__((noreturn)) void error_memory(const char *fmt, ...) PRINTF_LIKE(1, 2);
__attribute__((noreturn)) void user_error(const char *fmt, ...) PRINTF_LIKE(1, 2);

#ifdef __cplusplus
}
#endif
#endif
