/* Text records of a LIME file of links: as XML, and what free text says of the configuration.
 *
 * Plaquette, link trace, trajectory number and label are looked for in scidac-record-xml with a usqcdInfo, in xlf-info of
 * tmLQCD (lines NAME = VALUE), and in grid-format of Grid (FieldMetaData); parameters in scidac-file-xml as this program
 * writes it, and the logical file name in ildg-data-lfn. Both of the latter leave the averages zero
 * where they do not know them. Local: rank 0. */
#ifndef PLAQ_IO_LIME_RECORDS_H
#define PLAQ_IO_LIME_RECORDS_H

#include "io/links/lime.h"
#include "io/links/links_xml.h"

/* A text record of any use is shorter. */
#define LIME_TEXT_MAX 65536

/* A file whose records are being read. */
typedef struct {
    links_file *f;
    int fd;
    const lime_index *index;
    int bad; /* bits of links_read() of the first fault, whose message is there */
    char *message;
    size_t size;
} lime_reader;

/* The text of a record, allocated, with a zero byte after it; NULL with in->bad. */
char *lime_load_text(lime_reader *in, const lime_record *r);
/* The record of that type as XML with the given root: 1; 0 when there is none, or in->bad. */
int lime_load_xml(lime_reader *in, const char *type, const char *root, xml_record *x);
/* Fills averages, trajectory number, label, parameters and logical file name of in->f->info. Text that cannot be
 * understood is passed over. */
void lime_take_notes(lime_reader *in);

#endif
