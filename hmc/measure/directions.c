#include "hmc/measure/directions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/param.h"

int direction_read(const char *word, int v[3])
{
    int n = 0;
    if (sscanf(word, "%1d.%1d.%1d%n", &v[0], &v[1], &v[2], &n) != 3 || word[n]) return -1;
    return v[0] >= v[1] && v[1] >= v[2] && v[2] >= 0 && v[0] > 0 && v[0] + v[1] + v[2] <= DIRECTION_STEPS ? 0 : -1;
}

double direction_length(const int v[3])
{
    return sqrt((double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
}

int direction_multiples(const int v[3], int r_max)
{
    int n = 0;
    const long length2 = (long)v[0] * v[0] + (long)v[1] * v[1] + (long)v[2] * v[2];
    while ((n + 1) * (long)(n + 1) * length2 <= (long)r_max * r_max) n++;
    return n;
}

int direction_images(const int v[3], int images[DIRECTION_IMAGES][3])
{
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    int n = 0;
    for (int o = 0; o < 6; o++)
        for (int signs = 0; signs < 8; signs++) {
            int w[3], first = 0, known = 0;
            for (int d = 0; d < 3; d++) w[d] = v[order[o][d]] * (signs >> d & 1 ? -1 : 1);
            while (w[first] == 0) first++;
            for (int i = 0; i < n; i++) known = known || !memcmp(images[i], w, sizeof w);
            if (w[first] > 0 && !known) memcpy(images[n++], w, sizeof w);
        }
    return n;
}

int direction_steps(const int v[3], int steps[DIRECTION_STEPS])
{
    int n = 0;
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < abs(v[d]); k++) steps[n++] = 2 * d + (v[d] < 0);
    return n;
}

int direction_next_order(int *steps, int n)
{
    int i = n - 2, j = n - 1;
    while (i >= 0 && steps[i] >= steps[i + 1]) i--;
    if (i >= 0) {
        while (steps[j] <= steps[i]) j--;
        const int swap = steps[i];
        steps[i] = steps[j];
        steps[j] = swap;
    }
    for (int a = i + 1, b = n - 1; a < b; a++, b--) {
        const int swap = steps[a];
        steps[a] = steps[b];
        steps[b] = swap;
    }
    return i >= 0;
}

double direction_paths(const int v[3])
{
    int steps[DIRECTION_STEPS], n = 1;
    const int length = direction_steps(v, steps);
    while (direction_next_order(steps, length)) n++;
    return n;
}

int directions_fault(const char *directions, const char *name, char *message, size_t size)
{
    char word[PARAM_WORDS_SIZE], before[PARAM_WORDS_SIZE];
    int v[3], n = 0;
    for (; param_word(directions, n, word, sizeof word); n++) {
        int bad = direction_read(word, v);
        for (int i = 0; i < n && !bad; i++)
            bad = param_word(directions, i, before, sizeof before) && !strcmp(before, word);
        if (!bad) continue;
        snprintf(
            message, size,
            "directions of [measure.%s] has %.60s; a direction is x.y.z with x >= y >= z >= 0, given once, of at most "
            "%d steps: 1.0.0, 1.1.0, 1.1.1, 2.1.0, 2.1.1, ...",
            name, word, DIRECTION_STEPS);
        return -1;
    }
    if (n > 0 && n <= DIRECTIONS_MOST) return 0;
    snprintf(message, size, "directions of [measure.%s] are %d; allowed are 1 to %d, such as 1.0.0 1.1.0", name, n,
             DIRECTIONS_MOST);
    return -1;
}
