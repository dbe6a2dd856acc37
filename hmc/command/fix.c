/* plaq fix: a configuration in Coulomb or Landau gauge.
 *
 * The gauge transformation is found by over-relaxation (operators/gauge_fixing.h), or read from a file of an earlier fixing
 * (--apply), and applied to the links once, in double precision. --transformation writes it
 * (io/history/propagator_file.h), before the links, with the digests of the links before and after it. The log has functional and gradient of every hundredth iteration. Where the iterations do not suffice nothing
 * is written, and the exit status is EXIT_CHECK_FAILED. */
#include <stdio.h>
#include <string.h>

#include "hmc/assemble/identity.h"
#include "hmc/assemble/simulation.h"
#include "hmc/command/commands.h"
#include "io/history/output_file.h"
#include "io/history/propagator_file.h"
#include "io/links/links.h"
#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/base/param.h"
#include "kernels/base/watchdog.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"
#include "operators/gauge_fixing.h"

#define INTERVAL 10       /* iterations from one look at theta to the next */
#define TELL_INTERVAL 100 /* iterations from one line of the log to the next */
#define WATCHDOG_SECONDS 1800

/* Flags on the command line; NULL where there are none. */
typedef struct {
    const char *gauge, *over_relaxation, *tolerance, *iterations, *device, *format, *size, *transformation, *apply;
} words;

/* A real number of the command line in [low, high). */
static double real_of(const char *name, const char *text, double low, double high, double none)
{
    double value;
    if (!text) return none;
    if (param_real(text, &value) || !(value >= low && value < high))
        user_error("plaq fix: %s %s: give a number from %g to below %g", name, text, low, high);
    return value;
}

static gauge_fixing_settings settings_of(const words *w)
{
    static const char *const gauges[] = {"coulomb", "landau"};
    if (!w->gauge && w->apply) return (gauge_fixing_settings){0};
    if (!w->gauge) user_error("plaq fix: no gauge; give --gauge coulomb or --gauge landau");
    return (gauge_fixing_settings){.directions = 3 + command_choice("fix", "--gauge", w->gauge, gauges, 2),
                                   .over_relaxation = real_of("--over-relaxation", w->over_relaxation, 1, 2, 1.7),
                                   .tolerance = real_of("--tolerance", w->tolerance, 1e-28, 1, 1e-14),
                                   .max_iterations =
                                       command_integer("fix", "--iterations", w->iterations, 1, 1000000000, 20000),
                                   .interval = INTERVAL};
}

static place place_of(const char *device)
{
    static const char *const devices[] = {"cpu", "gpu"};
    char message[512];
    if (command_choice("fix", "--device", command_device(device), devices, 2) == 0) return PLACE_HOST;
    if (gpu_bind(1, message, sizeof message)) user_error("plaq fix: %s", message);
    if (comm_size() > 1 && gpu_transport_choose("auto", message, sizeof message)) user_error("plaq fix: %s", message);
    return PLACE_DEVICE;
}

/* Progress of the fixing, and where it stands. */
typedef struct {
    int iteration;
    gauge_gradient now;
} progress;

static void tell(void *context, int iteration, const gauge_gradient *now)
{
    progress *p = context;
    if (iteration % TELL_INTERVAL == 0)
        log_info("iteration %d: functional %.12f, theta %.3e", iteration, now->functional, now->theta);
    *p = (progress){iteration, *now};
}

/* The flags of a fixing and of a transformation that is read exclude each other. */
static void check_words(const words *w)
{
    const char *const of_fixing[] = {w->gauge, w->over_relaxation, w->tolerance, w->iterations, w->transformation};
    static const char *const names[] = {"--gauge", "--over-relaxation", "--tolerance", "--iterations",
                                        "--transformation"};
    for (int i = 0; i < 5; i++)
        if (w->apply && of_fixing[i])
            user_error("plaq fix: --apply takes the transformation of an earlier fixing, and %s is of a new one; leave "
                       "one of them away",
                       names[i]);
    if (w->transformation && !propagator_file_takes_transformation(w->transformation))
        user_error("plaq fix: --transformation %s: gauge transformations are HDF5 files; give a name in .h5",
                   w->transformation);
}

