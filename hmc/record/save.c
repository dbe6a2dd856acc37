#include "hmc/record/save.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/atomic.h"
#include "io/links.h"
#include "kernels/lattice/comm.h"

/* Headers and records of any format, generously. */
#define HEADER_BYTES 65536

int save_due(const parameters *p, int64_t trajectory)
{
    return p->save.interval > 0 && trajectory > 0 && trajectory >= p->save.from && trajectory % p->save.interval == 0;
}

int64_t save_count(const parameters *p)
{
    const save_params *s = &p->save;
    if (s->interval == 0) return 0;
    const int64_t before = s->from > 0 ? (s->from - 1) / s->interval : 0, all = p->run.trajectories / s->interval;
    return all > before ? all - before : 0;
}

uint64_t save_bytes(const int size[4])
{
    return (uint64_t)size[0] * (uint64_t)size[1] * (uint64_t)size[2] * (uint64_t)size[3] * 576 + HEADER_BYTES;
}

/* 1 when the file is there and holds these links, 0 when there is none, -1 with a message. */
static int is_there(const char *path, const field *links, char *message, size_t size)
{
    char here[65], there[65];
    int found = comm_rank() == 0 ? access(path, F_OK) == 0 : 0;
    comm_bcast(&found, sizeof found);
    if (!found) return 0;
    field *u = field_create(links->lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    const int bad = links_read(u, path, NULL, message, size);
    links_digest(links, here);
    links_digest(u, there);
    field_destroy(u);
    if (bad) return -1;
    if (!strcmp(here, there)) return 1;
    snprintf(
        message, size,
        "%s: holds other links than this run has after that trajectory (digest %.16s..., the run's %.16s...); it is "
        "of another run, so move it away",
        path, there, here);
    return -1;
}

int save_configuration(const parameters *p, const field *links, int64_t trajectory, double plaquette, char *message,
                       size_t size)
{
    char folder[ATOMIC_PATH], path[ATOMIC_PATH];
    char ending[16];
    links_format_ending(p->save.format, ending);
    int n = snprintf(folder, sizeof folder, "%s/" SAVE_FOLDER, p->run.output);
    n += snprintf(path, sizeof path, "%s/configuration-%06" PRId64 "%s", folder, trajectory, ending);
    REQUIRE(n < ATOMIC_PATH, "name of a configuration in %s is too long", p->run.output);
    const int bad = comm_rank() == 0 && atomic_make_folder(folder, NULL, message, size);
    if (comm_any_bad(bad, message, size)) return -1;
    const int there = is_there(path, links, message, size);
    if (there) return there;
    const links_meta meta = {.has_plaquette = 1,
                             .plaquette = plaquette,
                             .ensemble = p->save.ensemble[0] ? p->save.ensemble : NULL,
                             .sequence = (int)trajectory};
    if (links_write(links, path, p->save.format, &meta, message, size)) return -1;
    snprintf(message, size, "%s", path);
    return 0;
}
