/* Propagators as SciDAC files, LIME records as QIO writes them, for Chroma, QUDA and other programs: one record of lattice data,
 * a site being the matrix [spin][source spin][colour][source colour][re, im] of big-endian numbers in the DeGrand-Rossi basis, or
 * [colour][source colour] of quarks without spin (the order of LatticePropagator of QDP++; typesize is that of the matrix, and
 * datacount 1).
 *
 * Files of plaq have in scidac-file-xml, as <parameters>, the lines of the identity and before them file.links, file.trajectory and
 * file.solves (values of all solves in a row), and a last record that seals the others (io/links/lime_seal.h). Files of other
 * programs say nothing of the kind: their identity and links are empty. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/history/propagator_format.h"
#include "io/links/lime_records.h"
#include "io/links/lime_seal.h"
#include "io/links/lime_write.h"

#define BINARY "scidac-binary-data"

static const char links_key[] = "file.links = ", trajectory_key[] = "file.trajectory = ",
                  solves_key[] = "file.solves =";

static int site_bytes(const propagator_file *f)
{
    return 6 * f->spins * f->columns * f->bits / 8;
}

/* ---- writing ---- */

static lime_texts compose(const propagator_file *f, const char *program)
{
    lime_texts all = {0};
    param_text parameters = {0};
    char date[64];
    const char precision = f->bits == 64 ? 'D' : 'F';
    param_text_add(&parameters, "%s%s\n%s%lld\n%s", links_key, f->links, trajectory_key, (long long)f->trajectory,
                   solves_key);
    for (int i = 0; i < f->nsolves * PROPAGATOR_VALUES; i++)
        param_text_add(&parameters, " %.17g", f->solves[i / PROPAGATOR_VALUES][i % PROPAGATOR_VALUES]);
    param_text_add(&parameters, "\n%s", f->identity);
    lime_add_file(&all, f->size, "propagator", program, parameters.data);
    param_text_free(&parameters);
    lime_date(date);
    param_text_add(lime_add_text(&all, "scidac-private-record-xml", LIME_BEGIN),
                   LIME_XML "<scidacRecord><version>1.1</version><date>%s</date><recordtype>0</recordtype>"
                            "<datatype>Lattice</datatype><precision>%c</precision><colors>3</colors><spins>%d</spins>"
                            "<typesize>%d</typesize><datacount>1</datacount></scidacRecord>",
                   date, precision, f->spins, site_bytes(f));
    param_text_add(lime_add_text(&all, "scidac-record-xml", 0),
                   LIME_XML "<plaqRecord><title>propagator</title></plaqRecord>");
    return all;
}

static int prepare(const char *path, propagator_file *f, const char *program, char *message, size_t size)
{
    lime_texts all = compose(f, program);
    int bad = 0;
    f->data = LIME_HEADER + lime_texts_bytes(&all);
    /* Readers take texts up to that length. */
    for (int i = 0; i < all.n && !bad; i++)
        if (all.r[i].text.length >= LINKS_PARAMETERS)
            bad =
                file_fail(message, size, "%s: the identity has %zu bytes, and a LIME file takes %d; name an HDF5 file",
                          path, all.r[i].text.length, LINKS_PARAMETERS);
    lime_free_texts(&all);
    return bad;
}

static int finish(const char *path, const propagator_file *f, const char *program, char *message, size_t size)
{
    links_file around = {.data = f->data};
    lime_texts all = compose(f, program);
    snprintf(around.path, sizeof around.path, "%s", path);
    const int bad = lime_write_around(&around, &all, BINARY, propagator_file_bytes(f), f->checksum);
    lime_free_texts(&all);
    return bad ? file_fail(message, size, "%s: writing the LIME records: %s", path, strerror(errno)) : 0;
}

/* ---- reading ---- */

static int probe(const unsigned char *first, size_t n)
{
    return n >= 4 && load32(first, 1) == LIME_MAGIC;
}

static void take_size(lime_reader *in, propagator_file *f)
{
    xml_record x;
    const int there = lime_load_xml(in, "scidac-private-file-xml", "scidacFile", &x);
    if (in->bad) return;
    const char *dims = there ? xml_text(&x, "dims") : NULL;
    int *s = f->size, used = 0;
    int ok = dims && sscanf(dims, "%5d %5d %5d %5d %n", &s[0], &s[1], &s[2], &s[3], &used) == 4 && !dims[used];
    for (int d = 0; d < 4; d++) ok = ok && s[d] >= 1 && s[d] <= LINKS_MAX_EXTENT;
    if (!ok)
        in->bad = file_fail(in->message, in->size,
                            "%s: LIME record scidac-private-file-xml: dims \"%.60s\", expected four "
                            "extents",
                            in->f->path, dims ? dims : "");
}

