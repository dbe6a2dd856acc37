/* Site functions of the family multiblas, and what they are made of. */
#include "kernels/family/multiblas.h"
#include "kernels/site/lane.h"

#include "kernels/site/near.h"
#include "kernels/site/multiblas.h"
