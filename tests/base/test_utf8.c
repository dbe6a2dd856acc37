/* Text of any bytes made fit for a terminal. */
#include "kernels/base/utf8.h"
#include "tests/check.h"

static const char *printable(const char *text, size_t size)
{
    static char out[256];
    memset(out, 'x', sizeof out);
    utf8_printable(out, size, text);
    return out;
}

int main(void)
{
    CHECK_STR(printable("plain = 5.7", 256), "plain = 5.7");
    CHECK_STR(printable("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", 256),
              "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
    CHECK_STR(printable("a\nb\tc\033[2Jd\x7f", 256), "a\\x0ab\\x09c\\x1b[2Jd\\x7f");
    CHECK_STR(printable("\xff\xfe \xc3( \xe2\x82", 256), "\\xff\\xfe \\xc3( \\xe2\\x82");
    /* The second block of control characters; overlong forms, surrogates, beyond the last code. */
    CHECK_STR(printable("\xc2\x9b\xc2\xa0", 256), "\\xc2\\x9b\xc2\xa0");
    CHECK_STR(printable("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", 256), "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
    /* Never half a character, never half an escape. */
    CHECK_STR(printable("ab\xc3\xbc", 4), "ab");
    CHECK_STR(printable("ab\xc3\xbc", 5), "ab\xc3\xbc");
    CHECK_STR(printable("ab\n", 6), "ab");
    CHECK_STR(printable("ab", 1), "");
    CHECK(printable("ab", 0)[0] == 'x');
    CHECK_INT(utf8_length("\xe2\x82\xac"), 3);
    CHECK_INT(utf8_length("\xe2\x82"), 0);
    CHECK_INT(utf8_length(""), 1);
    return CHECK_SUMMARY();
}
