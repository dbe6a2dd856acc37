/* plaq check, of lattice files, propagators and gauge transformations, and plaq convert, of lattice files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/command/commands.h"
#include "io/links/links.h"
#include "io/links/links_check.h"
#include "io/history/output_file.h"
#include "io/history/propagator_file.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/base/param.h"
#include "kernels/base/utf8.h"
#include "kernels/lattice/comm.h"

/* Verdicts as they stand in JSON and in the table, and their exit status. */
static const struct {
    const char *name, *text;
    int status;
} verdicts[] = {[CHECK_WHOLE] = {"whole", "whole", 0},
                [CHECK_ODD] = {"odd", "ODD", EXIT_ODD_FILE},
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
    json_string(&j, "remark", r->info.remark[0] ? r->info.remark : NULL);
    json_string(&j, "format", r->info.format);
    json_int_array(&j, "size", r->info.size, 4);
    json_int(&j, "bits", r->info.precision_bits);
    json_bool(&j, "header_ok", r->header_ok);
    json_finding(&j, "checksum_ok", r->checksum_ok);
    json_real(&j, "plaquette", read ? r->info.found_plaquette : NAN);
    json_real(&j, "recorded_plaquette", r->info.has_plaquette ? r->info.plaquette : NAN);
    json_real(&j, "link_trace", read ? r->info.found_link_trace : NAN);
    json_real(&j, "recorded_link_trace", r->info.has_link_trace ? r->info.link_trace : NAN);
    if (r->info.has_sequence) json_int(&j, "sequence", r->info.sequence);
    else json_string(&j, "sequence", NULL);
    json_string(&j, "ensemble", r->info.ensemble[0] ? r->info.ensemble : NULL);
    json_string(&j, "lfn", r->info.lfn[0] ? r->info.lfn : NULL);
    json_string(&j, "parameters", r->info.parameters[0] ? r->info.parameters : NULL);
    json_finding(&j, "unitary", read ? r->unitary : -1);
    json_real(&j, "max_unitarity", read ? r->max_unitarity : NAN);
    json_real(&j, "max_determinant", read ? r->max_determinant : NAN);
    json_bool(&j, "open_boundary", r->info.open_boundary);
    json_int(&j, "nonfinite", (int64_t)r->info.nonfinite);
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

/* Nothing where there is no text; each line after the first under it. */
static void print_text(const char *name, const char *text)
{
    char line[1024], printable[1024];
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        utf8_printable(printable, sizeof printable, line);
        printf("  %-12s %s\n", at == text ? name : "", printable);
    }
}

static void print_table(const char *path, const check_report *r)
{
    char name[1024];
    utf8_printable(name, sizeof name, path);
    printf("%s: %s\n", name, verdicts[r->verdict].text);
    if (r->message[0]) printf("  finding      %s\n", r->message);
    if (r->info.remark[0]) printf("  remark       %s\n", r->info.remark);
    if (!r->header_ok) return;
    printf("  format       %s, %d.%d.%d.%d, %d bits, %d rows\n", r->info.format, r->info.size[0], r->info.size[1],
           r->info.size[2], r->info.size[3], r->info.precision_bits, r->info.rows);
    if (!r->links_read) return;
    printf("  checksum     %s\n", checksum_text(r));
    printf("  plaquette    %.12f, recorded: %s\n", r->info.found_plaquette, yes_no(r->info.plaquette_ok));
    printf("  link_trace   %.12f, recorded: %s\n", r->info.found_link_trace, yes_no(r->info.link_trace_ok));
    if (r->info.has_sequence) printf("  trajectory   %d\n", r->info.sequence);
    print_text("ensemble", r->info.ensemble);
    print_text("name", r->info.lfn);
    print_text("parameters", r->info.parameters);
    printf("  unitarity    %.1e, det %.1e: %s\n", r->max_unitarity, r->max_determinant,
           r->unitary ? "links are in SU(3)" : "links are not in SU(3)");
    if (r->info.nonfinite) printf("  not finite   %llu numbers\n", (unsigned long long)r->info.nonfinite);
    printf("  digest       %s\n", r->digest);
}

/* ---- propagators and gauge transformations ---- */

typedef struct {
    check_verdict verdict;
    int checksum_ok; /* 1 right, 0 wrong, -1 not known */
    char message[512];
} propagator_report;

static void print_propagator_json(const char *path, const propagator_file *f, const propagator_report *r)
{
    json j = json_begin(stdout);
    json_string(&j, "file", path);
    json_string(&j, "verdict", verdicts[r->verdict].name);
    json_string(&j, "message", r->message);
    json_string(&j, "format", f->is_transformation ? "transformation" : "propagator");
    json_string(&j, "layout", propagator_file_format(f));
    json_int_array(&j, "size", f->size, 4);
    json_int(&j, "bits", f->bits);
    if (!f->is_transformation) json_int(&j, "columns", f->columns);
    if (!f->is_transformation) json_int(&j, "spins", f->spins);
    json_finding(&j, "checksum_ok", r->checksum_ok);
    if (f->trajectory >= 0) json_int(&j, "sequence", f->trajectory);
    else json_string(&j, "sequence", NULL);
    json_string(&j, "links", f->links[0] ? f->links : NULL);
    json_string(&j, "identity", f->identity);
    json_end(&j);
}

