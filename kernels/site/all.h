/* Every site function, in the precision and layout asked for (see lane.h). */
#include "kernels/args.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/su3.h"

#include "kernels/site/spin.h"

#include "kernels/site/blas.h"
#include "kernels/site/block.h"
#include "kernels/site/clover.h"
#include "kernels/site/ghost.h"
#include "kernels/site/hop.h"
#include "kernels/site/gauge.h"
#include "kernels/site/random.h"
#include "kernels/site/staggered_links.h"
#include "kernels/site/staggered.h"

#include "kernels/site/force.h"
#include "kernels/site/staggered_force.h"
