#include "io/files/file_time.h"

#include "kernels/lattice/comm.h"

static double total;

double file_time_add(double start)
{
    const double seconds = comm_wtime() - start;
    total += seconds;
    return seconds;
}

double file_time(void)
{
    return total;
}