static void print_propagator(const char *path, const propagator_file *f, const propagator_report *r)
{
    char name[1024];
    utf8_printable(name, sizeof name, path);
    printf("%s: %s\n", name, verdicts[r->verdict].text);
    if (r->message[0]) printf("  finding      %s\n", r->message);
    printf("  format       %s (%s), %d.%d.%d.%d, %d bits", f->is_transformation ? "gauge transformation" : "propagator",
           propagator_file_format(f), f->size[0], f->size[1], f->size[2], f->size[3], f->bits);
    if (!f->is_transformation) printf(", %d columns of %d numbers", f->columns, 3 * f->spins);
    printf("\n");
    if (r->checksum_ok >= 0) printf("  checksum     %s\n", yes_no(r->checksum_ok));
    if (f->trajectory >= 0) printf("  trajectory   %lld\n", (long long)f->trajectory);
    printf("  links        %s\n", f->links[0] ? f->links : "not told");
    print_text("identity", f->identity);
}

/* Reads all of a propagator that was looked at. */
static propagator_report check_propagator(const char *path, const propagator_file *f)
{
    static const int any_grid[4];
    int grid[4];
    const int *s = f->size;
    propagator_report r = {.verdict = CHECK_UNCHECKED, .checksum_ok = -1};
    if ((s[0] | s[1] | s[2] | s[3]) % 2 || !lattice_choose_grid(s, comm_size(), grid)) {
        snprintf(r.message, sizeof r.message, "%.200s: %d ranks cannot share a lattice of %d.%d.%d.%d; take fewer",
                 path, comm_size(), s[0], s[1], s[2], s[3]);
        return r;
    }
    lattice *lat = lattice_create(f->size, any_grid, 1, 1);
    const int bits = propagator_file_read(path, f, lat, NULL, r.message, sizeof r.message);
    r.verdict = bits & LINKS_NO_ACCESS ? CHECK_UNCHECKED : bits ? CHECK_DAMAGED : CHECK_WHOLE;
    if (!(bits & LINKS_UNREADABLE) && f->has_checksum) r.checksum_ok = !bits;
    if (!bits && (f->oddity[0] || !f->has_checksum)) {
        r.verdict = CHECK_ODD;
        snprintf(r.message, sizeof r.message, "%.200s: %s", path, f->oddity[0] ? f->oddity : "no checksum");
    }
    lattice_destroy(lat);
    return r;
}

static check_verdict judge_propagator(const char *path, propagator_file *f, int json_wanted)
{
    const propagator_report r = check_propagator(path, f);
    if (comm_rank() == 0 && json_wanted) print_propagator_json(path, f, &r);
    else if (comm_rank() == 0) print_propagator(path, f, &r);
    propagator_file_free(f);
    return r.verdict;
}

/* ---- check ---- */

/* A file that cannot be read may be either; one that is no propagator with a whole header is judged as links. */
static check_verdict check_file(const char *path, const int size[4], int json_wanted)
{
    check_report r = {.verdict = CHECK_UNCHECKED, .checksum_ok = -1};
    propagator_file f;
    const int bits = propagator_file_look(path, &f, r.message, sizeof r.message);
    if (!bits) return judge_propagator(path, &f, json_wanted);
    if (!(bits & LINKS_NO_ACCESS)) links_check(path, size, &r);
    if (comm_rank() == 0 && json_wanted) print_json(path, &r);
    else if (comm_rank() == 0) print_table(path, &r);
    return r.verdict;
}

int command_check(int argc, char **argv)
{
    int json_wanted = 0, size[4];
    const char *size_text = NULL;
    check_verdict worst = CHECK_WHOLE;
    const command_flag flags[] = {{"--json", &json_wanted, NULL, "one JSON object a file"}, FLAG_SIZE(&size_text)};
    plain_arguments a = command_arguments(argc, argv, flags, 2, 1, -1);
    log_keep_stdout_clean(json_wanted);
    command_size(argv[0], size_text, size);
    for (int i = 0; i < a.nplain; i++) {
        const check_verdict verdict = check_file(a.plain[i], size, json_wanted);
        if (verdict > worst) worst = verdict;
        if (comm_rank() == 0) fflush(stdout);
    }
    command_arguments_free(&a);
    return verdicts[worst].status;
}

/* ---- convert ---- */

/* Reads the file as plaq check does, and stops where that finds damage. Links that are not in SU(3) are copied when a
 * checksum vouches for them: fat and long links are such. */
