#include "io/links/lime_records.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *lime_load_text(lime_reader *in, const lime_record *r)
{
    if (r->length > LIME_TEXT_MAX) {
        in->bad = file_fail(in->message, in->size, "%s: LIME record %s: %llu bytes of text, at most %d are allowed",
                            in->f->path, r->type, (unsigned long long)r->length, LIME_TEXT_MAX);
        return NULL;
    }
    char *text = calloc(r->length + 1, 1);
    REQUIRE_MEMORY(text, "out of memory: %llu bytes", (unsigned long long)r->length);
    if (!file_pread(in->fd, text, r->length, r->data)) return text;
    in->bad = file_fail_read(in->message, in->size, in->f->path, r->type);
    free(text);
    return NULL;
}

/* The text of the record of that type; NULL when there is none, or in->bad. */
static char *find_text(lime_reader *in, const char *type, uint64_t *length)
{
    const lime_record *r = lime_find(in->f, in->index, type, &in->bad, in->message, in->size);
    if (!r || in->bad) return NULL;
    *length = r->length;
    return lime_load_text(in, r);
}

int lime_load_xml(lime_reader *in, const char *type, const char *root, xml_record *x)
{
    char why[160];
    uint64_t length;
    char *text = find_text(in, type, &length);
    if (!text) return 0;
    const int broken = xml_parse(text, length, x, why, sizeof why);
    free(text);
    if (broken) in->bad = file_fail(in->message, in->size, "%s: LIME record %s: XML: %s", in->f->path, type, why);
    else if (strcmp(x->root, root))
        in->bad = file_fail(in->message, in->size, "%s: LIME record %s: element <%s>, not <%s>", in->f->path, type,
                            x->root, root);
    else if (x->oddity[0]) links_odd(&in->f->info, "LIME record %s: %s", type, x->oddity);
    return !in->bad;
}

/* ---- what is found in free text ---- */

/* Averages as text, either of which may be missing; those of a record before stand, and must agree. */
static void record_averages(links_info *i, const char *record, const char *plaquette, const char *trace)
{
    double p = 0, p_unit = 0, t = 0, t_unit = 0;
    const int has_p = plaquette && links_number(plaquette, &p, &p_unit);
    const int has_t = trace && links_number(trace, &t, &t_unit);
    if (p == 0 && t == 0) return;
    if ((has_p && i->has_plaquette && fabs(p - i->plaquette) > 0.5001 * (p_unit + i->plaquette_unit)) ||
        (has_t && i->has_link_trace && fabs(t - i->link_trace) > 0.5001 * (t_unit + i->link_trace_unit)))
        links_odd(i, "LIME record %s has other averages than another record", record);
    if (has_p && !i->has_plaquette) i->has_plaquette = 1, i->plaquette = p, i->plaquette_unit = p_unit;
    if (has_t && !i->has_link_trace) i->has_link_trace = 1, i->link_trace = t, i->link_trace_unit = t_unit;
}

static void record_number(links_info *i, const char *text)
{
    const long n = text ? links_whole(text) : -1;
    if (n >= 0 && !i->has_sequence) i->has_sequence = 1, i->sequence = (int)n;
}

static void record_label(links_info *i, const char *text)
{
    if (text && !i->ensemble[0]) snprintf(i->ensemble, sizeof i->ensemble, "%s", text);
}

/* Free text that is no such XML is passed over. */
static int load_free_xml(lime_reader *in, const char *type, const char *root, xml_record *x)
{
    char ignored[256];
    lime_reader other = *in;
    other.message = ignored, other.size = sizeof ignored;
    const int found = lime_load_xml(&other, type, root, x);
    if (other.bad & LINKS_NO_ACCESS) {
        in->bad = other.bad;
        snprintf(in->message, in->size, "%s", ignored);
    }
    return found;
}

