/* GPU kernels of family gauge with instances of their own. */
#define OWN_gauge_force , INSTANCE_PARTS
#define OWN_gauge_force_bounded , INSTANCE_PARTS
#define OWN_parallelogram_force , INSTANCE_PARTS
#define OWN_field_strength , INSTANCE_PARTS
#define OWN_momenta_laplace , INSTANCE_PARTS
