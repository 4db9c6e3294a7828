/* Reads X.509 certificates from PEM bundles, checks them, and makes requests and keys. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "pki/digest.h"

struct certificate {
    char *subject; /* Subject as Go prints names, similar to RFC 4514: "CN=kubernetes". */
    char *issuer;
    char *common_name; /* Common name; "" when there is none. */
    struct text_list organizations;
    int64_t not_before; /* Validity in seconds since 1970, from not_before to not_after. */
    int64_t not_after;
    struct text_list dns_names; /* Subject alternative names: DNS names and IP addresses. */
    struct text_list ip_addresses;
    char pin[PIN_TEXT_MAX]; /* Pin of its SubjectPublicKeyInfo in the original encoding. */
};
struct certificates {
    struct certificate *items;
    size_t count;
};
enum { CERTIFICATES_MAX = 1024 };

/* Reads a bundle with OpenSSL's PEM and DER parsers: blocks of type CERTIFICATE without PEM
 * headers, as client-go's cert.ParseCertsPEM. Other blocks and text around them are ignored. Errors
 * are a damaged block, a block that is not a certificate, and a bundle without certificates ("data
 * does not contain any valid RSA or ECDSA certificates"). The purpose of a certificate is not
 * checked. Fails with ERROR_MALFORMED. Free the result with certificates_free(). */
int certificates_parse(const char *pem, size_t len, struct certificates *ret, struct error *err);
void certificates_free(struct certificates *certificates);
/* Returns the certificates as plain PEM without any other text. With `pins`, takes only
 * certificates that have one of them ("" if none has); NULL takes all. Returns NULL if they cannot
 * be read (as in certificates_parse()). The caller frees it. */
char *certificates_plain(const char *pem, size_t len, const struct text_list *pins,
                         struct error *err);
/* Returns the index of the first certificate with one of the pins (from pins_parse()), or -1. */
long certificates_find_pin(const struct certificates *certificates, const struct text_list *pins);

/* Describes a certificate for messages: "sha256:.. (CN=kubernetes, valid from 2026-11-20T00:00:00Z
 * to 2036-..)". The caller frees it. */
char *certificate_describe(const struct certificate *certificate);
/* Lists the names of a certificate for messages: "10.0.0.10, kubernetes, kubernetes.default". After
 * 16 names it gives the number of the others. The caller frees it. */
char *certificate_names(const struct certificate *certificate);
/* Fails with ERROR_UNTRUSTED and both dates when `now` is outside of the certificate's dates. */
int certificate_check_dates(const struct certificate *certificate, int64_t now, struct error *err);

/* Checks that the first certificate of `chain_pem` has the public key of `key_pem`. Fails with
 * ERROR_UNTRUSTED when it does not, with ERROR_MALFORMED when one of them cannot be parsed. */
int certificate_check_key(const char *chain_pem, const char *key_pem, struct error *err);
/* Checks that the first certificate of `chain_pem` leads to one of `ca_pem` and is valid at `now`
 * for a TLS server (for_server) or client. Other certificates in the chain are intermediates; roots
 * need not be self-signed, as in Go. When now < 0, dates are not checked. Fails with
 * ERROR_UNTRUSTED and OpenSSL's reason. */
int certificate_check_chain(const char *chain_pem, const char *ca_pem, bool for_server, int64_t now,
                            struct error *err);
/* Do the alternative names of the first certificate of `chain_pem` cover `host` (a DNS name or an
 * IP address, IPv6 without brackets)? By OpenSSL's rules: addresses compare as numbers, names
 * ignore letter case, and "*" stands for one whole left-most label. The common name does not count.
 */
bool certificate_covers(const char *chain_pem, const char *host);

/* Certificate requests (PKCS #10) for a node's certificates, and their private keys: EC P-256, as
 * kubelet makes them. */

/* Alternative names of a server certificate. Borrowed. */
struct csr_names {
    const struct text_list *dns, *ip;
};
/* Makes a PEM "CERTIFICATE REQUEST" with O=system:nodes, CN=system:node:<node_name> and the
 * alternative names (NULL for none), signed with SHA-256 by `key_pem`. The caller frees it. Fails
 * with ERROR_MALFORMED when the key or an address cannot be parsed, and with ERROR_USAGE when the
 * node name is empty, longer than 253 characters or not of [a-z0-9.-]. Names above 52 characters
 * exceed the limit of X.520 for a common name, but Kubernetes accepts them, so they are allowed. */
int csr_make(const char *key_pem, const char *node_name, const struct csr_names *names,
             char **ret_pem, struct error *err);
/* Returns the subject of a request, e.g. "CN=system:node:win-1,O=system:nodes"; NULL when it cannot
 * be parsed. The caller frees it. */
char *csr_subject(const char *csr_pem);
/* Is this a request with a valid signature, this key and this node's subject? */
bool csr_is_ours(const char *csr_pem, const char *key_pem, const char *node_name);

/* Generates a new key with OpenSSL as PEM "EC PRIVATE KEY" (RFC 5915). Free it with
 * secret_free_text(). Fails with ERROR_HOST when random numbers are not available. */
int key_generate(char **ret_pem, struct error *err);
/* Returns 0 when the text is a usable private key. Else fails with ERROR_MALFORMED. The error never
 * contains the text. */
int key_check(const char *pem, struct error *err);
