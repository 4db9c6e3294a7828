/* The kubelet's folder of certificates. Not for other folders:
 * join/kubelet/client_certificate.h. */
#pragma once

#include "join/kubelet/client_certificate.h"

/* A file of the folder, "kubelet-client" or "kubelet-server" with this ending; the caller frees. */
char *client_certificate_path(const struct client_certificate_options *options, const char *ending);
/* Writes chain and key as kubelet-client-<date>.pem and leads kubelet-client-current.pem there (the
 * serving certificate: kubelet-server-...). The chain's first certificate must be this node's, for
 * this key, good now, and lead to the cluster's CA where that is known (ERROR_UNTRUSTED,
 * ERROR_MALFORMED). What else the text holds is left out. */
int client_certificate_store(struct host *host, const struct client_certificate_options *options,
                             const char *chain_pem, const char *key_pem,
                             struct client_certificate *ret, struct error *err);
/* A copied or restored folder has a plain kubelet-client-current.pem, which the kubelet reads but
 * refuses to rotate (client-go: updateSymlink): makes it a link again, to a file named after the
 * begin of the stored certificate. Nothing is done where it is a link. */
int client_certificate_relink(struct host *host, const struct client_certificate_options *options,
                              const struct client_certificate *stored, struct error *err);
