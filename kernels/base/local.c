#include "kernels/base/local.h"

#include <stddef.h>

#include "kernels/base/error.h"

static const char *section;

void local_begin(const char *what)
{
    REQUIRE(!section, "%s inside of %s", what, section);
    section = what;
}

void local_end(void)
{
    section = NULL;
}

const char *local_section(void)
{
    return section;
}

void local_check(const char *what)
{
    REQUIRE(!section, "%s inside of %s, which one rank writes alone", what, section);
}
