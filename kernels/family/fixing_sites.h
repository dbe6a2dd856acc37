/* Site functions of the family fixing, and what they are made of. */
#include "kernels/family/fixing.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/su3.h"
#include "kernels/site/path.h"
#include "kernels/site/fixing.h"
