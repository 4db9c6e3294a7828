/* CRI's gRPC for winjoin itself: the list of pods, and their end. */
#pragma once

/* A line for each image that the rig's ctr (tests/wine/tool_ctr.c) has imported. */
#define IMPORTED_IMAGES "C:\\ProgramData\\containerd\\imported.txt"

#include <stdbool.h>

#include "base/text.h"

/* Takes what a client has said so far off `input`, adds the answer; false: nothing more is said. */
bool cri_answer(struct text *input, struct text *output);
