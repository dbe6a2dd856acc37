/* Site functions of the family wilson, and what they are made of. */
#include "kernels/family/wilson.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/su3.h"
#include "kernels/site/spin.h"
#include "kernels/site/sums.h"
#include "kernels/site/clover_product.h"
#include "kernels/site/link.h"
#include "kernels/site/hop.h"
#include "kernels/site/hop_force.h"
#include "kernels/site/block.h"
