/* Sections whose kinds share parts: tables of keys, each with a struct of its own. The structs of the parts of a kind follow
 * each other, in the order of its list, in the bytes that a section keeps for them. */
#ifndef PLAQ_PARTS_H
#define PLAQ_PARTS_H

#include "kernels/base/param.h"

/* The struct of a part, writable where the bytes are; null where the list, which ends with null, does not have it. A list
 * that does not fit is an internal error. */
void *parts_struct(const param_section *const *list, const char *bytes, size_t size, const param_section *part);
/* True if one of the parts has the key; and all keys of the parts, separated by spaces. */
int parts_have(const param_section *const *list, const char *key);
void parts_keys(const param_section *const *list, char *text, size_t size);

#endif
