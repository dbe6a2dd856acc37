/* Site functions of the family domainwall, and what they are made of. */
#include "kernels/family/domainwall.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/domainwall.h"
