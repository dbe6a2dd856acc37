#include "kernels/run/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/run/exchange.h"

/* Rounds, and calls in each. */
#define ROUNDS 3
#define CALLS 20

#define HEAD TUNE_START "4, %s\n"

typedef struct {
    tune_key key;
    int way;
    int serial; /* group that knows it (comm_group_serial()), or EVERYBODY */
    double seconds;
} known_case;

#define EVERYBODY (-1)

static tune_mode mode;
static char head[256];
static known_case *known;
static int nknown, room, measured;
static double spent;

void tune_start(tune_mode wanted, const char *machine)
{
    mode = wanted;
    snprintf(head, sizeof head, HEAD, machine);
    nknown = measured = 0;
    spent = 0;
}

static const known_case *find(const tune_key *key, int serial)
{
    for (int i = 0; i < nknown; i++)
        if ((known[i].serial == EVERYBODY || known[i].serial == serial) && !memcmp(&known[i].key, key, sizeof *key))
            return &known[i];
    return NULL;
}

static void keep(const known_case *c)
{
    if (nknown == room) {
        room = room ? 2 * room : 64;
        known = realloc(known, (size_t)room * sizeof *known);
        REQUIRE_MEMORY(known, "out of memory for %d tuned cases", room);
    }
    known[nknown++] = *c;
}

static const char *subject_name(int i)
{
    return i == TUNE_EXCHANGE ? "exchange" : i == TUNE_TRANSPORT ? "transport" : kernel_infos[i].name;
}

static void try_all(known_case *c, const comm_group *group, int candidates, double (*seconds)(int, void *), void *of)
{
    c->way = TUNE_BY_RULE;
    c->seconds = INFINITY;
    for (int way = 0; way < candidates; way++) {
        double took = seconds(way, of);
        comm_group_max(group, &took, 1);
        if (took < c->seconds) {
            c->seconds = took;
            c->way = way;
        }
    }
    log_debug("tuned %s in %s on %d.%d.%d.%d, variant %d, %d right-hand side%s: way %d of %d, %.2f us",
              subject_name(c->key.subject), precision_names[c->key.prec], c->key.size[0], c->key.size[1],
              c->key.size[2], c->key.size[3], c->key.variant, c->key.rhs, c->key.rhs > 1 ? "s" : "", c->way, candidates,
              1e6 * c->seconds);
}

/* Measurements nest: one trial may ask for another. */
static void measure(known_case *c, const comm_group *group, int candidates, double (*seconds)(int, void *), void *of)
{
    static int depth;
    if (depth == 0) gpu_finish(); /* earlier work is no trial */
    const double start = comm_wtime();
    double bytes[2], waited[2];
    exchange_counted(&bytes[0], &waited[0]);
    kernel_counts_pause(1);
    depth++;
    try_all(c, group, candidates, seconds, of);
    depth--;
    kernel_counts_pause(0);
    exchange_counted(&bytes[1], &waited[1]);
    exchange_count(bytes[0] - bytes[1], waited[0] - waited[1]);
    if (depth == 0) spent += comm_wtime() - start;
}

double tune_spent(void)
{
    return spent;
}

int tune_choice(const tune_key *key, const comm_group *group, int candidates, double (*seconds)(int way, void *of),
                void *of)
{
    if (mode == TUNE_ESTIMATE) return TUNE_BY_RULE;
    const int serial = group == comm_world() ? EVERYBODY : comm_group_serial(group);
    const known_case *c = find(key, serial);
    if (c) return c->way < candidates ? c->way : TUNE_BY_RULE;
    if (mode == TUNE_FILE) return TUNE_BY_RULE;
    known_case new = {.key = *key, .serial = serial};
    measure(&new, group, candidates, seconds, of);
    if (new.seconds == 0) return TUNE_BY_RULE; /* no rank has work: the case stays unknown */
    keep(&new);
    measured++;
    return new.way;
}

tune_key tune_case(int subject, int prec, const geom *g, int variant, int rhs)
{
    for (int d = 0; d < 4; d++) variant = 2 * variant + (g->split[d] != 0);
    return (tune_key){subject, prec, {g->sub[0], g->sub[1], g->sub[2], g->sub[3]}, variant, rhs};
}

double tune_seconds(const comm_group *group, void (*once)(void *of), void *of)
{
    double best = INFINITY;
    once(of); /* takes memory, and makes the choices within */
    for (int round = 0; round < ROUNDS; round++) {
        gpu_finish();
        comm_group_barrier(group);
        const double start = comm_wtime();
        for (int i = 0; i < CALLS; i++) once(of);
        gpu_finish();
        best = fmin(best, comm_wtime() - start);
    }
    return best / CALLS;
}

char *tune_text(void)
{
    if (measured == 0) return NULL;
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    REQUIRE_MEMORY(f, "out of memory for %d tuned cases", nknown);
    fputs(head, f);
    for (int i = 0; i < nknown; i++) {
        const tune_key *k = &known[i].key;
        fprintf(f, "%s %s %d.%d.%d.%d %d %d %d %.2f\n", subject_name(k->subject), precision_names[k->prec], k->size[0],
                k->size[1], k->size[2], k->size[3], k->variant, k->rhs, known[i].way, 1e6 * known[i].seconds);
    }
    fclose(f);
    return text;
}

static int named(const char *name, int n, const char *(*name_of)(int))
{
    for (int i = 0; i < n; i++)
        if (!strcmp(name_of(i), name)) return i;
    return -1;
}

static const char *precision_name(int i)
{
    return precision_names[i];
}

static int read_case(const char *line, known_case *c)
{
    char subject[64], prec[64];
    memset(c, 0, sizeof *c);
    tune_key *k = &c->key;
    c->serial = EVERYBODY;
    if (sscanf(line, "%63s %63s %d.%d.%d.%d %d %d %d %lf", subject, prec, &k->size[0], &k->size[1], &k->size[2],
               &k->size[3], &k->variant, &k->rhs, &c->way, &c->seconds) != 10)
        return 0;
    k->subject = named(subject, TUNE_SUBJECTS, subject_name);
    k->prec = named(prec, PREC_COUNT, precision_name);
    c->seconds *= 1e-6;
    return k->subject >= 0 && k->prec >= 0 && c->way >= TUNE_BY_RULE;
}

int tune_read(const char *text, int *line)
{
    *line = 1;
    if (strncmp(text, head, strlen(head))) return 0;
    for (const char *s = strchr(text, '\n'); s && s[1]; s = strchr(s + 1, '\n')) {
        known_case c;
        ++*line;
        if (!read_case(s + 1, &c)) return -1;
        if (!find(&c.key, EVERYBODY)) keep(&c);
    }
    return 1;
}
