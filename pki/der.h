/* The distinguished encoding (DER) of ASN.1, X.690 sections 8 to 11, as certificates must have it
 * (RFC 5280 section 4.1). */
#ifndef PKI_DER_H
#define PKI_DER_H

#include <stddef.h>

/* Why these bytes are no DER; NULL when they are: one element after the other, each with a definite
 * length that is written as short as it can be, to any depth of constructed ones, and with the
 * content that its universal type has. Octet strings are not looked into. */
const char *der_why_bad(const unsigned char *der, size_t len);

#endif