/* The file --transformation can be written, and is neither IN nor OUT. */
static void check_transformation(const char *path, const char *in, const char *out)
{
    char message[1024];
    if (!path) return;
    if (!strcmp(path, out)) user_error("plaq fix: --transformation %s is OUT; give another name", path);
    if (output_file_check(path, OUTPUT_TRANSFORMATION, in, message, sizeof message))
        user_error("plaq fix: --transformation %s", message);
}

/* Writes g with what it is of; `before` is the digest of the links that it was found for, `fixed` are those after it. */
static void write_transformation(const field *g, const char *before, const field *fixed, const words *w,
                                 const gauge_fixing_settings *s, const progress *p, const links_info *info)
{
    char message[1024], after[65];
    param_text identity = {0};
    links_digest(fixed, after);
    param_text_add(&identity,
                   "gauge = %s\nover_relaxation = %.17g\ntolerance = %.17g\niterations = %d\nfunctional = %.17g\n"
                   "theta = %.17g\nlinks_fixed = %s\n",
                   w->gauge, s->over_relaxation, s->tolerance, p->iteration, p->now.functional, p->now.theta, after);
    propagator_file f = {.bits = 64, .trajectory = info->has_sequence ? info->sequence : -1, .identity = identity.data};
    snprintf(f.links, sizeof f.links, "%s", before);
    if (propagator_file_write(w->transformation, g, &f, identity_of_program(), message, sizeof message))
        user_error("%s", message);
    param_text_free(&identity);
    log_info("-> %s: the gauge transformation", w->transformation);
}

