/* Registry values: against known faults of this Windows (--apply-host-fixes), and those that the
 * network's agent needs. */
#pragma once

#include "join/join.h"

/* Sets those of netsetup/windows_builds.h that this Windows lacks, when that was asked for; each is
 * in the journal first, and told as a warning with its reason. */
int host_fixes_apply(struct join *join, struct error *err);
/* The value that HNS must have read before its first network, for the plan's agent: in the journal
 * first; HNS is started again for it. Kinds: those of host_registry_get() and of services. */
int agent_registry_apply(struct join *join, struct error *err);
