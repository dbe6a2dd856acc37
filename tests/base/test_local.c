/* Local sections: a collective call inside of one is a fault that names both, also on one rank; outside of them nothing
 * happens. */
#include "kernels/base/local.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "tests/base/child.h"
#include "tests/check.h"

static void reduce(int inside)
{
    FILE *out = fopen("/dev/null", "w");
    json j = json_begin(out);
    if (inside) local_check("a reduction over all ranks");
    json_end(&j);
    local_check("a reduction over all ranks");
}

static void reduce_outside(void)
{
    reduce(0);
}

static void reduce_inside(void)
{
    reduce(1);
}

int main(void)
{
    CHECK(!local_section());
    local_begin("a table");
    CHECK_STR(local_section(), "a table");
    local_end();
    CHECK(!local_section());
    CHECK_INT(child_run(reduce_outside), 0);
    const int status = child_run(reduce_inside);
    CHECK(status != 0);
    CHECK(strstr(child_text, "a reduction over all ranks inside of a line of JSON"));
    return CHECK_SUMMARY();
}
