/* Kubernetes versions as far as flags and feature gates depend on them. */
#pragma once

#include "base/error.h"

/* The minor of "v1.37.1" (v may lack; a suffix may follow); another major or no version at all:
 * ERROR_USAGE naming `what`. */
int kubernetes_minor(const char *version, const char *what, unsigned *ret, struct error *err);

/* The major of containerd's version ("v2.4.2"); anything else: 0. Decides the shape of its
 * configuration file. */
unsigned containerd_major(const char *version);
