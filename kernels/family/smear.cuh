/* What a GPU starts in a way of its own of the family smear. */
#define OWN_stout , INSTANCE_PARTS
#define OWN_stout_back , INSTANCE_PARTS
#define OWN_stout_gather , INSTANCE_PARTS
