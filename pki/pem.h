/* PEM blocks by the rules of Go's encoding/pem, which decide what a Kubernetes program sees. */
#ifndef PKI_PEM_H
#define PKI_PEM_H

#include <stdbool.h>
#include <stddef.h>

/* One block. der is owned: free(). */
struct pem_block {
    char type[64]; /* "CERTIFICATE"; a longer one is cut */
    bool has_headers;
    unsigned char *der;
    size_t der_len;
};

/* Reads the next well-formed block from *offset on and moves *offset behind it; false at the end.
 * What is no block, or a damaged one, is stepped over as pem.Decode does. */
bool pem_next(const char *text, size_t len, size_t *offset, struct pem_block *ret);
/* true for what client-go takes for a certificate: that type, and no headers. */
bool pem_is_certificate(const struct pem_block *block);

#endif
