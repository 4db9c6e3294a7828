/* Kubernetes versions as far as flags and feature gates depend on them. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* The minor of "v1.37.1" (v may lack; a suffix may follow); another major or no version at all:
 * ERROR_USAGE naming `what`. */
int kubernetes_minor(const char *version, const char *what, unsigned *ret, struct error *err);

/* How much of a version is upstream's: without what a vendor put behind it ("-eks-5d4a308",
 * "-gke.1415000", "+vmware.1"). A prerelease ("-rc.1") is upstream's. */
size_t kubernetes_release_length(const char *version);

/* The major of containerd's version ("v2.4.2"); anything else: 0. Decides the shape of its
 * configuration file. */
unsigned containerd_major(const char *version);
