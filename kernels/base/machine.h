/* Memory and cores that this program may use: those of the machine, less by control groups (cgroups of version 1 or 2, in which
 * batch systems and containers run programs) and by limits of the process. Local; each call asks the system anew. */
#ifndef PLAQ_MACHINE_H
#define PLAQ_MACHINE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that all processes here may take together: the memory of the machine, or less by a control group. 0 when
 * unknown. */
double machine_memory(void);
/* Bytes of address space that this process may take (ulimit -v, ulimit -d); infinite without a limit. */
double machine_process_memory(void);

/* Resident bytes of this process: now, and the most so far; 0 when unknown. */
double machine_resident(void);
double machine_resident_peak(void);

/* The cores that this process may run on, one byte each: 1 or 0. */
#define MACHINE_CORES 1024
void machine_cores(unsigned char may_use[MACHINE_CORES]);
/* Cores' worth of time that its control group gets; infinite without a limit. */
double machine_core_share(void);

#ifdef __cplusplus
}
#endif
#endif
