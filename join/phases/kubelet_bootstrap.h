/* The TLS bootstrap left to the kubelet (--tls-bootstrap kubelet): the file that it begins with,
 * the wait for its certificate, and the end of that file. */
#pragma once

#include "join/join.h"

/* Writes bootstrap-kubelet.conf (HOST_SECRET; kubeadm: kubelet-start), and takes away what would
 * keep the kubelet from using it: a kubelet.conf and a certificate of another life. Discovery must
 * have been done. */
int kubelet_bootstrap_write(struct journal *journal, const struct join_found *found,
                            struct error *err);
/* Name of the node's newest request, when it was refused: one of an earlier join, to be asked for
 * before the kubelet starts. NULL when there is none. Allocated. */
char *kubelet_bootstrap_refused_before(struct join *join);
/* Waits until kubelet.conf and the certificate that it names are usable, telling meanwhile what the
 * kubelet's request waits for. refused_before: not the one that is waited for (may be NULL).
 * ERROR_DENIED when it is denied or failed (the kubelet is stopped: it would ask again for ever),
 * ERROR_TIMED_OUT, ERROR_INTERRUPTED. */
int kubelet_bootstrap_wait(struct join *join, const char *refused_before, struct error *err);
/* Removes the file with the token, when it was written by us (in this run or one before). */
void kubelet_bootstrap_end(struct journal *journal, struct join_progress *progress);
