/* Writing ILDG and SciDAC files: the text records around the links, as QIO writes them.
 *
 * Message 1: scidac-private-file-xml, scidac-file-xml. Message 2: scidac-private-record-xml (scidacRecord 1.1 with
 * recordtype), scidac-record-xml (usqcdInfo 1.0: averages, label and trajectory number), of ILDG also ildg-format and,
 * where a name is given, ildg-data-lfn; then the links as ildg-binary-data or scidac-binary-data, and scidac-checksum.
 * The parameters of the ensemble are in scidac-file-xml, whose contents are the program's own:
 * <plaqFile><title>, <program>, <parameters>, lines "key = value" with the entities of XML.
 *
 * Both functions are of the kind that links_format wants, on rank 0. */
#ifndef PLAQ_IO_LIME_WRITE_H
#define PLAQ_IO_LIME_WRITE_H

#include "io/links/links_format.h"

#define LIME_FILE_ROOT "plaqFile"

int lime_prepare(links_file *f, const links_meta *meta, char *message, size_t size);
int lime_finish(const links_file *f, const links_meta *meta, const links_sums *s, const char *digest, char *message,
                size_t size);

#endif
