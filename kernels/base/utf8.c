#include "kernels/base/utf8.h"

#include <stdio.h>
#include <string.h>

int utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    int length = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 0;
    if (s[0] >= 0xf0 && s[0] <= 0xf4) length = 4;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)) return 0;
    return length;
}

/* Also the second block of them, U+0080 to U+009F, which terminals obey. */
static int is_control(const unsigned char *s)
{
    return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

int utf8_is_text(const char *text)
{
    for (int length; *text; text += length) {
        length = utf8_length(text);
        if (!length || is_control((const unsigned char *)text)) return 0;
    }
    return 1;
}

void utf8_printable(char *out, size_t size, const char *text)
{
    size_t used = 0;
    while (*text && size > 0) {
        char piece[16];
        const int length = utf8_length(text), whole = length && !is_control((const unsigned char *)text);
        int n = length ? length : 1, written = n;
        if (whole) memcpy(piece, text, (size_t)n);
        else
            for (int i = written = 0; i < n; i++)
                written += snprintf(piece + written, sizeof piece - (size_t)written, "\\x%02x", (unsigned char)text[i]);
        if (used + (size_t)written >= size) break;
        memcpy(out + used, piece, (size_t)written);
        used += (size_t)written;
        text += n;
    }
    if (size > 0) out[used] = 0;
}
