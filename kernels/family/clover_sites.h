/* Site functions of the family clover, and what they are made of. */
#include "kernels/family/clover.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/su3.h"
#include "kernels/site/path.h"
#include "kernels/site/sums.h"
#include "kernels/site/clover_product.h"
#include "kernels/site/clover.h"
#include "kernels/site/clover_force.h"
