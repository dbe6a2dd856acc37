/* Faults of a GPU. Some can be provoked: memory that is full, a kernel that reaches for memory that is not there. Of
 * others, CUDA's number is handed to what it is handed to when a call fails. Each is a process of its own, this
 * program with the fault's name or number; it has to end with EXIT_DEVICE, or EXIT_INTERNAL for a mistake in the
 * program, and one message. */
#include "tests/check.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "kernels/base/error.h"
#include "kernels/gpu/gpu.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/vector.h"

static const int size[4] = {16, 16, 16, 16}, grid[4] = {1, 1, 1, 1};

/* Fields until there is no room. */
static void fill_memory(const lattice *lat)
{
    for (int i = 0; i < 1000; i++)
        field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 128, PLACE_DEVICE); /* 1.5 GiB */
}

static void reach_out(const lattice *lat)
{
    field *x = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN, 1, PLACE_DEVICE);
    x->data = (void *)256;
    vector_norm2(x, 0);
}

static int provoke(const char *fault)
{
    char message[512];
    const int number = atoi(fault);
    if (number > 0) gpu_fault(number, "cudaStreamSynchronize(stream)", __FILE__, __LINE__, __func__);
    REQUIRE(!gpu_bind(1, message, sizeof message), "%s", message);
    const lattice *lat = lattice_create(size, grid, 2, -1);
    if (!strcmp(fault, "full")) fill_memory(lat);
    else reach_out(lat);
    return 0;
}

static void check_fault(const char *program, const char *fault, int expected, const char *const words[3])
{
    char command[4096], text[8192];
    snprintf(command, sizeof command, "'%s' %s 2>&1", program, fault);
    FILE *f = popen(command, "r");
    REQUIRE(f, "cannot start %s", command);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    const int status = pclose(f);
    CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, expected);
    for (int i = 0; i < 3; i++) CHECK_HAS(text, words[i]);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        comm_init(&argc, &argv);
        return provoke(argv[1]);
    }
    if (gpu_count() == 0) {
        printf("skipped: there is no GPU\n");
        return 77;
    }
    check_fault(argv[0], "full", EXIT_DEVICE, (const char *const[]){"memory is full", "MiB asked", "MiB free"});
    check_fault(argv[0], "address", EXIT_DEVICE,
                (const char *const[]){"memory that is not there", "last kernel started: norm2", "CUDA"});
    const char *const again = "the last checkpoint stands: continue with plaq run on another node";
    check_fault(argv[0], "214", EXIT_DEVICE,
                (const char *const[]){"an ECC error", again, "cudaStreamSynchronize(stream)"});
    check_fault(argv[0], "220", EXIT_DEVICE, (const char *const[]){"an NVLink error", again, "CUDA"});
    check_fault(argv[0], "100", EXIT_DEVICE, (const char *const[]){"the GPU is lost", again, "CUDA"});
    check_fault(argv[0], "46", EXIT_DEVICE,
                (const char *const[]){"taken by another process", "continue with plaq run", "CUDA"});
    check_fault(argv[0], "719", EXIT_DEVICE, (const char *const[]){"a kernel broke off", again, "Xid"});
    /* A wrong argument: a mistake in the program. */
    check_fault(argv[0], "1", EXIT_INTERNAL,
                (const char *const[]){"internal error", "last kernel started", "invalid argument"});
    return CHECK_SUMMARY();
}
