/* GPU kernels of family clover with instances of their own. */
#define OWN_clover_force , INSTANCE_PARTS
