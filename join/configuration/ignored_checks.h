/* --ignore-preflight-errors: which checks its names mean. */
#pragma once

#include "base/text.h"

/* A name as names are compared: lower case; a path with '-' for its separators and without its
 * drive, as kubeadm makes ids of paths on Linux. The caller frees. */
char *ignored_check_canonical(const char *id);
/* true when one of the names means this check: in any case; "all"; paths in ids by either
 * spelling, with a drive or without ("FileAvailable--etc-kubernetes-kubelet.conf",
 * "FileAvailable-C:\etc\kubernetes\kubelet.conf"). */
bool ignored_checks_have(const struct text_list *ignored, const char *id);
