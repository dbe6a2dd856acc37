/* Launches of the family smear that a GPU starts in a way of its own. */
#define OWN_stout , INSTANCE_PARTS
#define OWN_stout_back , INSTANCE_PARTS
#define OWN_stout_gather , INSTANCE_PARTS
#define OWN_staples_project , INSTANCE_PARTS
