/* Site functions of the family coarse, and what they are made of. */
#include "kernels/family/coarse.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/clover_product.h"
#include "kernels/site/coarse.h"
#include "kernels/site/coarse_transfer.h"
#include "kernels/site/coarse_galerkin.h"
#ifndef __CUDACC__
#include "kernels/site/strip.h"
#include "kernels/site/coarse_strips.h"
#endif
