/* Site functions of the family staggered, and what they are made of. */
#include "kernels/family/staggered.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/su3.h"
#include "kernels/site/path.h"
#include "kernels/site/link.h"
#include "kernels/site/singular.h"
#include "kernels/site/staggered_links.h"
#include "kernels/site/staggered.h"
#include "kernels/site/staggered_force.h"
