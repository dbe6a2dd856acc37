/* CUDA errors, and what they mean to the person who runs the program.
 *
 * CUDA reports what a kernel did wrong at a later call, so the messages name the last kernel started; it need not be
 * the one. Errors that are not in the table can only come from a mistake in the program. */
#include "kernels/base/watchdog.h"
#include "kernels/gpu/launch.cuh"

#define RESUME "the last checkpoint stands: continue with plaq run"
#define BUG "a mistake in the program, please report it with this message; " RESUME
#define NODE RESUME " on another node, and report this one if it happens again"
#define MPS "the server through which processes share GPUs (MPS) failed or has no place left; " NODE

#define MAPPED "memory of another process's GPU cannot be mapped: transport = nccl or host does without; " RESUME
#define SHORTER_LINKS "link_reals = 12 (long_reals = 13 or 9 of staggered quarks)"

static const struct {
    cudaError_t error;
    const char *meaning;
} faults[] = {
    {cudaErrorMemoryAllocation,
     "the GPU's memory is full: use more ranks, " SHORTER_LINKS ", or a lower inner precision"},
    {cudaErrorECCUncorrectable, "the GPU's memory failed (an ECC error that cannot be corrected); " NODE},
    {cudaErrorNvlinkUncorrectable, "the link between GPUs failed (an NVLink error that cannot be corrected); " NODE},
    {cudaErrorDeviceUninitialized, "the GPU is lost to this process; " NODE},
    {cudaErrorNoDevice, "the GPU is lost: the driver finds none; " NODE},
    {cudaErrorInvalidDevice, "the GPU is lost: the driver does not know it; " NODE},
    {cudaErrorDevicesUnavailable, "the GPU is taken by another process, or set to serve one process alone (nvidia-smi "
                                  "shows its compute mode); " RESUME " when it is free"},
    {cudaErrorSystemNotReady, "the system of the GPU is not ready (its fabric manager does not run); " NODE},
    {cudaErrorSystemDriverMismatch,
     "the GPU's driver and its library differ in version (updated while it ran?); " NODE},
    {cudaErrorInsufficientDriver, "the GPU's driver is older than this program's CUDA: update it, or build with an "
                                  "older CUDA"},
    {cudaErrorCompatNotSupportedOnDevice, "the GPU's driver is older than this program's CUDA, and does without an "
                                          "update on other GPUs alone: update it, or build with an older CUDA"},
    {cudaErrorUnsupportedPtxVersion, "the GPU's driver is older than this program's CUDA, and the program was not "
                                     "built for this GPU: build with PLAQ_CUDA_ARCHITECTURES set to its compute "
                                     "capability"},
    {cudaErrorInitializationError, "the GPU's driver cannot be started; " NODE},
    {cudaErrorMapBufferObjectFailed, MAPPED},
    {cudaErrorTooManyPeers, MAPPED},
    {cudaErrorPeerAccessUnsupported, MAPPED},
    {cudaErrorMpsConnectionFailed, MPS},
    {cudaErrorMpsRpcFailure, MPS},
    {cudaErrorMpsServerNotReady, MPS},
    {cudaErrorMpsMaxClientsReached, MPS},
    {cudaErrorMpsMaxConnectionsReached, MPS},
    {cudaErrorMpsClientTerminated, MPS},
#if CUDART_VERSION >= 13000
    {cudaErrorContained, "the GPU or a link between GPUs failed, and the driver confined it to this process; " NODE},
#endif
    {cudaErrorNoKernelImageForDevice, "the program was not built for this GPU: build with PLAQ_CUDA_ARCHITECTURES set "
                                      "to its compute capability"},
    {cudaErrorIllegalAddress, "a kernel reached for memory that is not there: " BUG},
    {cudaErrorMisalignedAddress, "a kernel reached for memory at a wrong alignment: " BUG},
    {cudaErrorIllegalInstruction, "a kernel met an instruction that is none: " BUG},
    {cudaErrorAssert, "a check inside a kernel failed: " BUG},
    {cudaErrorHardwareStackError, "a kernel's stack broke: " BUG},
    {cudaErrorLaunchTimeout, "a kernel took longer than the driver allows (a GPU with a display?); " RESUME},
    {cudaErrorLaunchFailure, "a kernel broke off, for a mistake in the program or a fault of the GPU (dmesg tells Xid "
                             "errors); " NODE},
    {cudaErrorUnknown, "the driver reports a fault without a name (dmesg tells Xid errors); " NODE},
};

void gpu_fault(int error, const char *call, const char *file, int line, const char *function)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults[i].error == error)
            error_fault(EXIT_DEVICE, file, line, function, "%s.\n  CUDA: %s: %s; last kernel started: %s",
                        faults[i].meaning, call, cudaGetErrorString(faults[i].error), watchdog_last_kernel());
    error_stop(file, line, function, call, "%s; last kernel started: %s", cudaGetErrorString((cudaError_t)error),
               watchdog_last_kernel());
}

void gpu_exhausted(size_t bytes, size_t in_use)
{
    const double mib = 1.0 / (1 << 20);
    size_t available = 0, total = 0;
    CUDA(cudaMemGetInfo(&available, &total));
    error_fault(EXIT_DEVICE, __FILE__, __LINE__, __func__,
                "the GPU's memory is full: %.1f MiB asked, %.1f of %.1f MiB free, fields use %.1f MiB.\n  More "
                "ranks, " SHORTER_LINKS ", a lower inner precision, fewer right-hand sides at a time, or tune = file "
                "in place of measure need less a GPU; "
                "the rest of what is not free belongs to messages or to other programs on this GPU",
                mib * (double)bytes, mib * (double)available, mib * (double)total, mib * (double)in_use);
}
