/* Reads the parts of Kubernetes versions that decide which flags and feature gates exist. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* Reads the minor version of "v1.37.1" (the v may be missing, a suffix may follow). Fails with
 * ERROR_USAGE, naming `what`, for another major version or no version. */
int kubernetes_minor(const char *version, const char *what, unsigned *ret, struct error *err);

/* Returns the length of the part of a version that upstream gave, without a vendor's suffix
 * ("-eks-5d4a308", "-gke.1415000", "+vmware.1"). A prerelease ("-rc.1") is upstream's. */
size_t kubernetes_release_length(const char *version);

/* Returns the major version of containerd ("v2.4.2"); 0 for other texts. It decides the format of
 * its configuration file. */
unsigned containerd_major(const char *version);
