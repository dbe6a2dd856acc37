/* Site functions of the family blas, and what they are made of. */
#include "kernels/family/blas.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/sums.h"
#include "kernels/site/blas.h"
#include "kernels/site/random.h"
#include "kernels/site/random_vector.h"
#include "kernels/site/ghost.h"
