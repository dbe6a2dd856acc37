/* Names of files of an ensemble: a text with one %d, or %06d and the like, where the trajectory number stands. Local. */
#ifndef PLAQ_PATTERN_H
#define PLAQ_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* NULL, or what is wrong with the pattern. */
const char *pattern_fault(const char *pattern);
/* The name of that number; returns its length as snprintf() does. The pattern has no fault. */
int pattern_name(char *name, size_t size, const char *pattern, int64_t number);
/* File for the configuration of that trajectory number (-1: it bears none): `text` itself, or the pattern with the number where a % is
 * in it. 0, or -1 with a message that begins with the text. */
int pattern_file(char *name, size_t size, const char *text, int64_t number, char *message, size_t message_size);
/* The number whose name this is; -1 of another name. */
int64_t pattern_number(const char *name, const char *pattern);

#endif
