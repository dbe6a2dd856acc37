/* Text that may hold any bytes, made fit for a terminal or a log. */
#ifndef PLAQ_UTF8_H
#define PLAQ_UTF8_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The length of the UTF-8 character at `text`, or 0 when the bytes are none (overlong forms, surrogates and codes
 * beyond U+10FFFF are none). Nothing past a terminating zero is read. */
int utf8_length(const char *text);

/* True if the text is valid UTF-8 without control characters. */
int utf8_is_text(const char *text);

/* Copies text as far as it fits whole: characters of UTF-8 as they are, each byte of anything else, and of control
 * characters, as \xNN. `out` may not be `text`. */
void utf8_printable(char *out, size_t size, const char *text);

#ifdef __cplusplus
}
#endif
#endif
