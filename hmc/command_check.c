/* plaq check and plaq convert: lattice files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/commands.h"
#include "io/links.h"
#include "io/links_check.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/base/param.h"
#include "kernels/gauge.h"
#include "kernels/lattice/comm.h"

static double plaquette_of(field *u)
{
    return gauge_measure(u, 0).plaquette;
}

static const char *yes_no(int ok)
{
    return ok > 0 ? "right" : ok == 0 ? "WRONG" : "none in the file";
}

static const char *verdict_name(check_verdict v)
{
    return v == CHECK_WHOLE ? "whole" : v == CHECK_ODD ? "odd" : "damaged";
}

static void print_json(const char *path, const check_report *r)
{
    json j = json_begin(stdout);
    json_string(&j, "file", path);
    json_string(&j, "verdict", verdict_name(r->verdict));
    json_string(&j, "message", r->message);
    json_string(&j, "format", r->info.format);
    json_int_array(&j, "size", r->info.size, 4);
    json_int(&j, "bits", r->info.precision_bits);
    json_bool(&j, "header_ok", r->header_ok);
    json_int(&j, "checksum_ok", r->checksum_ok);
    json_real(&j, "plaquette", r->plaquette);
    json_real(&j, "recorded_plaquette", r->info.has_plaquette ? r->info.plaquette : NAN);
    json_real(&j, "link_trace", r->link_trace);
    json_real(&j, "recorded_link_trace", r->info.has_link_trace ? r->info.link_trace : NAN);
    json_bool(&j, "unitary", r->unitary);
    json_real(&j, "max_unitarity", r->max_unitarity);
    json_real(&j, "max_determinant", r->max_determinant);
    json_int(&j, "nonfinite", (int64_t)r->nonfinite);
    json_string(&j, "digest", r->digest);
    json_end(&j);
}

static void print_table(const char *path, const check_report *r)
{
    printf("%s: %s\n", path, r->verdict == CHECK_WHOLE ? "whole" : r->verdict == CHECK_ODD ? "ODD" : "DAMAGED");
    if (r->message[0]) printf("  finding      %s\n", r->message);
    if (!r->header_ok) return;
    printf("  format       %s, %d.%d.%d.%d, %d bits\n", r->info.format, r->info.size[0], r->info.size[1],
           r->info.size[2], r->info.size[3], r->info.precision_bits);
    printf("  checksum     %s\n", yes_no(r->checksum_ok));
    printf("  plaquette    %.12f, recorded: %s\n", r->plaquette, yes_no(r->plaquette_ok));
    printf("  link_trace   %.12f, recorded: %s\n", r->link_trace, yes_no(r->link_trace_ok));
    printf("  unitarity    %.1e, det %.1e: %s\n", r->max_unitarity, r->max_determinant,
           r->unitary ? "links are in SU(3)" : "links are not in SU(3)");
    if (r->nonfinite) printf("  not finite   %llu numbers\n", (unsigned long long)r->nonfinite);
    printf("  digest       %s\n", r->digest);
}

int command_check(int argc, char **argv)
{
    int json_wanted = 0, bad = 0;
    const command_flag flags[] = {{"--json", &json_wanted, NULL, "one JSON object a file"}};
    plain_arguments a = command_arguments(argc, argv, flags, 1, 1, -1);
    log_keep_stdout_clean(json_wanted);
    for (int i = 0; i < a.nplain; i++) {
        check_report r;
        bad = links_check(a.plain[i], plaquette_of, &r) != CHECK_WHOLE || bad;
        if (comm_rank() != 0) continue;
        if (json_wanted) print_json(a.plain[i], &r);
        else print_table(a.plain[i], &r);
        fflush(stdout);
    }
    command_arguments_free(&a);
    return bad ? EXIT_CHECK_FAILED : 0;
}

/* ---- convert ---- */

/* The format to write: as asked, or by the ending of the name. */
static const char *format_of(const char *path, const char *asked)
{
    const char *names[16];
    int n = 0;
    for (int i = 0; links_format_name(i) && n < 16; i++)
        if (links_format_writes(links_format_name(i))) names[n++] = links_format_name(i);
    const char *ending = strrchr(path, '.');
    if (!asked && ending && (!strcmp(ending, ".lime") || !strcmp(ending, ".ildg"))) return "ildg";
    if (!asked && ending && !strcmp(ending, ".nersc")) return "nersc";
    if (!asked && ending && (!strcmp(ending, ".h5") || !strcmp(ending, ".hdf5"))) return "hdf5";
    for (int i = 0; asked && i < n; i++)
        if (!strcmp(names[i], asked)) return asked;
    if (!asked)
        user_error("plaq convert: the ending of %s names no format; end it in .lime, .ildg, .nersc or .h5, or give "
                   "--format ildg, "
                   "nersc or hdf5",
                   path);
    const char *nearest = param_nearest(asked, names, n);
    user_error("plaq convert: format '%s' cannot be written; ildg, nersc and hdf5 can%s%s%s", asked,
               nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

int command_convert(int argc, char **argv)
{
    const char *asked = NULL;
    const command_flag flags[] = {{"--format", NULL, &asked, "ildg, nersc or hdf5; otherwise by the ending of OUT"}};
    plain_arguments a = command_arguments(argc, argv, flags, 1, 2, 2);
    const char *in = a.plain[0], *out = a.plain[1], *format = format_of(out, asked);
    char message[1024], digest[65];
    links_info info;
    const int automatic[4] = {0, 0, 0, 0};
    if (links_probe(in, &info, message, sizeof message)) user_error("%s", message);
    lattice *lat = lattice_create(info.size, automatic, 1, 1);
    field *u = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    if (links_read(u, in, &info, message, sizeof message)) user_error("%s", message);
    const links_meta meta = {1, plaquette_of(u), NULL, 0};
    if (links_write(u, out, format, &meta, message, sizeof message)) user_error("%s", message);
    links_digest(u, digest);
    log_info("%s (%s) -> %s (%s): plaquette %.12f, digest %s", in, info.format, out, format, meta.plaquette, digest);
    field_destroy(u);
    lattice_destroy(lat);
    command_arguments_free(&a);
    return 0;
}
