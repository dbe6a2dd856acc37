#include "hmc/record/stretch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hmc/assemble/threads.h"
#include "hmc/assemble/changes.h"
#include "hmc/assemble/identity.h"
#include "kernels/base/device.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"

#define STRETCHES "stretches/"
#define SESSIONS "sessions/"

/* ---- reading ---- */

int stretch_value(const char *text, const char *key, char *value, size_t size)
{
    const size_t n = strlen(key);
    value[0] = 0;
    for (const char *line = text; line && *line && *line != '\n'; line = strchr(line, '\n'), line += line != NULL) {
        if (strncmp(line, key, n) || strncmp(line + n, " = ", 3)) continue;
        snprintf(value, size, "%.*s", (int)strcspn(line + n + 3, "\n"), line + n + 3);
        return 1;
    }
    return 0;
}

const char *stretch_parameters(const char *text)
{
    const char *gap = strstr(text, "\n\n");
    return gap ? gap + 2 : "";
}

int64_t stretch_physics_first(const char *const *texts, int n)
{
    char value[32];
    int k = n - 1;
    for (int physics = 0; k > 0; k--) {
        param_text differences = {0}, methods = {0};
        physics =
            changes_between(stretch_parameters(texts[k - 1]), stretch_parameters(texts[k]), &differences, &methods);
        param_text_free(&differences);
        param_text_free(&methods);
        if (physics) break;
    }
    return n > 0 && stretch_value(texts[k], "first", value, sizeof value) ? atoll(value) : 1;
}

/* First trajectory of the same physics, from the texts of a history. */
static int64_t physics_first(const history *h)
{
    char name[HISTORY_NAME], **texts = NULL;
    int n = 0;
    for (int i = 0; history_texts(h, i, name); i++) {
        if (strncmp(name, STRETCHES, strlen(STRETCHES))) continue;
        texts = realloc(texts, (size_t)(n + 1) * sizeof *texts);
        REQUIRE_MEMORY(texts, "out of memory: %d stretches", n);
        texts[n++] = history_get_text(h, name);
    }
    const int64_t first = stretch_physics_first((const char *const *)texts, n);
    for (int k = 0; k < n; k++) free(texts[k]);
    free(texts);
    return first;
}

/* The number of the last text of this kind, 0 when there is none; its text, unless NULL, to be freed. */
static int last_of(const history *h, const char *kind, char **text)
{
    char name[HISTORY_NAME];
    int last = 0;
    if (text) *text = NULL;
    for (int i = 0; history_texts(h, i, name); i++)
        if (!strncmp(name, kind, strlen(kind))) last = atoi(name + strlen(kind));
    snprintf(name, sizeof name, "%s%06d", kind, last);
    if (text && last > 0) *text = history_get_text(h, name);
    return last;
}

/* ---- writing ---- */

static int put(history *h, const char *kind, int number, const char *text, char *message, size_t size)
{
    char name[HISTORY_NAME];
    snprintf(name, sizeof name, "%s%06d", kind, number);
    return history_text(h, name, text, message, size);
}

static void add_head(param_text *text, const simulation *s, int64_t first)
{
    char host[128] = "", date[32];
    const time_t now = time(NULL);
    struct tm utc;
    gethostname(host, sizeof host - 1);
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    const int *g = s->lat->grid, here = comm_node_size();
    param_text_add(text, "first = %" PRId64 "\nprogram = %s\ncompilers = %s\n", first, identity_of_program(),
                   identity_of_compilers());
    param_text_add(text, "host = %s\nnodes = %d\nranks = %d\nthreads = %d\ngrid = %d.%d.%d.%d\n", host,
                   (comm_size() + here - 1) / here, comm_size(), threads_now(), g[0], g[1], g[2], g[3]);
    param_text_add(text, "device = %s\ndate = %s\n", s->links->where == PLACE_DEVICE ? gpu_name() : "CPU", date);
}

static int begin_stretch(stretch_state *state, history *h, const simulation *s, int64_t done, const char *before,
                         char *message, size_t size)
{
    param_text physics = {0}, methods = {0}, text = {0};
    char value[32];
    if (before) changes_between(stretch_parameters(before), s->p->dump, &physics, &methods);
    int bad = 0;
    if (!before || physics.length || methods.length) {
        state->stretch++;
        state->first = done + 1;
        add_head(&text, s, state->first);
        param_text_add(&text, "\n%s", s->p->dump);
        bad = put(h, STRETCHES, state->stretch, text.data, message, size);
        if (done > 0 && !bad)
            log_info(
                "parameter block %d begins with trajectory %lld: %s restart there; rows before keep the parameters that they "
                "were made with (stretches of history.h5)",
                state->stretch, (long long)state->first,
                physics.length ? "all averages" : "acceptance, <exp(-dH)> and times, not averages of physics,");
    } else {
        stretch_value(before, "first", value, sizeof value);
        state->first = atoll(value);
    }
    param_text_free(&physics);
    param_text_free(&methods);
    param_text_free(&text);
    return bad;
}

int stretch_open(stretch_state *state, history *h, const simulation *s, int64_t done, char *message, size_t size)
{
    char *text, value[32];
    *state = (stretch_state){0};
    for (;;) {
        state->stretch = last_of(h, STRETCHES, &text);
        if (!text || (stretch_value(text, "first", value, sizeof value) && atoll(value) <= done)) break;
        free(text);
        if (put(h, STRETCHES, state->stretch, NULL, message, size)) return -1;
    }
    const int bad = begin_stretch(state, h, s, done, text, message, size);
    free(text);
    state->physics_first = physics_first(h);
    state->session = last_of(h, SESSIONS, NULL) + 1;
    add_head(&state->session_head, s, done + 1);
    param_text_add(&state->session_head, "stretch = %d\n", state->stretch);
    return bad || stretch_note(state, h, done, 0, message, size) ? -1 : 0;
}

int stretch_note(const stretch_state *state, history *h, int64_t last, double seconds, char *message, size_t size)
{
    param_text text = {0};
    param_text_add(&text, "%slast = %" PRId64 "\nseconds = %.0f\n", state->session_head.data, last, seconds);
    const int bad = put(h, SESSIONS, state->session, text.data, message, size);
    param_text_free(&text);
    return bad;
}
