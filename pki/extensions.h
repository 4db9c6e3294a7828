/* A certificate's extensions, by the rules of RFC 5280 section 4.2 that decide whether Go's
 * crypto/x509 reads it. Only for pki/. */
#ifndef PKI_EXTENSIONS_H
#define PKI_EXTENSIONS_H

#include <openssl/x509.h>

/* Why an extension makes the whole certificate unfit, whether it is asked for or not: damaged,
 * there twice, critical where it must not be, with a name or a constraint that is none; NULL when
 * all are well. OpenSSL's error queue may have grown. */
const char *extensions_why_unfit(const X509 *certificate);

#endif
