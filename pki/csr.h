/* Certificate requests (PKCS #10) for a node's certificates, and their private keys: EC P-256, as
 * the kubelet makes them. */
#pragma once

#include "base/error.h"
#include "base/text.h"

/* The names that a server answers to; borrowed. */
struct csr_names {
    const struct text_list *dns, *ip;
};
/* PEM "CERTIFICATE REQUEST": O=system:nodes, CN=system:node:<node_name>, these alternative names
 * (NULL: none), signed with SHA-256 by `key_pem`. The caller frees. ERROR_MALFORMED when the key or
 * an address does not parse, ERROR_USAGE when the node name is empty, longer than 253 or not of
 * [a-z0-9.-]. Names above 52 characters exceed X.520's bound for a common name; Kubernetes takes
 * them, so they are made. */
int csr_make(const char *key_pem, const char *node_name, const struct csr_names *names,
             char **ret_pem, struct error *err);
/* Subject of the request, "CN=system:node:win-1,O=system:nodes"; NULL when it does not parse. The
 * caller frees. */
char *csr_subject(const char *csr_pem);
/* true when the request parses, its signature holds, and its key and subject are these. */
bool csr_is_ours(const char *csr_pem, const char *key_pem, const char *node_name);

/* A fresh key from OpenSSL's generator as PEM "EC PRIVATE KEY" (RFC 5915); secret_free_text().
 * Fails with ERROR_HOST when there is no randomness. */
int key_generate(char **ret_pem, struct error *err);
/* 0 when the text is one usable private key. ERROR_MALFORMED; the text is never in the error. */
int key_check(const char *pem, struct error *err);
