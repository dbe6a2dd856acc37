/* What a GPU starts in a way of its own of the family clover. */
#define OWN_clover_force , INSTANCE_PARTS