static void take_usqcd(lime_reader *in)
{
    links_info *i = &in->f->info;
    xml_record x;
    if (!load_free_xml(in, "scidac-record-xml", "usqcdInfo", &x)) return;
    record_averages(i, "scidac-record-xml", xml_text(&x, "plaq"), xml_text(&x, "linktr"));
    /* Label and trajectory number, as plaq writes them. */
    char label[128];
    const char *info = xml_text(&x, "info"), *number = info ? strrchr(info, ' ') : NULL;
    if (!number || strncmp(info, LIME_INFO_START, strlen(LIME_INFO_START)) || links_whole(number + 1) < 0) return;
    record_number(i, number + 1);
    const char *start = info + strlen(LIME_INFO_START);
    snprintf(label, sizeof label, "%.*s", number > start ? (int)(number - start) : 0, start);
    record_label(i, label);
}

static void take_grid(lime_reader *in)
{
    links_info *i = &in->f->info;
    xml_record x;
    if (!load_free_xml(in, "grid-format", "FieldMetaData", &x)) return;
    record_averages(i, "grid-format", xml_text(&x, "plaquette"), xml_text(&x, "link_trace"));
    record_number(i, xml_text(&x, "sequence_number"));
    record_label(i, xml_text(&x, "ensemble_label"));
}

/* The word after "NAME = " in lines of text, or NULL. */
static const char *value_in(const char *text, const char *name, char *value, size_t size)
{
    for (const char *p = text; (p = strstr(p, name)); p += strlen(name)) {
        const char *v = p + strlen(name);
        const int begins = p == text || strchr(" \n\r\t,", p[-1]);
        v += strspn(v, " ");
        if (!begins || *v != '=') continue;
        v += 1 + strspn(v + 1, " ");
        const size_t n = strcspn(v, " ,\n\r\t");
        if (n == 0 || n >= size) continue;
        memcpy(value, v, n);
        value[n] = 0;
        return value;
    }
    return NULL;
}

static void take_xlf(lime_reader *in)
{
    char value[64];
    uint64_t length;
    char *text = find_text(in, "xlf-info", &length);
    if (!text) return;
    record_averages(&in->f->info, "xlf-info", value_in(text, "plaquette", value, sizeof value), NULL);
    record_number(&in->f->info, value_in(text, "trajectory nr", value, sizeof value));
    free(text);
}

/* Text up to `end`, the three entities of XML resolved; what is too long for `out` is left out. */
static void unescape(const char *text, const char *end, char *out, size_t size)
{
    static const char *const entities[] = {"&lt;<", "&gt;>", "&amp;&"};
    size_t n = 0;
    while (text < end && n + 1 < size) {
        int known = -1;
        for (int i = 0; i < 3; i++)
            if (!strncmp(text, entities[i], strlen(entities[i]) - 1)) known = i;
        out[n++] = known < 0 ? *text : entities[known][strlen(entities[known]) - 1];
        text += known < 0 ? 1 : strlen(entities[known]) - 1;
    }
    out[n] = 0;
}

static void take_parameters(lime_reader *in)
{
    static const char before[] = "<parameters>";
    uint64_t length;
    char *text = find_text(in, "scidac-file-xml", &length);
    if (!text) return;
    const char *start = strstr(text, "<" LIME_FILE_ROOT ">") ? strstr(text, before) : NULL;
    const char *end = start ? strstr(start, "</parameters>") : NULL;
    links_info *i = &in->f->info;
    if (end) unescape(start + sizeof before - 1, end, i->parameters, sizeof i->parameters);
    free(text);
}

static void take_lfn(lime_reader *in)
{
    uint64_t length;
    char *text = find_text(in, "ildg-data-lfn", &length);
    if (text) snprintf(in->f->info.lfn, sizeof in->f->info.lfn, "%s", text);
    free(text);
}

void lime_take_notes(lime_reader *in)
{
    take_usqcd(in);
    if (!in->bad) take_xlf(in);
    if (!in->bad) take_grid(in);
    if (!in->bad) take_parameters(in);
    if (!in->bad) take_lfn(in);
}
