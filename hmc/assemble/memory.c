#include "hmc/assemble/memory.h"

#include <stdio.h>

#include "hmc/assemble/threads.h"
#include "hmc/quarks/quark.h"
#include "hmc/tell/text.h"
#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/base/machine.h"
#include "kernels/base/pool.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/plan.h"
#include "kernels/run/exchange.h"

/* ---- counting ---- */

memory_count memory_count_open(const lattice *like, place where)
{
    char message[512];
    const int pool = POOL_COUNTED(where);
    memory_count c = {.where = where, .before = pool_in_use(pool)};
    pool_trim(pool);
    pool_forget_peak(pool);
    log_silence(1);
    c.lat = plan_lattice(like->size, like->grid, comm_group_size(like->group), like->reach, message, sizeof message);
    REQUIRE(c.lat, "%s", message);
    return c;
}

size_t memory_count_close(const memory_count *c)
{
    log_silence(0);
    exchange_forget_planned();
    return pool_peak(POOL_COUNTED(c->where)) - c->before;
}

size_t memory_of_solver(const quark_params *f, const solver_settings *s, int rhs, const lattice *lat, place where)
{
    const memory_count count = memory_count_open(lat, where);
    const int pool = POOL_COUNTED(where);
    field *links = field_create(count.lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, where);
    fermion *quark = quark_kind_of(f)->make(links, f, NULL, 0);
    linop *system = fermion_system(quark, solver_needs_positive(s));
    field *b = linop_vector(system, rhs), *x = field_like(b);
    /* Copies of the operator in other precisions are its own, not the solver's. */
    for (int prec = 0; prec < PREC_COUNT; prec++) linop_refresh(linop_at(system, (precision)prec, where));
    pool_forget_peak(pool);
    const size_t before = pool_in_use(pool);
    solver *by = solver_create(s, system);
    solver_solve(by, x, b, NULL);
    const size_t bytes = pool_peak(pool) - before;
    solver_destroy(by);
    field_destroy(x);
    field_destroy(b);
    fermion_destroy(quark);
    field_destroy(links);
    lattice_destroy(count.lat);
    memory_count_close(&count);
    return bytes;
}

/* ---- what there is ---- */

/* Caches of HDF5 files, rows, and what the allocator leaves between blocks: resident once a history and a checkpoint were
 * written, 7 to 10 MiB with HDF5 1.10, Open MPI 4.1 and glibc 2.36. */
#define FILES_BYTES ((size_t)10 << 20)

size_t memory_runtime(place where)
{
    static size_t host;
    if (where == PLACE_DEVICE) return gpu_context_bytes();
    if (!host) {
        threads_start();
        host = (size_t)machine_resident() + FILES_BYTES;
    }
    return host;
}

size_t memory_fields_peak(place where)
{
    /* Tables on the device come from the pool. */
    return pool_peak(where) + (where == PLACE_HOST ? lattice_table_peak() : gpu_beside_pool_peak());
}

size_t memory_peak(place where)
{
    if (where == PLACE_HOST) return (size_t)machine_resident_peak();
    return pool_held_peak(where) + gpu_beside_pool_peak() + gpu_context_bytes();
}

double memory_there(place where)
{
    return where == PLACE_DEVICE ? gpu_memory() : comm_memory();
}

int memory_lacks(const lattice *lat, double bytes, place where, char *message, size_t size)
{
    char need[32], have[32];
    const double there = memory_there(where);
    bytes += (double)memory_runtime(where);
    snprintf(message, size,
             "the lattice %d.%d.%d.%d on grid %d.%d.%d.%d takes %s per rank, and %s has %s%s: use more nodes, "
             "or a smaller lattice",
             lat->size[0], lat->size[1], lat->size[2], lat->size[3], lat->grid[0], lat->grid[1], lat->grid[2],
             lat->grid[3], text_bytes(bytes, need), where == PLACE_DEVICE ? "its GPU" : "this machine",
             text_bytes(there, have), where == PLACE_DEVICE ? "" : " for each of its ranks");
    return comm_any_bad(there > 0 && bytes > there, message, size);
}
