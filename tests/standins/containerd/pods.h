/* The pods that the containerd stand-in runs. */
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "tests/standins/containerd/config.h"

/* Loads what an earlier life of the service left running. Settings are borrowed for good. */
void pods_open(const struct standin_settings *settings);
/* {"op":"RunPod","pod":<Pod object with metadata.uid>,"dns":{..},"hosts":[..]} -> {"ok":true,..}.
 * Running already: success. */
json_t *pods_run(const json_t *request);
/* {"op":"StopPod","uid":".."}; absent is success. */
json_t *pods_stop(const json_t *request);
/* {"ok":true,"pods":[{"uid","namespace","name","id","netns","ip","containers":[{"name","running",
 * "exitCode","restarts","startedAt","image"}]}]} */
json_t *pods_list(void);
/* {"ok":true,"ready":bool,"message":".."}: is there a CNI configuration. */
json_t *pods_status(void);
/* Looks after the containers until the program ends: restarts what ended. */
void pods_watch(void *unused);