static void read_whole(field *u, const char *in, int ignore_recorded, int rows, links_info *info)
{
    char message[1024] = "";
    check_report report = {0};
    int bits = links_read(u, in, info, message, sizeof message);
    if (bits == LINKS_BAD_RECORDED && ignore_recorded) {
        log_warn("%s; the copy records what is computed, as --ignore-recorded says", message);
        bits = 0;
    } else if (bits == LINKS_BAD_RECORDED) {
        user_error("%s: the links are damaged or in another order; --ignore-recorded copies them all the same",
                   message);
    }
    report.info = *info;
    const check_verdict verdict = links_judge(u, in, bits, message, &report);
    if (verdict == CHECK_DAMAGED || verdict == CHECK_UNCHECKED) user_error("%s; nothing was written", report.message);
    if (verdict == CHECK_ODD) log_warn("%s", report.message);
    if (report.info.remark[0]) log_warn("%s: %s", in, report.info.remark);
    if (!report.unitary && rows == 2)
        user_error("%s: the links are not in SU(3), so two rows do not hold them; leave out --rows 2", in);
    if (!report.unitary)
        log_warn(
            "%s: the links are not in SU(3) (off unitarity by %.2e, determinant by %.2e) and are copied as they are, "
            "since the checksum is right",
            in, report.max_unitarity, report.max_determinant);
}

/* Flags of the copy on the command line; NULL where there are none. */
typedef struct {
    const char *format, *bits, *rows, *trajectory, *ensemble, *lfn, *size;
} convert_words;

/* Metadata of the copy, but for the plaquette. */
static links_meta meta_of(const convert_words *w, const char *format, const links_info *info)
{
    char why[160];
    links_meta meta = command_meta(info);
    if (w->ensemble) meta.ensemble = w->ensemble;
    meta.sequence = command_integer("convert", "--trajectory", w->trajectory, 0, 999999999, meta.sequence);
    meta.lfn = w->lfn ? w->lfn : info->lfn[0] ? info->lfn : NULL;
    meta.bits = command_integer("convert", "--bits", w->bits, 32, 64, 0);
    meta.rows = command_integer("convert", "--rows", w->rows, 2, 3, 3);
    if (meta.bits % 32) user_error("plaq convert: --bits %d: 32 or 64 is allowed", meta.bits);
    if (links_format_layout(format, meta.bits, meta.rows, why, sizeof why)) user_error("plaq convert: %s", why);
    if (w->lfn && !links_format_carries_lfn(format))
        user_error("plaq convert: --lfn is given, but files of format %s have no place for it; only those of ildg do",
                   format);
    if ((w->ensemble || w->trajectory) && !links_format_carries_names(format))
        user_error("plaq convert: %s is given, but files of format %s have no place for it",
                   w->ensemble ? "--ensemble" : "--trajectory", format);
    command_warn_of_loss(info, &meta, format);
    return meta;
}

int command_convert(int argc, char **argv)
{
    convert_words w = {0};
    int ignore_recorded = 0, size[4];
    char written[256], help[320];
    snprintf(help, sizeof help, "the format, otherwise by the ending of OUT: %s",
             links_formats_written(written, sizeof written));
    const command_flag flags[] = {
        {"--format", NULL, &w.format, help},
        {"--bits", NULL, &w.bits, "bits of the numbers, 32 or 64; default as many as the format has"},
        {"--rows", NULL, &w.rows, "rows of a link, 3 (default), or 2 in format nersc"},
        {"--trajectory", NULL, &w.trajectory, "trajectory number, instead of the one in IN"},
        {"--ensemble", NULL, &w.ensemble, "name of the ensemble, instead of the one in IN"},
        {"--lfn", NULL, &w.lfn, "logical file name, in format ildg"},
        FLAG_SIZE(&w.size),
        FLAG_IGNORE_RECORDED(&ignore_recorded)};
    plain_arguments a = command_arguments(argc, argv, flags, (int)(sizeof flags / sizeof flags[0]), 2, 2);
    const char *in = a.plain[0], *out = a.plain[1], *format = command_format(argv[0], out, w.format);
    char message[1024], digest[65];
    links_info info;
    const int automatic[4] = {0, 0, 0, 0};
    command_size(argv[0], w.size, size);
    if (output_file_check(out, OUTPUT_LINKS, in, message, sizeof message)) user_error("plaq convert: %s", message);
    if (links_probe(in, &info, message, sizeof message) ||
        links_settle_size(&info, in, size, "--size", message, sizeof message))
        user_error("%s", message);
    lattice *lat = lattice_create(info.size, automatic, 1, 1);
    field *u = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    links_meta meta = meta_of(&w, format, &info);
    read_whole(u, in, ignore_recorded, meta.rows, &info);
    meta.plaquette = info.found_plaquette;
    if (links_write(u, out, format, &meta, message, sizeof message)) user_error("%s", message);
    links_digest(u, digest);
    log_info("%s (%s) -> %s (%s): plaquette %.12f, digest %s", in, info.format, out, format, meta.plaquette, digest);
    field_destroy(u);
    lattice_destroy(lat);
    command_arguments_free(&a);
    return 0;
}
