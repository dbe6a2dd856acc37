#include "hmc/assemble/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/files/atomic.h"
#include "io/history/output_file.h"
#include "io/files/regular.h"
#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"
#include "kernels/run/tune.h"

#define FILE_MAX ((uint64_t)16 << 20)

static char cache[ATOMIC_PATH];

/* Text of a file, which rank 0 reads for all ranks; null where there is no such file. */
static char *read_shared(const char *path)
{
    char *text = NULL;
    const char *why = NULL;
    int64_t bytes = -1;
    if (comm_rank() == 0 && access(path, F_OK) == 0) {
        uint64_t length;
        text = regular_read(path, FILE_MAX, &length, &why);
        bytes = text ? (int64_t)strlen(text) : -2;
    }
    comm_bcast(&bytes, sizeof bytes);
    if (bytes == -2)
        user_error("tuning file %s: %s; remove it, or name another one as tune_file", path, why ? why : "");
    if (bytes < 0) return NULL;
    if (!text) text = calloc((size_t)bytes + 1, 1);
    REQUIRE_MEMORY(text, "out of memory for %lld bytes", (long long)bytes);
    comm_bcast(text, (size_t)bytes);
    return text;
}

void tuning_open(tune_mode mode, const char *path, const char *machine)
{
    const int measure = mode == TUNE_MEASURE, wanted = mode != TUNE_ESTIMATE;
    char message[1024];
    char kind[256] = ""; /* GPU of rank 0, as all ranks have to take the same text */
    snprintf(kind, sizeof kind, "%s", machine);
    comm_bcast(kind, sizeof kind);
    tune_start(mode, kind);
    if (!wanted) return;
    if (measure && output_file_check(path, OUTPUT_TUNING, NULL, message, sizeof message))
        user_error("tuning file %s", message);
    char *text = read_shared(path);
    if (!text && !measure) user_error("tune = file, but there is no file %s; make one with tune = measure", path);
    int line;
    const int taken = text ? tune_read(text, &line) : 1;
    if (taken < 0)
        user_error("tuning file %s, line %d: not a case (subject precision X.Y.Z.T variant rhs way microseconds); "
                   "remove the file",
                   path, line);
    if (taken == 0)
        log_warn("tuning file %s is of another machine or version of plaq (this is a %s); it is not used%s", path, kind,
                 measure ? ", and will be replaced" : "");
    free(text);
    if (measure) snprintf(cache, sizeof cache, "%s", path);
}

/* A hop and a norm, which stand for the messages and the sums of a run. */
typedef struct {
    const lattice *lat;
    field *links, *in, *out; /* null until they are needed */
    char times[512];         /* times of the transports, for the log */
} transport_trial;

static void make_fields(transport_trial *t)
{
    t->links = field_create(t->lat, FIELD_LINKS_TWO_ROWS, PREC_SINGLE, PARITY_BOTH, 1, PLACE_DEVICE);
    t->in = field_create(t->lat, FIELD_SPINOR, PREC_SINGLE, PARITY_ODD, 1, PLACE_DEVICE);
    t->out = field_create(t->lat, FIELD_SPINOR, PREC_SINGLE, PARITY_EVEN, 1, PLACE_DEVICE);
}

static void hop_and_norm(void *of)
{
    const transport_trial *t = of;
    const wilson_hop_call call = {.form = HOP_PLAIN, .a = 1, .sign = 1, .links = t->links};
    wilson_hop(t->out, PARITY_EVEN, t->in, &call);
    vector_norm2(t->out, 0);
}

static double transport_seconds(int way, void *of)
{
    transport_trial *t = of;
    const char *name = gpu_transport_number(way);
    const size_t used = strlen(t->times);
    char message[512];
    if (gpu_transport_choose(name, message, sizeof message)) return INFINITY;
    if (!t->links) make_fields(t);
    double took = tune_seconds(comm_world(), hop_and_norm, t);
    comm_max(&took, 1);
    snprintf(t->times + used, sizeof t->times - used, "%s%s %.1f us", used ? ", " : "", name, 1e6 * took);
    return took;
}

int tuning_has_transport(void)
{
    return comm_size() > 1 && !(comm_delay() > 0);
}

void tuning_transport(const lattice *lat)
{
    char message[512];
    int n = 0;
    if (!tuning_has_transport()) return;
    while (gpu_transport_number(n)) n++;
    /* A build may lack a transport, and between nodes others are the fastest. */
    double most = comm_node_size();
    comm_max(&most, 1);
    const int variant = ((int)most * 2 + (most < comm_size())) * 16 + n;
    const tune_key key = tune_case(TUNE_TRANSPORT, PREC_SINGLE, &lattice_layout(lat, 1)->g, variant, 1);
    transport_trial t = {.lat = lat};
    const int way = tune_choice(&key, comm_world(), n, transport_seconds, &t);
    field_destroy(t.out);
    field_destroy(t.in);
    field_destroy(t.links);
    if (way == TUNE_BY_RULE) return;
    const char *name = gpu_transport_number(way);
    if (!strcmp(name, gpu_transport_name()) || !gpu_transport_choose(name, message, sizeof message)) {
        log_info("halos by %s, the fastest%s%s", name, t.times[0] ? " for a hop and a norm on this lattice: " : "",
                 t.times);
        return;
    }
    log_warn("the tuner's choice for halos: %s", message);
    if (gpu_transport_choose("auto", message, sizeof message)) user_error("%s", message);
    log_info("halos by %s", gpu_transport_name());
}

void tuning_discard(void)
{
    cache[0] = 0;
}

void tuning_close(void)
{
    char message[1024], *text = cache[0] ? tune_text() : NULL;
    if (text && comm_rank() == 0 && atomic_write(cache, text, strlen(text), message, sizeof message))
        log_warn("the tuner's choices are not kept: %s", message);
    free(text);
    tuning_discard();
}
