#include "io/files/file_time.h"

#include "kernels/lattice/comm.h"

static double seconds;

void file_time_add(double start)
{
    seconds += comm_wtime() - start;
}

double file_time(void)
{
    return seconds;
}
