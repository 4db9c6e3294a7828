/* X.509 certificates: reading PEM bundles, what is in them, who signed whom. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "pki/digest.h"

struct certificate {
    char *subject; /* "CN=kubernetes", RFC 4514-like, as Go prints names */
    char *issuer;
    char *common_name; /* "" when it has none */
    struct text_list organizations;
    int64_t not_before; /* Unix seconds */
    int64_t not_after;
    struct text_list dns_names; /* subject alternative names */
    struct text_list ip_addresses;
    char pin[PIN_TEXT_MAX]; /* of its SubjectPublicKeyInfo, as encoded in it */
};
struct certificates {
    struct certificate *items;
    size_t count;
};
enum { CERTIFICATES_MAX = 1024 };

/* Reads a bundle by OpenSSL's readers of PEM and DER: blocks of type CERTIFICATE without PEM
 * headers, as client-go's cert.ParseCertsPEM; other blocks and text around them are ignored. A
 * damaged block, one that is not a certificate, and a bundle with none ("data does not contain any
 * valid RSA or ECDSA certificates") are errors. What a certificate is good for is not asked here.
 * Fails with ERROR_MALFORMED. certificates_free(). */
int certificates_parse(const char *pem, size_t len, struct certificates *ret, struct error *err);
void certificates_free(struct certificates *certificates);
/* The same certificates as one plain PEM text without anything else, of those alone that have one
 * of the pins ("" when none has; pins NULL: all of them). NULL when they cannot be read (as
 * certificates_parse). The caller frees. */
char *certificates_plain(const char *pem, size_t len, const struct text_list *pins,
                         struct error *err);
/* Index of the first certificate that has one of the pins (a list made by pins_parse), or -1. */
long certificates_find_pin(const struct certificates *certificates, const struct text_list *pins);

/* "sha256:.. (CN=kubernetes, valid from 2026-11-20T00:00:00Z to 2036-..)", for messages; the caller
 * frees. */
char *certificate_describe(const struct certificate *certificate);
/* "10.0.0.10, kubernetes, kubernetes.default": the names that it is valid for, the first 16 and how
 * many more; the caller frees. */
char *certificate_names(const struct certificate *certificate);
/* -1 with ERROR_UNTRUSTED when `now` lies outside its dates; the message has both times. */
int certificate_check_dates(const struct certificate *certificate, int64_t now, struct error *err);

/* The first certificate of `chain_pem` must have `key_pem`'s public key. ERROR_UNTRUSTED when it
 * has not, ERROR_MALFORMED when one of them does not parse. */
int certificate_check_key(const char *chain_pem, const char *key_pem, struct error *err);
/* The first certificate of `chain_pem` must lead to one of `ca_pem` (others in the chain are
 * intermediates, roots need not be self-signed, as in Go) and be good at `now` for a TLS server
 * (for_server) or client; now < 0: dates do not count. ERROR_UNTRUSTED with OpenSSL's reason. */
int certificate_check_chain(const char *chain_pem, const char *ca_pem, bool for_server, int64_t now,
                            struct error *err);
/* true when the alternative names of the first certificate of `chain_pem` cover `host` (a DNS name
 * or an IP address, IPv6 without brackets), by OpenSSL's rules: addresses as numbers, names without
 * case, "*" for one whole left-most label. The common name does not count. */
bool certificate_covers(const char *chain_pem, const char *host);

/* Certificate requests (PKCS #10) for a node's certificates, and their private keys: EC P-256, as
 * the kubelet makes them. */

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