/* Bits and spins from the size of a site's matrix. */
static void take_site(lime_reader *in, propagator_file *f)
{
    xml_record x;
    const int there = lime_load_xml(in, "scidac-private-record-xml", "scidacRecord", &x);
    if (in->bad) return;
    const char *p = there ? xml_text(&x, "precision") : NULL;
    const long typesize = there ? xml_integer(&x, "typesize") : -1, count = there ? xml_integer(&x, "datacount") : -1;
    f->bits = p && !strcmp(p, "D") ? 64 : p && !strcmp(p, "F") ? 32 : 0;
    for (int spins = 4; spins > 0 && f->bits; spins -= 3) {
        f->spins = spins;
        f->columns = 3 * spins;
        if (typesize == site_bytes(f) && count == 1) return;
    }
    in->bad = LINKS_NO_LATTICE |
              file_fail(in->message, in->size,
                        "%s: LIME record scidac-private-record-xml: precision %.20s, typesize %ld, datacount "
                        "%ld, which is no propagator: D (F) has 2304 (1152), or 144 (72) without spins, and 1",
                        in->f->path, p ? p : "not given", typesize, count);
}

/* The record of the numbers, which is one and fills the lattice. */
static void take_numbers(lime_reader *in, propagator_file *f)
{
    const lime_record *r = lime_find(in->f, in->index, BINARY, &in->bad, in->message, in->size);
    if (!in->bad && !r) in->bad = file_fail(in->message, in->size, "%s: no LIME record " BINARY, in->f->path);
    if (in->bad) return;
    const unsigned long long expected = propagator_file_bytes(f);
    f->data = in->f->data = r->data;
    if (r->length != expected)
        in->bad = file_fail(in->message, in->size,
                            "%s: LIME record " BINARY ": %llu bytes, a propagator on %d.%d.%d.%d has %llu", in->f->path,
                            (unsigned long long)r->length, f->size[0], f->size[1], f->size[2], f->size[3], expected);
    else lime_seal_check(in, r);
}

static void take_checksum(lime_reader *in, propagator_file *f)
{
    xml_record x;
    if (!lime_load_xml(in, "scidac-checksum", "scidacChecksum", &x)) return;
    const char *a = xml_text(&x, "suma"), *b = xml_text(&x, "sumb");
    f->has_checksum = a && b && links_hex32(a, &f->checksum[0]) && links_hex32(b, &f->checksum[1]);
    if (!f->has_checksum)
        in->bad = file_fail(in->message, in->size,
                            "%s: LIME record scidac-checksum: suma and sumb are no 32-bit numbers", in->f->path);
}

/* Lines of plaq on links, trajectory and solves before the identity; nothing in a file of another program. */
static void take_identity(lime_reader *in, propagator_file *f)
{
    lime_take_notes(in);
    const char *at = in->f->info.parameters, *end;
    f->trajectory = -1;
    if (!in->bad && !strncmp(at, links_key, sizeof links_key - 1)) {
        at += sizeof links_key - 1;
        snprintf(f->links, sizeof f->links, "%.*s", (int)strcspn(at, "\n"), at);
        if ((end = strstr(at, trajectory_key))) f->trajectory = strtoll(at = end + sizeof trajectory_key - 1, NULL, 10);
        if ((end = strstr(at, solves_key))) {
            char *next;
            int n = 0;
            at = end + sizeof solves_key - 1;
            for (; *at == ' ' && n < PROPAGATOR_SOLVES * PROPAGATOR_VALUES; at = next, n++)
                f->solves[n / PROPAGATOR_VALUES][n % PROPAGATOR_VALUES] = strtod(at, &next);
            f->nsolves = n / PROPAGATOR_VALUES;
        }
        at += strcspn(at, "\n");
        at += *at == '\n';
    } else at = "";
    f->identity = malloc(strlen(at) + 1);
    REQUIRE_MEMORY(f->identity, "out of memory: %zu bytes", strlen(at) + 1);
    strcpy(f->identity, at);
}

static int read_records(const char *path, links_file *around, int fd, propagator_file *f, char *message, size_t size)
{
    lime_index *index = malloc(sizeof *index);
    REQUIRE_MEMORY(index, "out of memory: %zu bytes", sizeof *index);
    snprintf(around->path, sizeof around->path, "%s", path);
    lime_reader in = {around, fd, index, 0, message, size};
    in.bad = lime_scan(around, fd, index, message, size);
    if (!in.bad) take_site(&in, f);
    if (!in.bad) take_size(&in, f);
    if (!in.bad) take_checksum(&in, f);
    if (!in.bad) take_numbers(&in, f);
    if (!in.bad) take_identity(&in, f);
    free(index);
    return in.bad;
}

static int look(const char *path, propagator_file *f, char *message, size_t size)
{
    links_file *around = calloc(1, sizeof *around);
    int bad = 0;
    REQUIRE_MEMORY(around, "out of memory: %zu bytes", sizeof *around);
    const int fd = file_open(path, &around->info.file_bytes, &bad, message, size);
    if (fd >= 0) bad = read_records(path, around, fd, f, message, size);
    if (fd >= 0) close(fd);
    snprintf(f->oddity, sizeof f->oddity, "%s", around->info.oddity);
    /* The seal of plaq guards all records, so an oddity is damage. */
    if (!bad && f->links[0] && f->oddity[0]) bad = file_fail(message, size, "%s: %s", path, f->oddity);
    free(around);
    return bad;
}

const propagator_format propagator_format_scidac = {.name = "scidac",
                                                    .endings = ".lime .scidac",
                                                    .big = 1,
                                                    .spins_first = 1,
                                                    .probe = probe,
                                                    .look = look,
                                                    .prepare = prepare,
                                                    .finish = finish};
