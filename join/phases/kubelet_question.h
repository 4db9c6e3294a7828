/* The kubelet itself is asked whether it would start with what it is to be given. */
#ifndef JOIN_PHASES_KUBELET_QUESTION_H
#define JOIN_PHASES_KUBELET_QUESTION_H

#include <stdbool.h>

#include "join/join.h"

/* true when config.yaml has anything in it but what kubeadm and winjoin always write: values that
 * somebody chose, which a kubelet of some version may refuse (feature gates above all). */
bool kubelet_question_is_needed(const json_t *config);
/* What a kubelet's last words say against its configuration ("unrecognized feature gate: X"), or
 * NULL where they are about something else or it liked what it read. The caller frees. */
char *kubelet_question_objection(const char *said);
/* Starts the kubelet (`program`) with the words of its service, config.yaml in `folder`, which is
 * the caller's to remove, and an end before it does anything: --exit-on-lock-contention without a
 * lock file, which every kubelet refuses once it has judged its configuration
 * (cmd/kubelet/app/server.go: run). ERROR_USAGE with its own words when it refuses config.yaml
 * first; what it cannot be asked is passed over. */
int kubelet_question_ask(struct join *join, const char *program, const char *folder,
                         struct error *err);

#endif
