#include "kernels/cpu/cpu.h"

#include <stddef.h>

#include "kernels/lattice/lanes.h"

#define TABLE(suffix) extern const cpu_runner cpu_table##suffix[KERNEL_COUNT];
TABLE(_dl)
TABLE(_sl)
TABLE(_hl)
TABLE(_ql)
#if LANES_DOUBLE > 1
TABLE(_dv)
TABLE(_sv)
TABLE(_hv)
TABLE(_qv)
#endif
#undef TABLE

cpu_runner cpu_find(kernel_id id, precision prec, int simd)
{
    static const cpu_runner *const linear[PREC_COUNT] = {cpu_table_dl, cpu_table_sl, cpu_table_hl, cpu_table_ql};
#if LANES_DOUBLE > 1
    static const cpu_runner *const nodes[PREC_COUNT] = {cpu_table_dv, cpu_table_sv, cpu_table_hv, cpu_table_qv};
    if (simd) return nodes[prec][id];
#else
    (void)simd;
#endif
    return linear[prec][id];
}
