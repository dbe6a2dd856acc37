/* Boundaries in time: what they need of the other sections, and what does not go with them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/assemble/parameters.h"
#include "hmc/observables/observable.h"
#include "hmc/quarks/quark_wilson.h"
#include "hmc/sources/source.h"

time_boundary parameters_time(const parameters *p)
{
    static const time_boundary time[] = {[BOUNDARY_ANTIPERIODIC] = TIME_PERIODIC,
                                         [BOUNDARY_PERIODIC] = TIME_PERIODIC,
                                         [BOUNDARY_OPEN] = TIME_OPEN,
                                         [BOUNDARY_SCHROEDINGER] = TIME_SCHROEDINGER,
                                         [BOUNDARY_OPEN_SCHROEDINGER] = TIME_OPEN_SCHROEDINGER};
    return time[p->lattice.time_boundary];
}

const char *parameters_boundary(const parameters *p)
{
    static const char *const names[] = {LATTICE_BOUNDARIES(PARAM_TEXT)};
    return names[p->lattice.time_boundary];
}

const char *parameters_start(const parameters *p)
{
    static const char *const names[] = {RUN_STARTS(PARAM_TEXT)};
    return names[p->run.start];
}

int parameters_start_reads(const parameters *p)
{
    return p->run.start == START_FILE || p->run.start == START_CUT;
}

/* A key of a section whose lattice has to be of another kind. */
static void refuse_key(ini_input *in, const char *section, const char *name, const char *key, const char *of)
{
    if (ini_given(in, section, name, key))
        ini_mistake(in, "%s: [%s%s%s] %s is of lattices with [lattice] time_boundary = %s; give that, or leave it out",
                    ini_where(in, section, name, key), section, name ? "." : "", name ? name : "", key, of);
}

/* Keys of bounded lattices without such a lattice. */
static void check_periodic(ini_input *in, const parameters *p)
{
    static const char bounded[] = "open, schroedinger or open-schroedinger";
    if (p->lattice.idle_slices) refuse_key(in, "lattice", NULL, "idle_slices", bounded);
    if (p->run.start == START_CUT)
        ini_mistake(in,
                    "%s: [run] start = cut is of lattices with [lattice] time_boundary = %s; give that, or leave it "
                    "out (start = file reads a configuration as it is)",
                    ini_where(in, "run", NULL, "start"), bounded);
    refuse_key(in, "gauge", NULL, "c_G", bounded);
    refuse_key(in, "gauge", NULL, "wall_rectangles", bounded);
    for (int i = 0; i < p->nquarks; i++) refuse_key(in, "quark", p->quarks[i].name, "c_F", bounded);
}

/* Coefficients of the upper end, where it is of another kind than the lower one. */
static void settle_ends(ini_input *in, parameters *p)
{
    static const char of[] = "open-schroedinger";
    const int differ = parameters_time(p) == TIME_OPEN_SCHROEDINGER;
    if (!differ) refuse_key(in, "gauge", NULL, "c_G_upper", of);
    p->gauge.ends_differ = differ;
    for (int i = 0; i < p->nquarks; i++) {
        wilson_keys *k = quark_keys(&p->quarks[i].p, &wilson_part);
        if (!differ) refuse_key(in, "quark", p->quarks[i].name, "c_F_upper", of);
        if (k) k->ends_differ = differ;
    }
}

static void check_gauge(ini_input *in, const parameters *p)
{
    const gauge_weights w = gauge_params_weights(&p->gauge);
    if (ini_given(in, "gauge", NULL, "wall_rectangles") &&
        (w.rectangle[1] == 0 || !time_has_wall(parameters_time(p), 1)))
        ini_mistake(in,
                    "%s: [gauge] wall_rectangles is of actions with rectangles at the walls of time_boundary = "
                    "schroedinger or open-schroedinger; leave it out with action = %s, time_boundary = %s",
                    ini_where(in, "gauge", NULL, "wall_rectangles"), gauge_kind_of(&p->gauge)->name,
                    parameters_boundary(p));
    if (w.parallelogram != 0)
        ini_mistake(in,
                    "%s: [gauge] action = %s has parallelograms, which have no weights at the ends of time; with "
                    "time_boundary = %s take an action of plaquettes and rectangles, such as symanzik",
                    ini_where(in, "gauge", NULL, "action"), gauge_kind_of(&p->gauge)->name, parameters_boundary(p));
}

static void check_quarks(ini_input *in, const parameters *p)
{
    for (int i = 0; i < p->nquarks; i++) {
        const named_quark *q = &p->quarks[i];
        if (!quark_kind_of(&q->p)->bounded)
            ini_mistake(in,
                        "%s: [quark.%s] kind = %s is for lattices that are periodic in time; with time_boundary = %s "
                        "take wilson_clover, twisted_mass, twisted_doublet or mobius",
                        ini_where(in, "quark", q->name, "kind"), q->name, quark_kind_of(&q->p)->name,
                        parameters_boundary(p));
    }
}

const char *parameters_source_at_end(const parameters *p, const named_source *s, int slices, char *message, size_t size)
{
    int place[4];
    source_place(&s->p, place);
    const int last = slices - 1 - p->lattice.idle_slices;
    if (parameters_time(p) == TIME_PERIODIC || source_kind_of(&s->p)->all_times ||
        (place[3] > 0 && (slices == 0 || place[3] < last)))
        return NULL;
    const char *key = source_kind_has(source_kind_of(&s->p), "place") ? "place" : "time";
    snprintf(message, size,
             "%s: [source.%s] %s is on time slice %d, an end of time_boundary = %s, where quark fields vanish; take a "
             "slice from 1 to N_t - %d",
             ini_where(p->input, "source", s->name, key), s->name, key, place[3], parameters_boundary(p),
             2 + p->lattice.idle_slices);
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
        const observable *o = observable_of(&m->p);
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
    static const char *const keys[] = {"low_phases", "up_phases"}, *const of[] = {"schroedinger",
                                                                                  "schroedinger or open-schroedinger"};
    for (int i = 0; i < 2; i++) {
        if (time_has_wall(parameters_time(p), i))
            read_phases(in, keys[i], i ? p->lattice.up_phases : p->lattice.low_phases, p->lattice.phases[i]);
        else refuse_key(in, "lattice", NULL, keys[i], of[i]);
    }
}

static void check_need_of_walls(ini_input *in, const parameters *p)
{
    for (int i = 0; i < p->nmeasures; i++) {
        const named_measure *m = &p->measures[i];
        if (observable_of(&m->p)->walls)
            ini_mistake(in, "%s: [measure.%s] kind = %s needs [lattice] time_boundary = schroedinger, and it is %s",
                        ini_where(in, "measure", m->name, "kind"), m->name, observable_of(&m->p)->name,
                        parameters_boundary(p));
    }
}

void time_parameters_check(ini_input *in, parameters *p)
{
    check_walls(in, p);
    settle_ends(in, p);
    if (parameters_time(p) != TIME_SCHROEDINGER) check_need_of_walls(in, p);
    if (parameters_time(p) == TIME_PERIODIC) {
        check_periodic(in, p);
    } else {
        const int t = p->lattice.size[3];
        const int least = 4 + 2 * p->lattice.idle_slices;
        if (t != 0 && t < least)
            ini_mistake(in, "%s: [lattice] size: %d time slices are too few for time_boundary = %s; it needs %d",
                        ini_where(in, "lattice", NULL, "size"), t, parameters_boundary(p), least);
        check_gauge(in, p);
        check_quarks(in, p);
        check_sources(in, p);
        check_measurements(in, p);
    }
    ini_judge(in);
}
