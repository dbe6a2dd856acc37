/* Named sections, and keys that name them. */
#ifndef PLAQ_NAMES_H
#define PLAQ_NAMES_H

#include "io/input/ini.h"

#define MAX_NAMED 64 /* sections of one kind */

/* Names of the sections [section.NAME], in their order; how many. More than MAX_NAMED are a user error. */
int names_of(const ini_input *in, const char *section, const char *names[MAX_NAMED]);
/* A name in a key of a section that is none of the n known ones is a user error, with the nearest; `what`: those. */
void names_check(const ini_input *in, const char *section, const char *instance, const char *key, const char *found,
                 const char *const *known, int n, const char *what);

#endif
