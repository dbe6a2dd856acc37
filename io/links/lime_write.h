/* Writing LIME files: text records, and those around the links of ILDG and SciDAC files, as QIO writes them.
 *
 * Message 1: scidac-private-file-xml, scidac-file-xml. Message 2: scidac-private-record-xml (scidacRecord 1.1 with
 * recordtype), scidac-record-xml (usqcdInfo 1.0: averages, label and trajectory number), of ILDG also ildg-format and,
 * where a name is given, ildg-data-lfn; then the links as ildg-binary-data or scidac-binary-data, and scidac-checksum.
 * The parameters of the ensemble are in scidac-file-xml, whose contents are the program's own:
 * <plaqFile><title>, <program>, <parameters>, lines "key = value" with the entities of XML.
 *
 * lime_prepare() and lime_finish() are of the kind that links_format wants. All functions are local: rank 0. */
#ifndef PLAQ_IO_LIME_WRITE_H
#define PLAQ_IO_LIME_WRITE_H

#include "io/links/links_format.h"
#include "kernels/base/param.h"

#define LIME_XML "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"

/* Text records in the order of writing. */
enum { LIME_TEXTS = 6 };
typedef struct {
    int n;
    struct {
        const char *type;
        int flags;
        param_text text;
    } r[LIME_TEXTS];
} lime_texts;

/* Adds a text record, and returns its text to be filled. */
param_text *lime_add_text(lime_texts *all, const char *type, int flags);
/* Appends plain text with the entities of XML. */
void lime_add_escaped(param_text *text, const char *plain);
/* The two records of a file with those extents: what QIO says, and the program's own with parameters. */
void lime_add_file(lime_texts *all, const int size[4], const char *title, const char *program, const char *parameters);
/* Date of now, as QIO writes it. */
void lime_date(char date[64]);
void lime_free_texts(lime_texts *all);
/* Bytes of all of them in a file. */
uint64_t lime_texts_bytes(const lime_texts *all);
/* Writes the records from the beginning of the file on, the header of the record `binary` of `bytes` bytes, and behind that
 * scidac-checksum and the seal. f->data is where the binary data begin, and f->path the file. 0, or -1 with errno. */
int lime_write_around(const links_file *f, const lime_texts *all, const char *binary, uint64_t bytes,
                      const uint32_t sums[2]);

int lime_prepare(links_file *f, const links_meta *meta, char *message, size_t size);
int lime_finish(const links_file *f, const links_meta *meta, const links_sums *s, const char *digest, char *message,
                size_t size);

#endif
