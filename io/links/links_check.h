/* Is a lattice file whole? Reads all of it and looks at everything that it says of itself.
 *
 * The verdict is the worst of:
 *   whole      nothing to complain about
 *   odd        readable, checksums (if any) right, but something no standard writer writes, or a recorded value that
 *              is off in its last digits; a flipped bit in a header without checksum shows as this
 *   damaged    unreadable, wrong checksum, digest or averages, NaN, or links off the group where no checksum tells
 *   unchecked  nothing was found out, and the file is not to blame: there is none, it cannot be opened or read, it is a
 *              history or another file of plaq without links, it has an odd extent or none that it tells, or the ranks
 *              cannot share its lattice
 * Commands should treat odd and damaged as a failure, with different words, and unchecked as an error of the user.
 *
 * Links that are not unitary are no damage where a checksum is right (fat and long links): see `unitary`. Without a
 * checksum (openqcd, milc-old, LIME files that lack one) every link is compared with what its other rows and columns
 * make of each number. The noise of that is bounded by the rounding of the stored numbers; a link beyond LINKS_OUTLIER
 * times the noise of the rest, and off SU(3) by more than 16 roundings, is odd, beyond LINKS_FAR_OUT times damaged; so
 * is a nonzero number too small for arithmetic to make, where there are few of them. Flips below that, the last 3 or 4
 * bits of numbers near one and some more of small ones, cannot be told from rounding, unless a recorded plaquette does.
 * Links in time of the last slice that are all zero are open boundaries, not damage: `info.open_boundary`, with a
 * remark. */
#ifndef PLAQ_IO_LINKS_CHECK_H
#define PLAQ_IO_LINKS_CHECK_H

#include "io/links/links.h"

#define LINKS_OUTLIER 2.5
#define LINKS_FAR_OUT 16.0

typedef enum { CHECK_WHOLE, CHECK_ODD, CHECK_DAMAGED, CHECK_UNCHECKED } check_verdict;

typedef struct {
    check_verdict verdict;
    char message[512]; /* the worst finding, or "" */
    links_info info;
    int header_ok, links_read;        /* links_read = 0: nothing of what follows is known */
    int checksum_ok;                  /* 1 right, 0 wrong, -1 none in the file */
    int unitary;                      /* links are all in SU(3) to the precision of the file */
    double max_unitarity;             /* largest |(U U^+ - 1)_ij| */
    double max_determinant;           /* largest |det U - 1| */
    uint64_t outliers, far_out, tiny; /* links off the noise by the two factors; numbers too small, if few */
    char digest[65];
} check_report;

/* The verdict. `size`: that of a file that does not say it, or NULL. Collective. */
check_verdict links_check(const char *path, const int *size, check_report *report);

/* Judges links that links_read() has read from the file, with the bits and the message that it returned, and the info
 * in report->info; fills the rest of the report. Collective. */
check_verdict links_judge(const field *u, const char *path, int bits, const char *message, check_report *report);

/* The part that looks at the field alone: fills max_unitarity, max_determinant, outliers and unitary of the report, for
 * links stored with that many bits. Collective. */
void links_check_group(const field *u, int precision_bits, check_report *report);

/* Largest |(U U^+ - 1)_ij| or |det U - 1| of all links, but for inactive ones of lattices bounded in time; infinite when one is NaN.
 * Collective. */
double links_deviation(const field *u);
/* Largest of the links of local time slice t, [z][y][x][mu][18]; a NaN of an inactive link counts, too. Local. */
double links_slice_deviation(const lattice *lat, int t, const double *links);

#endif
