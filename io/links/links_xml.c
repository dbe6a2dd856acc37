#include "io/links/links_xml.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/links/links_format.h"

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

static int is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static void skip_white(reader *r)
{
    while (r->p < r->end && is_blank(*r->p)) r->p++;
}

static int skip_blank(reader *r)
{
    char comment[512];
    for (;;) {
        skip_white(r);
        if (!starts(r, "<!--")) return 0;
        r->p += 4;
        if (take_until(r, "-->", comment, sizeof comment)) return 1;
    }
}

static int take_word(reader *r, char *out, size_t size)
{
    size_t n = 0;
    for (; r->p < r->end && (isalnum((unsigned char)*r->p) || *r->p == '_'); r->p++) {
        if (n + 1 >= size) return fault(r, "tag too long");
        out[n++] = *r->p;
    }
    out[n] = 0;
    return n ? 0 : fault(r, "no tag");
}

/* A name, and before it the prefix of a namespace, if any: that of the root, or none. */
static int take_name(reader *r, char *name, size_t size, int is_root)
{
    char prefix[sizeof r->x->prefix] = "";
    if (take_word(r, name, size)) return 1;
    if (starts(r, ":")) {
        if (strlen(name) >= sizeof prefix) return fault(r, "prefix too long");
        strcpy(prefix, name);
        r->p++;
        if (take_word(r, name, size)) return 1;
    }
    if (is_root) strcpy(r->x->prefix, prefix);
    else if (prefix[0] && strcmp(prefix, r->x->prefix)) return fault(r, "another prefix than that of the root");
    return 0;
}

static int closes(reader *r, const char *tag)
{
    char name[48];
    if (!starts(r, "</")) return fault(r, "no end tag");
    r->p += 2;
    if (take_name(r, name, sizeof name, 0)) return 1;
    if (strcmp(name, tag)) return fault(r, "wrong end tag");
    skip_white(r);
    if (!starts(r, ">")) return fault(r, "wrong end tag");
    r->p++;
    return 0;
}

/* The text up to the next tag; blanks around it are dropped. */
static int take_text(reader *r, char *text, size_t size, int *lopsided)
{
    size_t n = 0;
    const char *start = r->p;
    skip_white(r);
    const int before = r->p > start;
    for (; r->p < r->end && *r->p != '<'; r->p++) {
        if (n + 1 >= size || (!isprint((unsigned char)*r->p) && !is_blank(*r->p)))
            return fault(r, "text too long or not text");
        text[n++] = *r->p;
    }
    const size_t all = n;
    while (n > 0 && is_blank(text[n - 1])) n--;
    text[n] = 0;
    *lopsided = n > 0 && before != (n < all);
    return 0;
}

/* After "<": tag, then its text, or the elements that it holds, whose contents are passed over. */
static int take_element(reader *r, char *tag, size_t tag_size, char *text, size_t text_size, int *lopsided, int depth)
{
    char inner[48], ignored[512];
    int any;
    if (depth > XML_DEPTH) return fault(r, "elements within elements, too deep");
    r->p++;
    if (take_name(r, tag, tag_size, 0)) return 1;
    text[0] = 0;
    skip_white(r);
    if (starts(r, "/>")) {
        r->p += 2;
        return 0;
    }
    if (!starts(r, ">")) return fault(r, "no >");
    r->p++;
    if (take_text(r, text, text_size, lopsided) || skip_blank(r)) return 1;
    while (starts(r, "<") && !starts(r, "</"))
        if (take_element(r, inner, sizeof inner, ignored, sizeof ignored, &any, depth + 1) || skip_blank(r)) return 1;
    return closes(r, tag);
}

static int take_leaf(reader *r)
{
    xml_record *x = r->x;
    if (x->n == XML_LEAVES) return fault(r, "too many elements");
    if (!starts(r, "<")) return fault(r, "text outside of elements");
    xml_leaf *leaf = &x->leaf[x->n++];
    return take_element(r, leaf->tag, sizeof leaf->tag, leaf->text, sizeof leaf->text, &leaf->lopsided, 0);
}

static int take_root(reader *r)
{
    xml_record *x = r->x;
    if (starts(r, "\xef\xbb\xbf")) r->p += 3; /* byte order mark */
    if (skip_blank(r)) return 1;
    if (starts(r, "<?")) {
        r->p += 2;
        if (take_until(r, "?>", x->declaration, sizeof x->declaration) || skip_blank(r)) return 1;
    }
    if (!starts(r, "<")) return fault(r, "no element");
    r->p++;
    if (take_name(r, x->root, sizeof x->root, 1)) return 1;
    size_t n = 0;
    for (; r->p < r->end && *r->p != '>'; r->p++) {
        if (n + 1 >= sizeof x->attributes || (!isprint((unsigned char)*r->p) && !is_blank(*r->p)))
            return fault(r, "attributes");
        const char c = is_blank(*r->p) ? ' ' : *r->p;
        if (c != ' ' || (n && x->attributes[n - 1] != ' ')) x->attributes[n++] = c;
    }
    if (n && x->attributes[n - 1] == ' ') n--;
    x->attributes[n] = 0;
    if (!starts(r, ">")) return fault(r, "no >");
    r->p++;
    return 0;
}

static int usual_declaration(char *text)
{
    static const char *const usual[] = {"", "xml version=\"1.0\" encoding=\"UTF-8\"",
                                        "xml version=\"1.0\" encoding=\"utf-8\"", "xml version=\"1.0\""};
    size_t n = strlen(text);
    while (n > 0 && is_blank(text[n - 1])) text[--n] = 0;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (!strcmp(text, usual[i])) return 1;
    return 0;
}

int xml_parse(const char *text, size_t n, xml_record *x, char *why, size_t size)
{
    memset(x, 0, sizeof *x);
    while (n && !text[n - 1]) n--;
    reader r = {text, text + n, x, why, size};
    if (take_root(&r) || skip_blank(&r)) return 1;
    while (!starts(&r, "</"))
        if (take_leaf(&r) || skip_blank(&r)) return 1;
    if (closes(&r, x->root)) return 1;
    skip_white(&r);
    if (r.p < r.end) return fault(&r, "text after the end");
    if (!usual_declaration(x->declaration))
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
    /* A leading zero and a blank differ by one bit. */
    return t && !(t[0] == '0' && t[1]) ? links_whole(t) : -1;
}
