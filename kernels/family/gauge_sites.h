/* Site functions of the family gauge, and what they are made of. */
#include "kernels/family/gauge.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/su3.h"
#include "kernels/site/path.h"
#include "kernels/site/ends.h"
#include "kernels/site/gauge.h"
#include "kernels/site/wilson_loop.h"
#include "kernels/site/random.h"
#include "kernels/site/random_gauge.h"
