/* Asks the kubelet whether it would start with its arguments and configuration. */
#pragma once

#include "join/progress/progress.h"
#include "services/service_table.h"

/* Returns the kubelet's objection to its configuration ("unrecognized feature gate: X") from the
 * end of its output; NULL when it accepted the configuration or failed for another reason. The
 * caller frees the text. *ret_of_arguments says whether the objection is to an argument and not to
 * config.yaml. */
char *kubelet_question_objection(const char *said, bool *ret_of_arguments);
/* Returns what the kubelet's output says about fields that it does not know (`unknown field
 * "maxPodz"`), or NULL. The caller frees the text. */
char *kubelet_question_unknown(const char *said);
/* Starts the kubelet (`program`) with its service's arguments and `config`, written to config.yaml
 * in `folder`, which the caller removes. The argument --exit-on-lock-contention without a lock file
 * makes every kubelet end after it has checked its configuration and before it does anything
 * (cmd/kubelet/app/server.go: run). Fails with ERROR_USAGE and the kubelet's message when the
 * kubelet refuses config.yaml, as host_write(), or with ERROR_INTERRUPTED. Warns of unknown fields,
 * and when the kubelet does not end within 30 s, writes without end or is killed. A kubelet that
 * cannot be started is ignored. */
int kubelet_question_ask(struct host *host, struct join_progress *progress, const json_t *config,
                         const struct service_settings *settings, const char *program,
                         const char *folder, struct error *err);
