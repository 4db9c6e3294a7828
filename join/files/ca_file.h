/* The node's ca.crt beside the CA that discovery proved. */
#pragma once

#include "join/join.h"

/* What the file holds, by public keys as pins name them: "sha256:.. (CN=kubernetes)",
 * of several the first three; "no certificate" when it is none. NULL when there is no file. The
 * caller frees. */
char *ca_file_describe(struct host *host, const char *path);
/* One line with what both hold when the file's keys are not those of the proven CA; NULL when they
 * are, there is no file, or no CA (NULL). kubeadm keeps such a file as it is. The caller frees. */
char *ca_file_difference(struct host *host, const char *path, const char *proven_pem);

/* A ca.crt of another cluster makes kubelets fail with errors that mislead: warns of the one
 * that will be replaced. */
void ca_file_warn(struct host *host, const struct join_found *found,
                  struct join_progress *progress);
