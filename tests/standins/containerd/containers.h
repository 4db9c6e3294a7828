/* The containers of one pod: Windows programs that the rig starts in the pod's network. */
#pragma once

#include "base/json.h"

/* Fills pod["containers"] and starts each; a start that fails is tried again by look_after. */
void containers_start(json_t *pod);
/* Notes what ended; restarts it by the pod's restartPolicy, after 0, 10, 20 ... 300 s. */
void containers_look_after(json_t *pod);
void containers_stop(json_t *pod);