/* Fixes the links in place: 0, or 1 where the iterations did not suffice. */
static int fix(field *links, const gauge_fixing_settings *s, progress *p, const words *w, const links_info *info)
{
    char before[65];
    field *g = field_create(links->lat, FIELD_COLOUR_MATRIX, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    gauge_cold(g);
    const int failed = gauge_fixing(g, links, s, tell, p);
    if (!failed && w->transformation) links_digest(links, before);
    if (!failed) gauge_rotate(links, links, g);
    if (!failed && w->transformation) write_transformation(g, before, links, w, s, p, info);
    field_destroy(g);
    return failed;
}

/* Rotates the links in place by the transformation of a file, which is of these links. */
static void apply(field *links, const char *path)
{
    char message[1024], digest[65];
    propagator_file f;
    if (propagator_file_look(path, &f, message, sizeof message)) user_error("plaq fix: --apply %s", message);
    if (!f.is_transformation)
        user_error("plaq fix: --apply %s is a propagator, and not a gauge transformation of plaq fix", path);
    links_digest(links, digest);
    const int *a = f.size, *b = links->lat->size;
    if (memcmp(a, b, sizeof f.size))
        user_error("plaq fix: --apply %s is of a lattice of %d.%d.%d.%d sites, and the configuration has %d.%d.%d.%d",
                   path, a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]);
    if (strcmp(f.links, digest))
        user_error("plaq fix: --apply %s is of another configuration (links %.12s..., and these are %.12s...)", path,
                   f.links, digest);
    field *g = field_create(links->lat, FIELD_COLOUR_MATRIX, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    if (propagator_file_read(path, &f, links->lat, g, message, sizeof message))
        user_error("plaq fix: --apply %s", message);
    gauge_rotate(links, links, g);
    propagator_file_free(&f);
    field_destroy(g);
}

/* Reads a configuration of a periodic lattice, or of one with open ends in time. */
static void read(lattice *lat, field *links, const char *in, int ignore_recorded)
{
    char message[2048], other[2048];
    if (!simulation_read(links, in, ignore_recorded, NULL, message, sizeof message)) return;
    if (lat->size[3] < 4) user_error("%s", message);
    lattice_bound(lat, TIME_OPEN);
    if (simulation_read(links, in, ignore_recorded, NULL, other, sizeof other)) user_error("%s", message);
    log_info("%s: open boundaries in time", in);
}

static void write(const field *links, const char *out, const char *format, const links_info *info)
{
    char message[1024], digest[65];
    links_meta meta = command_meta(info);
    meta.plaquette = gauge_measure(links, 0).plaquette;
    command_warn_of_loss(info, &meta, format);
    if (links_write(links, out, format, &meta, message, sizeof message)) user_error("%s", message);
    links_digest(links, digest);
    log_info("-> %s (%s): plaquette %.12f, digest %s", out, format, meta.plaquette, digest);
}

int command_fix(int argc, char **argv)
{
    words w = {0};
    int ignore_recorded = 0;
    char written[256], help[320];
    snprintf(help, sizeof help, "the format, otherwise by the ending of OUT: %s",
             links_formats_written(written, sizeof written));
    const command_flag flags[] = {
        {"--gauge", NULL, &w.gauge, "coulomb (links in space) or landau (all links); has to be given, but for --apply"},
        {"--tolerance", NULL, &w.tolerance,
         "largest theta = sum tr D D^dagger / 3V, D the divergence of the field; default 1e-14"},
        {"--over-relaxation", NULL, &w.over_relaxation, "from 1 to below 2, default 1.7; 1: none"},
        {"--iterations", NULL, &w.iterations, "at most so many over all sites, default 20000"},
        {"--transformation", NULL, &w.transformation, "HDF5 file to write the gauge transformation to, too"},
        {"--apply", NULL, &w.apply, "file of a gauge transformation of IN, which is applied in place of a new fixing"},
        {"--device", NULL, &w.device, "cpu or gpu; default gpu where every rank finds one"},
        {"--format", NULL, &w.format, help},
        FLAG_SIZE(&w.size),
        FLAG_IGNORE_RECORDED(&ignore_recorded)};
    plain_arguments a = command_arguments(argc, argv, flags, (int)(sizeof flags / sizeof flags[0]), 2, 2);
    const char *in = a.plain[0], *out = a.plain[1], *format = command_format(argv[0], out, w.format);
    check_words(&w);
    const gauge_fixing_settings s = settings_of(&w);
    const int automatic[4] = {0, 0, 0, 0};
    char message[2048];
    links_info info;
    int size[4];
    command_size(argv[0], w.size, size);
    if (output_file_check(out, OUTPUT_LINKS, in, message, sizeof message)) user_error("plaq fix: %s", message);
    check_transformation(w.transformation, in, out);
    if (links_probe(in, &info, message, sizeof message) ||
        links_settle_size(&info, in, size, "--size", message, sizeof message))
        user_error("%s", message);
    watchdog_start(WATCHDOG_SECONDS, comm_rank());
    const place where = place_of(w.device);
    lattice *lat = lattice_create(info.size, automatic, 1, 1);
    field *links = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, where);
    read(lat, links, in, ignore_recorded);
    progress p = {0};
    const int failed = w.apply ? (apply(links, w.apply), 0) : fix(links, &s, &p, &w, &info);
    if (failed) {
        log_error("%s: theta is %.3e after %d iterations, above %.1e; give more --iterations, another "
                  "--over-relaxation, or a larger --tolerance; nothing was written",
                  in, p.now.theta, p.iteration, s.tolerance);
    } else {
        if (w.apply) log_info("%s: after the gauge transformation of %s", in, w.apply);
        else
            log_info("%s: %s gauge after %d iterations: functional %.12f, theta %.3e", in, w.gauge, p.iteration,
                     p.now.functional, p.now.theta);
        write(links, out, format, &info);
    }
    field_destroy(links);
    lattice_destroy(lat);
    command_arguments_free(&a);
    return failed ? EXIT_CHECK_FAILED : 0;
}
