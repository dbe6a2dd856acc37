/* Boundaries in time: what they need of the other sections, and what does not go with them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/assemble/parameters.h"
#include "hmc/measure/observable.h"
#include "hmc/sources/source.h"

time_boundary parameters_time(const parameters *p)
{
    const char *name = p->lattice.time_boundary;
    return !strcmp(name, "open") ? TIME_OPEN : !strcmp(name, "schroedinger") ? TIME_SCHROEDINGER : TIME_PERIODIC;
}

int parameters_start_reads(const parameters *p)
{
    return !strcmp(p->run.start, "file") || !strcmp(p->run.start, "cut");
}

/* Keys of bounded lattices without such a lattice. */
static void check_periodic(ini_input *in, const parameters *p)
{
    static const char *const rest =
        "is of lattices with [lattice] time_boundary = open or schroedinger; give that, or leave it out";
    if (!strcmp(p->run.start, "cut"))
        ini_mistake(in, "%s: [run] start = cut %s (start = file reads a configuration as it is)",
                    ini_where(in, "run", NULL, "start"), rest);
    if (ini_given(in, "gauge", NULL, "c_G"))
        ini_mistake(in, "%s: [gauge] c_G %s", ini_where(in, "gauge", NULL, "c_G"), rest);
    for (int i = 0; i < p->nquarks; i++)
        if (ini_given(in, "quark", p->quarks[i].name, "c_F"))
            ini_mistake(in, "%s: [quark.%s] c_F %s", ini_where(in, "quark", p->quarks[i].name, "c_F"),
                        p->quarks[i].name, rest);
}

static void check_gauge(ini_input *in, const parameters *p)
{
    const gauge_weights w = gauge_params_weights(&p->gauge);
    if (parameters_time(p) == TIME_SCHROEDINGER && (w.rectangle[0] != 0 || w.rectangle[1] != 0 || w.rectangle[2] != 0))
        ini_mistake(
            in,
            "%s: [gauge] action = %s has rectangles, whose weights at walls are not there; with time_boundary = "
            "schroedinger take action = wilson",
            ini_where(in, "gauge", NULL, "action"), p->gauge.action);
    if (gauge_params_weights(&p->gauge).parallelogram != 0)
        ini_mistake(in,
                    "%s: [gauge] action = %s has parallelograms, which have no weights at the ends of time; with "
                    "time_boundary = %s take an action of plaquettes and rectangles, such as symanzik",
                    ini_where(in, "gauge", NULL, "action"), p->gauge.action, p->lattice.time_boundary);
}

static void check_quarks(ini_input *in, const parameters *p)
{
    for (int i = 0; i < p->nquarks; i++) {
        const named_quark *q = &p->quarks[i];
        if (!quark_kind_of(&q->p)->bounded)
            ini_mistake(in,
                        "%s: [quark.%s] kind = %s is for lattices that are periodic in time; with time_boundary = %s "
                        "take wilson_clover, twisted_mass, twisted_doublet or mobius",
                        ini_where(in, "quark", q->name, "kind"), q->name, q->p.kind, p->lattice.time_boundary);
    }
}

const char *parameters_source_at_end(const parameters *p, const named_source *s, int slices, char *message, size_t size)
{
    int place[4];
    source_place(&s->p, place);
    if (parameters_time(p) == TIME_PERIODIC || (place[3] != 0 && place[3] != slices - 1)) return NULL;
    const char *key = source_kind_has(s->p.kind, "place") ? "place" : "time";
    snprintf(message, size,
             "%s: [source.%s] %s is on time slice %d, an end of time_boundary = %s, where quark fields vanish; take a "
             "slice from 1 to N_t - 2",
             ini_where(p->input, "source", s->name, key), s->name, key, place[3], p->lattice.time_boundary);
    return key;
}

static void check_sources(ini_input *in, const parameters *p)
{
    char message[1024];
    for (int i = 0; i < p->nsources; i++)
        if (parameters_source_at_end(p, &p->sources[i], p->lattice.size[3], message, sizeof message))
            ini_mistake(in, "%s", message);
}

static void check_measurements(ini_input *in, const parameters *p)
{
    for (int i = 0; i < p->nmeasures; i++) {
        const named_measure *m = &p->measures[i];
        const observable *o = observable_find(m->p.kind);
        if (o->periodic)
            ini_mistake(in, "%s: [measure.%s] kind = %s is for lattices that are periodic in time: %s",
                        ini_where(in, "measure", m->name, "kind"), m->name, o->name, o->periodic);
    }
}

/* Three angles that make a matrix of SU(3). */
static void read_phases(ini_input *in, const char *key, char *text, double phases[3])
{
    char word[PARAM_WORDS_SIZE];
    int n = 0, bad = 0;
    for (; param_word(text, n, word, sizeof word); n++) bad = bad || n > 2 || param_real(word, &phases[n]);
    if (bad || n != 3) {
        ini_mistake(in, "%s: [lattice] %s = %s is not three angles, such as -0.5235987755982988 0 0.5235987755982988",
                    ini_where(in, "lattice", NULL, key), key, text);
        return;
    }
    const double sum = phases[0] + phases[1] + phases[2];
    if (fabs(remainder(sum, 2 * M_PI)) > 1e-12)
        ini_mistake(in, "%s: [lattice] %s = %s add up to %.16g, and links of SU(3) need a multiple of 2 pi",
                    ini_where(in, "lattice", NULL, key), key, text, sum);
}

static void check_walls(ini_input *in, parameters *p)
{
    static const char *const keys[] = {"low_phases", "up_phases"};
    for (int i = 0; i < 2; i++) {
        if (parameters_time(p) == TIME_SCHROEDINGER)
            read_phases(in, keys[i], i ? p->lattice.up_phases : p->lattice.low_phases, p->lattice.phases[i]);
        else if (ini_given(in, "lattice", NULL, keys[i]))
            ini_mistake(in, "%s: [lattice] %s is of time_boundary = schroedinger; give that, or leave it out",
                        ini_where(in, "lattice", NULL, keys[i]), keys[i]);
    }
}

static void check_need_of_walls(ini_input *in, const parameters *p)
{
    for (int i = 0; i < p->nmeasures; i++) {
        const named_measure *m = &p->measures[i];
        if (observable_find(m->p.kind)->walls)
            ini_mistake(in, "%s: [measure.%s] kind = %s needs [lattice] time_boundary = schroedinger, and it is %s",
                        ini_where(in, "measure", m->name, "kind"), m->name, m->p.kind, p->lattice.time_boundary);
    }
}

void time_parameters_check(ini_input *in, parameters *p)
{
    check_walls(in, p);
    if (parameters_time(p) != TIME_SCHROEDINGER) check_need_of_walls(in, p);
    if (parameters_time(p) == TIME_PERIODIC) {
        check_periodic(in, p);
    } else {
        const int t = p->lattice.size[3];
        if (t != 0 && t < 4)
            ini_mistake(in, "%s: [lattice] size: %d time slices are too few for time_boundary = %s; it needs 4",
                        ini_where(in, "lattice", NULL, "size"), t, p->lattice.time_boundary);
        check_gauge(in, p);
        check_quarks(in, p);
        check_sources(in, p);
        check_measurements(in, p);
    }
    ini_judge(in);
}
