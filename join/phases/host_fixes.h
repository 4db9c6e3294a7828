/* Registry values against known faults of this Windows (--apply-host-fixes). */
#ifndef JOIN_PHASES_HOST_FIXES_H
#define JOIN_PHASES_HOST_FIXES_H

#include "join/join.h"

/* Sets those of netsetup/windows_builds.h that this Windows lacks, when that was asked for; each is
 * in the journal first, and told as a warning with its reason. */
int host_fixes_apply(struct join *join, struct error *err);

#endif
