/* Site functions of the family contract, and what they are made of. */
#include "kernels/family/contract.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/contract.h"
#include "kernels/site/baryon.h"
#include "kernels/site/lane_sums.h"
#include "kernels/site/slice_sums.h"
#include "kernels/site/column_slices.h"
