/* Finds a lattice file format by name; NULL when there is none. */
#ifndef PLAQ_IO_LINKS_REGISTRY_H
#define PLAQ_IO_LINKS_REGISTRY_H

#include "io/links/links_format.h"

const links_format *links_format_find(const char *name);

#endif
