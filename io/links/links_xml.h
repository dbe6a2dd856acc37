/* The small XML of LIME records: one root element holding leaf elements of text. Attributes of the root, comments, a
 * declaration, a byte order mark, one prefix of a namespace and blanks around texts are understood; entities are not.
 * Elements within the leaves are passed over. */
#ifndef PLAQ_IO_LINKS_XML_H
#define PLAQ_IO_LINKS_XML_H

#include <stddef.h>
#include <stdint.h>

#define XML_LEAVES 32
#define XML_DEPTH 8

typedef struct {
    char tag[48], text[256];
    int lopsided; /* blanks on one side of the text only */
} xml_leaf;

typedef struct {
    char root[48], prefix[48];
    char declaration[128]; /* text between <? and ?>, or "" */
    char attributes[512];  /* attributes of the root, blanks run together */
    int n;
    xml_leaf leaf[XML_LEAVES];
    char oddity[96]; /* well-formed, but as no standard writer writes it */
} xml_record;

/* 0, or nonzero with the fault in `why`. A zero byte may end the text. */
int xml_parse(const char *text, size_t n, xml_record *x, char *why, size_t size);
/* Text of the leaf, or NULL. */
const char *xml_text(const xml_record *x, const char *tag);
/* Value of a leaf that is a whole number from 0 to 10^9, or -1. */
long xml_integer(const xml_record *x, const char *tag);

#endif
