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
#include "kernels/base/utf8.h"
#include "kernels/gauge.h"
#include "kernels/lattice/comm.h"

static double plaquette_of(field *u)
{
    return gauge_measure(u, 0).plaquette;
}

/* By verdict: in JSON, in the table, and the exit status. */
static const struct {
    const char *name, *text;
    int status;
} verdicts[] = {[CHECK_WHOLE] = {"whole", "whole", 0},
                [CHECK_ODD] = {"odd", "ODD", EXIT_CHECK_FAILED},
                [CHECK_DAMAGED] = {"damaged", "DAMAGED", EXIT_CHECK_FAILED},
                [CHECK_UNCHECKED] = {"unchecked", "CANNOT BE CHECKED", EXIT_USER_ERROR}};

/* Null where there is nothing to be right or wrong. */
static void json_finding(json *j, const char *name, int ok)
{
    if (ok < 0) json_string(j, name, NULL);
    else json_bool(j, name, ok);
}

static void print_json(const char *path, const check_report *r)
{
    const int read = r->links_read;
    json j = json_begin(stdout);
    json_string(&j, "file", path);
    json_string(&j, "verdict", verdicts[r->verdict].name);
    json_string(&j, "message", r->message);
    json_string(&j, "format", r->info.format);
    json_int_array(&j, "size", r->info.size, 4);
    json_int(&j, "bits", r->info.precision_bits);
    json_bool(&j, "header_ok", r->header_ok);
    json_finding(&j, "checksum_ok", r->checksum_ok);
    json_real(&j, "plaquette", read ? r->plaquette : NAN);
    json_real(&j, "recorded_plaquette", r->info.has_plaquette ? r->info.plaquette : NAN);
    json_real(&j, "link_trace", read ? r->link_trace : NAN);
    json_real(&j, "recorded_link_trace", r->info.has_link_trace ? r->info.link_trace : NAN);
    json_finding(&j, "unitary", read ? r->unitary : -1);
    json_real(&j, "max_unitarity", read ? r->max_unitarity : NAN);
    json_real(&j, "max_determinant", read ? r->max_determinant : NAN);
    json_int(&j, "nonfinite", (int64_t)r->nonfinite);
    json_string(&j, "digest", read ? r->digest : NULL);
    json_end(&j);
}

static const char *yes_no(int ok)
{
    return ok > 0 ? "right" : ok == 0 ? "WRONG" : "none in the file";
}

static const char *checksum_text(const check_report *r)
{
    if (r->checksum_ok >= 0) return yes_no(r->checksum_ok);
    return links_format_has_checksum(r->info.format) ? "none in this file, so only coarse damage can be found"
                                                     : "none in this format, so only coarse damage can be found";
}

static void print_table(const char *path, const check_report *r)
{
    char name[1024];
    utf8_printable(name, sizeof name, path);
    printf("%s: %s\n", name, verdicts[r->verdict].text);
    if (r->message[0]) printf("  finding      %s\n", r->message);
    if (!r->header_ok) return;
    printf("  format       %s, %d.%d.%d.%d, %d bits\n", r->info.format, r->info.size[0], r->info.size[1],
           r->info.size[2], r->info.size[3], r->info.precision_bits);
    if (!r->links_read) return;
    printf("  checksum     %s\n", checksum_text(r));
    printf("  plaquette    %.12f, recorded: %s\n", r->plaquette, yes_no(r->plaquette_ok));
    printf("  link_trace   %.12f, recorded: %s\n", r->link_trace, yes_no(r->link_trace_ok));
    printf("  unitarity    %.1e, det %.1e: %s\n", r->max_unitarity, r->max_determinant,
           r->unitary ? "links are in SU(3)" : "links are not in SU(3)");
    if (r->nonfinite) printf("  not finite   %llu numbers\n", (unsigned long long)r->nonfinite);
    printf("  digest       %s\n", r->digest);
}

int command_check(int argc, char **argv)
{
    int json_wanted = 0, worst = 0;
    const command_flag flags[] = {{"--json", &json_wanted, NULL, "one JSON object a file"}};
    plain_arguments a = command_arguments(argc, argv, flags, 1, 1, -1);
    log_keep_stdout_clean(json_wanted);
    for (int i = 0; i < a.nplain; i++) {
        check_report r;
        const int status = verdicts[links_check(a.plain[i], plaquette_of, &r)].status;
        if (status > worst) worst = status;
        if (comm_rank() != 0) continue;
        if (json_wanted) print_json(a.plain[i], &r);
        else print_table(a.plain[i], &r);
        fflush(stdout);
    }
    command_arguments_free(&a);
    return worst;
}

/* ---- convert ---- */

/* The format to write: as asked, or by the ending of the name. */
static const char *format_of(const char *path, const char *asked)
{
    char written[256];
    if (!asked) {
        const char *format = links_format_of_ending(path);
        if (format) return format;
        user_error("plaq convert: the ending of %s names no format; give it an ending of these, or --format: %s", path,
                   links_formats_written(written, sizeof written));
    }
    const char *names[16], *name;
    int n = 0;
    for (int i = 0; (name = links_format_name(i)) && n < 16; i++)
        if (links_format_writes(name)) names[n++] = name;
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], asked)) return names[i];
    const char *nearest = param_nearest(asked, names, n);
    user_error("plaq convert: format '%s' cannot be written; these can: %s%s%s%s", asked,
               links_formats_written(written, sizeof written), nearest ? "; did you mean " : "", nearest ? nearest : "",
               nearest ? "?" : "");
}

int command_convert(int argc, char **argv)
{
    const char *asked = NULL;
    char written[256], help[320];
    snprintf(help, sizeof help, "the format, otherwise by the ending of OUT: %s",
             links_formats_written(written, sizeof written));
    const command_flag flags[] = {{"--format", NULL, &asked, help}};
    plain_arguments a = command_arguments(argc, argv, flags, 1, 2, 2);
    const char *in = a.plain[0], *out = a.plain[1], *format = format_of(out, asked);
    char message[1024], digest[65];
    links_info info;
    const int automatic[4] = {0, 0, 0, 0};
    if (links_probe(in, &info, message, sizeof message)) user_error("%s", message);
    lattice *lat = lattice_create(info.size, automatic, 1, 1);
    field *u = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    if (links_read(u, in, &info, message, sizeof message)) user_error("%s", message);
    const links_meta meta = {.has_plaquette = 1, .plaquette = plaquette_of(u)};
    if (links_write(u, out, format, &meta, message, sizeof message)) user_error("%s", message);
    links_digest(u, digest);
    log_info("%s (%s) -> %s (%s): plaquette %.12f, digest %s", in, info.format, out, format, meta.plaquette, digest);
    field_destroy(u);
    lattice_destroy(lat);
    command_arguments_free(&a);
    return 0;
}
