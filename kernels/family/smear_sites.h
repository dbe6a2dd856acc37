/* Site functions of the family smear, and what they are made of. */
#include "kernels/family/smear.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/su3.h"
#include "kernels/site/path.h"
#include "kernels/site/singular.h"
#include "kernels/site/stout.h"
#include "kernels/site/special.h"
