/* Folders and programs of the host that a pod uses: Windows lets nobody delete them meanwhile. */
#pragma once

#include "base/json.h"

/* Holds the pod's hostPath folders, and programs in them, open against deletion. */
void mounts_hold(const json_t *pod);
void mounts_release(const json_t *pod);
