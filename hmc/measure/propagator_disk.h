/* Files of propagators, which the key `file` of a section [propagator.NAME] names (io/history/propagator_file.h). A file fits a section
 * if it has the digest of the configuration's links and the section's identity (hmc/assemble/identity.h): then it is read in place of
 * solving. All functions are collective. */
#ifndef PLAQ_PROPAGATOR_DISK_H
#define PLAQ_PROPAGATOR_DISK_H

#include "hmc/measure/measure.h"
#include "io/history/propagator_file.h"

/* File of a section on a configuration. */
typedef struct {
    char path[PARAM_STRING_SIZE + 32], links[65];
    int there;   /* true: on disk, and fits; `found` is what it says of itself */
    int foreign; /* true: of another program, and fits by its shape alone; its residual has to tell */
    propagator_file found;
    param_text identity;
} propagator_disk;

/* Looks for the file of the section, which has one; `digest` is that of the links. MEASURE_DONE, or MEASURE_FAILED with the reason in
 * r->trouble: there is no file to read, another one stands there, or none can be written. Close it in any case. */
int propagator_disk_open(propagator_disk *d, const measure_context *c, const named_propagator *q, const char *digest,
                         measure_result *r);
void propagator_disk_close(propagator_disk *d);
/* Columns of a file that is there: a new field, null where the reading fails, with the reason in r->trouble. */
field *propagator_disk_read(const propagator_disk *d, const measure_context *c, const named_propagator *q,
                            measure_result *r);
/* Judges a foreign file by the largest |b - M x| / |b| of its columns: MEASURE_DONE, or MEASURE_FAILED with the reason. */
int propagator_disk_judge(const propagator_disk *d, const named_propagator *q, double residual, measure_result *r);
/* Writes the columns, with the values of the nsolves solves behind them. MEASURE_DONE, or MEASURE_FAILED with the reason. */
int propagator_disk_write(const propagator_disk *d, const measure_context *c, const named_propagator *q,
                          const field *columns, int nsolves, const double (*solves)[PROPAGATOR_VALUES],
                          measure_result *r);
/* Bytes of the numbers in the section's file on a lattice of these extents; 0 without a file. Local. */
double propagator_disk_bytes(const parameters *p, const named_propagator *q, const int size[4]);
/* Shortest interval of the measurements that name the section, or one that is made of it; 0: there are none. Local. */
int64_t propagator_disk_interval(const parameters *p, const named_propagator *q);
/* plaq run measures on many configurations: a file whose name is no pattern is a user error. */
void propagator_disk_need_patterns(const parameters *p);

#endif
