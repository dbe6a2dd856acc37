/* Site functions of the family domainwall, and what they are made of. */
#include "kernels/family/domainwall.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/su3.h"
#include "kernels/site/spin.h"
#include "kernels/site/clover_product.h"
#include "kernels/site/link.h"
#include "kernels/site/hop.h"
#include "kernels/site/domainwall.h"
