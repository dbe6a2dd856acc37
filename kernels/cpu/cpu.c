#include "kernels/cpu/cpu.h"

#include <stddef.h>

#include "kernels/base/error.h"
#include "kernels/lattice/lanes.h"

#define TABLES(suffix)                                                                                                 \
    extern const cpu_runner cpu_table_d##suffix[KERNEL_COUNT], cpu_table_s##suffix[KERNEL_COUNT],                      \
        cpu_table_h##suffix[KERNEL_COUNT], cpu_table_q##suffix[KERNEL_COUNT];                                          \
    static const cpu_runner *const of_##suffix[PREC_COUNT] = {cpu_table_d##suffix, cpu_table_s##suffix,                \
                                                              cpu_table_h##suffix, cpu_table_q##suffix};
TABLES(l)
TABLES(v1)
#if LANES_HAVE(2)
TABLES(v2)
#else
#define of_v2 NULL
#endif
#if LANES_HAVE(4)
TABLES(v4)
#else
#define of_v4 NULL
#endif

cpu_runner cpu_find(kernel_id id, precision prec, int lanes)
{
    static const cpu_runner *const *const in_parts[5] = {[1] = of_v1, [2] = of_v2, [4] = of_v4};
    const int full = prec == PREC_DOUBLE ? LANES_DOUBLE : LANES_SINGLE, parts = full / lanes;
    const cpu_runner *const *tables = lanes == 1 ? of_l : parts <= 4 ? in_parts[parts] : NULL;
    REQUIRE(tables, "kernels of %d lanes", lanes);
    return tables[prec][id];
}
