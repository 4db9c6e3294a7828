/* Folders and programs of the host that a pod uses: Windows lets nobody delete them meanwhile. */
#ifndef TESTS_STANDINS_CONTAINERD_MOUNTS_H
#define TESTS_STANDINS_CONTAINERD_MOUNTS_H

#include "base/json.h"

/* Holds the pod's hostPath folders, and programs in them, open against deletion. */
void mounts_hold(const json_t *pod);
void mounts_release(const json_t *pod);

#endif
