/* Blocks as the hop of kernels/ops/wilson.c needs them. */
#ifndef PLAQ_BLOCK_HOP_H
#define PLAQ_BLOCK_HOP_H

#include "kernels/family/wilson.h"
#include "kernels/ops/block.h"

/* Makes the hop with these arguments, for fields like `like`, stay in its blocks. */
void blocks_cut_hop(const blocks *b, hop_args *a, const field *like);

#endif
