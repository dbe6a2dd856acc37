/* LIME: a file of records, each a 144-byte header, data, and zero bytes up to a multiple of eight.
 *
 * Header: uint32 magic 0x456789ab, uint16 version 1, uint16 flags (bit 15 begins a message, bit 14 ends it), uint64
 * length of the data, char[128] type, zero-filled; big-endian. All of it is verified: what must be, as an error; what
 * may be, as an oddity. */
#ifndef PLAQ_IO_LIME_H
#define PLAQ_IO_LIME_H

#include "io/links/links_format.h"

/* Root of the scidac-file-xml that this program writes. */
#define LIME_FILE_ROOT "plaqFile"
/* Before label and trajectory number in the <info> of the usqcdInfo that this program writes. */
#define LIME_INFO_START "plaq: "
/* Namespaces of ildgFormat. */
#define ILDG_SPACE "http://www.lqcd.org/ildg"
#define XSI_SPACE "http://www.w3.org/2001/XMLSchema-instance"

#define LIME_HEADER 144
#define LIME_RECORDS 64
#define LIME_MAGIC 0x456789abu

enum { LIME_BEGIN = 0x8000, LIME_END = 0x4000 };

typedef struct {
    char type[129];
    uint64_t data, length; /* byte offset of the data, and its bytes */
    int flags;
} lime_record;

typedef struct {
    int n;
    lime_record r[LIME_RECORDS];
} lime_index;

/* Reads all record headers of the file; 0 or the value of file_fail(). */
int lime_scan(links_file *f, int fd, lime_index *index, char *message, size_t size);
/* The only record of that type, or NULL; several are an error in *status. */
const lime_record *lime_find(const links_file *f, const lime_index *index, const char *type, int *status, char *message,
                             size_t size);
/* Header of a record. */
void lime_header(unsigned char header[LIME_HEADER], const char *type, uint64_t length, int flags);
/* Bytes of a record with header and padding. */
uint64_t lime_bytes(uint64_t length);

#endif
