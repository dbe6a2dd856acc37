#include "hmc/tell/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *text_duration(double seconds, char text[32])
{
    const long s = seconds > 0 ? lround(seconds) : 0;
    if (s >= 86400) snprintf(text, 32, "%ldd %02ld:%02ld:%02ld", s / 86400, s / 3600 % 24, s / 60 % 60, s % 60);
    else snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

const char *text_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int u = 0;
    while (bytes >= 1024 && u < 5) {
        bytes /= 1024;
        u++;
    }
    snprintf(text, 32, u ? "%.1f %s" : "%.0f %s", bytes, units[u]);
    return text;
}

void text_log_lines(void (*log)(const char *, ...), const char *text)
{
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, "\n");
        log("%.*s", (int)(end - text), text);
    }
}
