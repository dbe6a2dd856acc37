/* Names in the output folder of a run. */
#ifndef PLAQ_IO_RUN_FOLDER_H
#define PLAQ_IO_RUN_FOLDER_H

#include <stdint.h>

/* The ensemble of a run: the folder of kept configurations and its index, in the output folder, and the first line of
 * the index. */
#define SAVE_FOLDER "configurations"
#define SAVE_INDEX "configurations.tsv"
#define SAVE_INDEX_MOST ((uint64_t)64 << 20) /* bytes of it that are read */
#define SAVE_INDEX_COLUMNS "trajectory\tfile\tdigest\tplaquette\tacceptance"

#endif
