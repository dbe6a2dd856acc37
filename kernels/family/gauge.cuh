/* What a GPU starts in a way of its own of the family gauge. */
#define OWN_gauge_force , INSTANCE_PARTS
#define OWN_parallelogram_force , INSTANCE_PARTS
#define OWN_field_strength , INSTANCE_PARTS
