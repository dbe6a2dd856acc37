#include "io/links/links_format.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/files/regular.h"
#include "kernels/base/utf8.h"

void links_odd(links_info *info, const char *fmt, ...)
{
    if (info->oddity[0]) return;
    va_list ap;
    va_start(ap, fmt);
    file_print(info->oddity, sizeof info->oddity, fmt, ap);
    va_end(ap);
}

void links_remark(links_info *info, const char *fmt, ...)
{
    if (info->remark[0]) return;
    va_list ap;
    va_start(ap, fmt);
    file_print(info->remark, sizeof info->remark, fmt, ap);
    va_end(ap);
}

int links_write_header(const links_file *f, const void *header, size_t n, char *message, size_t size)
{
    const int fd = open(f->path, O_WRONLY | O_CLOEXEC);
    const int bad = fd < 0 || file_pwrite(fd, header, n, 0);
    if (bad) file_fail(message, size, "%s: writing the header: %s", f->path, strerror(errno));
    if (fd >= 0) close(fd);
    return bad;
}

uint64_t links_sites(const int size[4])
{
    return (uint64_t)size[0] * (uint64_t)size[1] * (uint64_t)size[2] * (uint64_t)size[3];
}

uint64_t links_site_bytes(const links_file *f)
{
    return (uint64_t)(24 * f->rows * f->width);
}

int links_check_size(const links_file *f, char *message, size_t size)
{
    const int *s = f->info.size;
    for (int d = 0; d < 4; d++)
        if (s[d] < 1 || s[d] > LINKS_MAX_EXTENT)
            return file_fail(message, size, "%s: %s header: lattice %d.%d.%d.%d, extents from 1 to %d are allowed",
                              f->path, f->info.format, s[0], s[1], s[2], s[3], LINKS_MAX_EXTENT);
    return 0;
}

int links_check_length(const links_file *f, uint64_t expected, char *message, size_t size)
{
    if (f->info.file_bytes == expected) return 0;
    const int *s = f->info.size;
    return file_fail(message, size,
                      "%s: the file has %llu bytes; %s with %d-bit links of %d rows on %d.%d.%d.%d has %llu: %s",
                      f->path, (unsigned long long)f->info.file_bytes, f->info.format, 8 * f->width, f->rows, s[0],
                      s[1], s[2], s[3], (unsigned long long)expected,
                      f->info.file_bytes < expected ? "truncated, or a wrong header"
                                                    : "something follows the links, or a wrong header");
}

int links_number(const char *text, double *value, double *unit)
{
    const char *p = text;
    int after = 0, digits = 0;
    if (*p == '-' || *p == '+') p++;
    for (; isdigit((unsigned char)*p) || (*p == '.' && !after); p++) {
        if (*p == '.') after = 1;
        else digits++, after += after > 0;
    }
    if (!digits || digits > 40) return 0;
    int exponent = 0;
    if (*p == 'e' || *p == 'E') {
        char *end;
        exponent = (int)strtol(p + 1, &end, 10);
        if (end == p + 1 || isspace((unsigned char)p[1]) || exponent < -300 || exponent > 300) return 0;
        p = end;
    }
    if (*p) return 0;
    *value = strtod(text, NULL);
    *unit = 1;
    for (int i = exponent - (after ? after - 1 : 0); i < 0; i++) *unit /= 10;
    return 1;
}

int links_hex32(const char *text, uint32_t *value)
{
    int small = 0, large = 0, n = 0;
    for (; text[n]; n++) {
        if (!isxdigit((unsigned char)text[n]) || n == 8) return 0;
        small += islower((unsigned char)text[n]) != 0;
        large += isupper((unsigned char)text[n]) != 0;
    }
    /* Letter case is a single bit: mixed case is damage. */
    if (n == 0 || (small && large)) return 0;
    *value = (uint32_t)strtoul(text, NULL, 16);
    return 1;
}

long links_whole(const char *text)
{
    const size_t n = strlen(text);
    return n == 0 || n > 9 || strspn(text, "0123456789") != n ? -1 : atol(text);
}
