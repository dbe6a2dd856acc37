#include "io/links_xml.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *p, *end;
    xml_record *x;
    char *why;
    size_t size;
} reader;

static int fault(reader *r, const char *what)
{
    snprintf(r->why, r->size, "%s at \"%.*s\"", what, (int)(r->end - r->p < 24 ? r->end - r->p : 24), r->p);
    return 1;
}

static int starts(const reader *r, const char *s)
{
    return (size_t)(r->end - r->p) >= strlen(s) && !memcmp(r->p, s, strlen(s));
}

/* Copies up to the text `stop`, which is passed too. */
static int take_until(reader *r, const char *stop, char *out, size_t size)
{
    size_t n = 0;
    for (; r->p < r->end && !starts(r, stop); r->p++) {
        if (n + 1 >= size || !*r->p) return fault(r, "too long or broken");
        out[n++] = *r->p;
    }
    if (r->p == r->end) return fault(r, "unfinished");
    out[n] = 0;
    r->p += strlen(stop);
    return 0;
}

static int skip_blank(reader *r)
{
    char comment[512];
    for (;;) {
        while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r')) r->p++;
        if (!starts(r, "<!--")) return 0;
        r->p += 4;
        if (take_until(r, "-->", comment, sizeof comment)) return 1;
    }
}

static int take_name(reader *r, char *out, size_t size)
{
    size_t n = 0;
    for (; r->p < r->end && (isalnum((unsigned char)*r->p) || *r->p == '_'); r->p++) {
        if (n + 1 >= size) return fault(r, "tag too long");
        out[n++] = *r->p;
    }
    out[n] = 0;
    return n ? 0 : fault(r, "no tag");
}

static int closes(reader *r, const char *tag)
{
    if (!starts(r, "</")) return fault(r, "no end tag");
    r->p += 2;
    if (!starts(r, tag)) return fault(r, "wrong end tag");
    r->p += strlen(tag);
    if (!starts(r, ">")) return fault(r, "wrong end tag");
    r->p++;
    return 0;
}

static int take_leaf(reader *r)
{
    xml_record *x = r->x;
    if (x->n == XML_LEAVES) return fault(r, "too many elements");
    if (!starts(r, "<")) return fault(r, "text outside of elements");
    r->p++;
    char *tag = x->leaf[x->n].tag, *text = x->leaf[x->n].text;
    if (take_name(r, tag, sizeof x->leaf[0].tag)) return 1;
    text[0] = 0;
    x->n++;
    if (starts(r, "/>")) {
        r->p += 2;
        return 0;
    }
    if (!starts(r, ">")) return fault(r, "no >");
    r->p++;
    size_t n = 0;
    for (; r->p < r->end && *r->p != '<'; r->p++) {
        if (n + 1 >= sizeof x->leaf[0].text || (!isprint((unsigned char)*r->p) && !isspace((unsigned char)*r->p)))
            return fault(r, "text too long or not text");
        text[n++] = *r->p;
    }
    text[n] = 0;
    return closes(r, tag);
}

static int take_root(reader *r)
{
    xml_record *x = r->x;
    if (skip_blank(r)) return 1;
    if (starts(r, "<?")) {
        r->p += 2;
        if (take_until(r, "?>", x->declaration, sizeof x->declaration) || skip_blank(r)) return 1;
    }
    if (!starts(r, "<")) return fault(r, "no element");
    r->p++;
    if (take_name(r, x->root, sizeof x->root)) return 1;
    size_t n = 0;
    for (; r->p < r->end && *r->p != '>'; r->p++) {
        if (n + 1 >= sizeof x->attributes || (!isprint((unsigned char)*r->p) && !isspace((unsigned char)*r->p)))
            return fault(r, "attributes");
        const char c = isspace((unsigned char)*r->p) ? ' ' : *r->p;
        if (c != ' ' || (n && x->attributes[n - 1] != ' ')) x->attributes[n++] = c;
    }
    x->attributes[n] = 0;
    if (!starts(r, ">")) return fault(r, "no >");
    r->p++;
    return 0;
}

int xml_parse(const char *text, size_t n, xml_record *x, char *why, size_t size)
{
    memset(x, 0, sizeof *x);
    const int has_end = n && !text[n - 1];
    reader r = {text, text + n - has_end, x, why, size};
    if (take_root(&r) || skip_blank(&r)) return 1;
    while (!starts(&r, "</"))
        if (take_leaf(&r) || skip_blank(&r)) return 1;
    if (closes(&r, x->root)) return 1;
    for (; r.p < r.end; r.p++)
        if (*r.p != '\n') return fault(&r, "text after the end");
    if (x->declaration[0] && strcmp(x->declaration, "xml version=\"1.0\" encoding=\"UTF-8\"") &&
        strcmp(x->declaration, "xml version=\"1.0\""))
        snprintf(x->oddity, sizeof x->oddity, "declaration <?%.60s?>", x->declaration);
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(x->leaf[i].tag, x->leaf[k].tag))
                return snprintf(why, size, "two elements <%s>", x->leaf[i].tag), 1;
    return 0;
}

const char *xml_text(const xml_record *x, const char *tag)
{
    for (int i = 0; i < x->n; i++)
        if (!strcmp(x->leaf[i].tag, tag)) return x->leaf[i].text;
    return NULL;
}

long xml_integer(const xml_record *x, const char *tag)
{
    const char *t = xml_text(x, tag);
    if (!t || !*t || strlen(t) > 9 || strspn(t, "0123456789") != strlen(t)) return -1;
    return atol(t);
}
