/* Is a lattice file whole? Reads all of it and looks at everything that it says of itself.
 *
 * The verdict is the worst of:
 *   whole      nothing to complain about
 *   odd        readable, checksums (if any) right, but something no standard writer writes, or a recorded value that
 *              is off in its last digits; a flipped bit in a header without checksum shows as this
 *   damaged    unreadable, wrong checksum, digest or averages, NaN, or links off the group where no checksum tells
 *   unchecked  nothing was found out, and the file is not to blame: there is none, it cannot be opened, it has an odd
 *              extent, or the ranks cannot share its lattice
 * Commands should treat odd and damaged as a failure, with different words, and unchecked as an error of the user.
 *
 * Links that are not unitary are no damage where a checksum is right (fat and long links): see `unitary`. Without a
 * checksum (openqcd, milc-old, LIME files that lack one) every link is compared with what its other rows and columns
 * make of each number. The noise of that is bounded by the rounding of the stored numbers; a link beyond LINKS_OUTLIER
 * times the noise of the rest is odd, beyond LINKS_FAR_OUT times damaged; so is a nonzero number too small for
 * arithmetic to make, where there are few of them. Flips below that, the last 3 or 4 bits of numbers near one and some
 * more of small ones, cannot be told from rounding, unless a recorded plaquette does. */
#ifndef PLAQ_IO_LINKS_CHECK_H
#define PLAQ_IO_LINKS_CHECK_H

#include "io/links.h"

#define LINKS_OUTLIER 2.5
#define LINKS_FAR_OUT 16.0

typedef enum { CHECK_WHOLE, CHECK_ODD, CHECK_DAMAGED, CHECK_UNCHECKED } check_verdict;

typedef struct {
    check_verdict verdict;
    char message[512]; /* the worst finding, or "" */
    links_info info;
    int header_ok, links_read;                  /* without links_read nothing of what follows is known */
    int checksum_ok;                            /* 1 right, 0 wrong, -1 none in the file */
    int plaquette_ok, link_trace_ok, digest_ok; /* likewise */
    int unitary;                                /* all links are in SU(3) to the precision of the file */
    double plaquette, link_trace;               /* computed */
    double max_unitarity;                       /* largest |(U U^+ - 1)_ij| */
    double max_determinant;                     /* largest |det U - 1| */
    uint64_t nonfinite;
    uint64_t outliers, far_out, tiny; /* links off the noise by the two factors; numbers too small, if few */
    char digest[65];
} check_report;

/* Collective; the verdict. `plaquette` computes (1/3) Re tr averaged over all planes of a field of links in double
 * precision with halo depth 1; NULL skips it. */
check_verdict links_check(const char *path, double (*plaquette)(field *u), check_report *report);

/* The part that looks at the field alone: fills max_unitarity, max_determinant, outliers and unitary of the report, for
 * links stored with that many bits. Collective. */
void links_check_group(const field *u, int precision_bits, check_report *report);

#endif
