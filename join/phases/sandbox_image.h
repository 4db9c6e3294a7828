/* The sandbox image that a bundle brought (services/artifacts/image.h), given to containerd. */
#pragma once

#include "join/join.h"

/* Imports it by ctr, where it was installed; containerd runs. Without ctr: a warning. Importing an
 * image that containerd has changes nothing. Kinds: those of host_run(), ERROR_HOST (ctr fails),
 * ERROR_DENIED (somebody else than an administrator has put one of the two there). */
int sandbox_image_import(struct join *join, struct error *err);
