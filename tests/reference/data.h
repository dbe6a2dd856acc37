/* Recorded configurations and numbers: in the folder PLAQ_TEST_DATA, else in ../shared/data beside the source tree. */
#ifndef PLAQ_TEST_DATA_H
#define PLAQ_TEST_DATA_H

#include <stdio.h>
#include <stdlib.h>

static inline const char *data_folder(void)
{
    const char *folder = getenv("PLAQ_TEST_DATA");
    return folder ? folder : PLAQ_SOURCE_DIR "/../shared/data";
}

/* Valid until the next call. */
static inline const char *data_path(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", data_folder(), name);
    return path;
}

static inline int data_has(const char *name)
{
    FILE *f = fopen(data_path(name), "rb");
    if (f) fclose(f);
    return f != NULL;
}

#endif
