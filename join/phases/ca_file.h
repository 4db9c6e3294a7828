/* The node's ca.crt beside the CA that discovery proved. */
#ifndef JOIN_PHASES_CA_FILE_H
#define JOIN_PHASES_CA_FILE_H

#include "join/join.h"

/* What the file at caCertPath holds, by public keys as pins name them: "sha256:.. (CN=kubernetes)",
 * of several the first three; "no certificate" when it is none. NULL when there is no file. The
 * caller frees. */
char *ca_file_describe(const struct join *join);
/* One line with what both hold when the file's keys are not those of join->client's CA; NULL when
 * they are, or there is no file. kubeadm keeps such a file as it stands. The caller frees. */
char *ca_file_difference(const struct join *join);

#endif
