/* Errors of CUDA as they reach the user. */
#ifndef PLAQ_GPU_FAULT_H
#define PLAQ_GPU_FAULT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Stops the run for an error of CUDA, by its number, that `call` returned at a place in the program: with what happened
 * and what to do (EXIT_DEVICE), or, where only a mistake in the program can be the reason, as REQUIRE does. */
__attribute__((noreturn)) void gpu_fault(int error, const char *call, const char *file, int line, const char *function);

#ifdef __cplusplus
}
#endif
#endif
