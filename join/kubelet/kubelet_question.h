/* The kubelet itself is asked whether it would start with what it is to be given. */
#pragma once

#include "join/progress/progress.h"
#include "services/service_table.h"

/* What a kubelet's last words say against its configuration ("unrecognized feature gate: X"), or
 * NULL where they are about something else or it liked what it read. The caller frees.
 * *ret_of_arguments: whether the objection is to an argument, and not to config.yaml. */
char *kubelet_question_objection(const char *said, bool *ret_of_arguments);
/* What it says of fields that it does not know (`unknown field "maxPodz"`), or NULL. The caller
 * frees. */
char *kubelet_question_unknown(const char *said);
/* Starts the kubelet (`program`) with the words of its service, `config` as config.yaml in
 * `folder`, which is the caller's to remove, and an end before it does anything:
 * --exit-on-lock-contention without a lock file, which every kubelet refuses once it has judged its
 * configuration (cmd/kubelet/app/server.go: run). ERROR_USAGE with its own words when it refuses
 * config.yaml first, ERROR_INTERRUPTED; unknown fields are a warning, and so is a kubelet that does
 * not end within 30 s, writes without end or is killed. One that cannot start is ignored. */
int kubelet_question_ask(struct host *host, struct join_progress *progress, const json_t *config,
                         const struct service_settings *settings, const char *program,
                         const char *folder, struct error *err);
