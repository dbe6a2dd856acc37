#include "kernels/cpu/cpu.h"

#define TABLE(suffix) extern const cpu_runner cpu_table##suffix[KERNEL_COUNT];
TABLE(_dl)
TABLE(_sl)
TABLE(_hl)
TABLE(_ql)
TABLE(_dv)
TABLE(_sv)
TABLE(_hv)
TABLE(_qv)
#undef TABLE

cpu_runner cpu_find(kernel_id id, precision prec, int simd)
{
    static const cpu_runner *const linear[PREC_COUNT] = {cpu_table_dl, cpu_table_sl, cpu_table_hl, cpu_table_ql};
    static const cpu_runner *const nodes[PREC_COUNT] = {cpu_table_dv, cpu_table_sv, cpu_table_hv, cpu_table_qv};
    return (simd ? nodes : linear)[prec][id];
}
