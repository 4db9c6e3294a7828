/* What the files of pki/ share about OpenSSL: owners, its error queue, reading of its objects. */
#include "pki/openssl.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "pki/certificate.h"
#include "pki/der.h"
#include "pki/extensions.h"
#include "pki/pem.h"

void EVP_PKEY_freep(EVP_PKEY **key) {
    EVP_PKEY_free(*key);
}

void X509_freep(X509 **certificate) {
    X509_free(*certificate);
}

void X509_REQ_freep(X509_REQ **request) {
    X509_REQ_free(*request);
}

void X509_stack_freep(STACK_OF(X509) * *stack) {
    sk_X509_pop_free(*stack, X509_free);
}

int openssl_error(struct error *err, enum error_kind kind, const char *what) {
    unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;

    (void)error_set(err, kind, "%s: %s", what, reason ? reason : "OpenSSL gives no reason");
    ERR_clear_error();
    return -1;
}

char *openssl_name_text(const X509_NAME *name) {
    BIO *bio = BIO_new(BIO_s_mem());
    char *data = NULL, *text;
    long len;

    if (!bio)
        abort(); /* out of memory */
    (void)X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
    len = BIO_get_mem_data(bio, &data);
    text = xstrndup(data ? data : "", len > 0 ? (size_t)len : 0);
    BIO_free(bio);
    return text;
}

int openssl_no_password(char *buffer, int size, int writing, void *context) {
    (void)buffer, (void)size, (void)writing, (void)context; /* there is none to give */
    return 0;
}

X509 *openssl_read_certificate(const unsigned char **der, size_t len, struct error *err) {
    X509 *certificate = d2i_X509(NULL, der, (long)len);

    if (!certificate)
        (void)openssl_error(err, ERROR_MALFORMED, "read a certificate"); /* the caller sees NULL */
    return certificate;
}

static const X509_ALGOR *signature_algorithm(const X509 *certificate) {
    const X509_ALGOR *algorithm = NULL;

    X509_get0_signature(NULL, &algorithm, certificate);
    return algorithm;
}

/* Steps over the next element, which must be an INTEGER above 0 of at most `octets_max`. */
static bool is_positive(const unsigned char **at, const unsigned char *end, long octets_max) {
    const unsigned char *number;
    long size;
    int tag, class, form = ASN1_get_object(at, &size, &tag, &class, end - *at);

    if (form & 0x80)
        return false;
    number = *at;
    *at += size;
    return tag == V_ASN1_INTEGER && class == V_ASN1_UNIVERSAL && size && size <= octets_max &&
           number[0] < 0x80 && (size > 1 || number[0]);
}

/* Modulus and exponent of a PKCS #1 key (RFC 8017 appendix A.1.1), which is known to be DER. */
static bool is_positive_rsa(const unsigned char *key, int len) {
    enum { EXPONENT_OCTETS_MAX = 8 }; /* as Go's int */
    const unsigned char *at = key, *end = key + len;
    long size;
    int tag, class;

    return !(ASN1_get_object(&at, &size, &tag, &class, len) & 0x80) &&
           is_positive(&at, end, size) && is_positive(&at, end, EXPONENT_OCTETS_MAX);
}

/* RFC 3279 section 2.3.2: p, q and g, and the key. Not every OpenSSL can read them. */
static bool is_positive_dsa(const ASN1_STRING *parameters, const unsigned char *key, int len) {
    const unsigned char *at = ASN1_STRING_get0_data(parameters);
    const unsigned char *end = at + ASN1_STRING_length(parameters);
    long size;
    int tag, class;

    if (der_why_bad(key, (size_t)len) || !is_positive(&key, key + len, len) ||
        ASN1_get_object(&at, &size, &tag, &class, end - at) & 0x80)
        return false;
    for (int i = 0; i < 3; i++)
        if (!is_positive(&at, end, size))
            return false;
    return true;
}

/* The key and its parameters in the one form that each kind has (RFC 3279 section 2.3, RFC 8410
 * section 3, RFC 5480 section 2). */
static const char *why_unfit_key(X509 *certificate) {
    static const char damaged[] = "its public key is damaged";
    static const int curves[] = {NID_secp224r1, NID_X9_62_prime256v1, NID_secp384r1, NID_secp521r1};
    const unsigned char *bits = NULL;
    ASN1_OBJECT *kind = NULL;
    X509_ALGOR *algorithm = NULL;
    const void *value = NULL;
    int len = 0, type = 0;
    bool good = X509_get0_pubkey(certificate) != NULL;

    if (!X509_PUBKEY_get0_param(&kind, &bits, &len, &algorithm, X509_get_X509_PUBKEY(certificate)))
        return damaged;
    if (X509_get0_pubkey_bitstr(certificate)->flags & 7) /* bits that are left over */
        return damaged;
    X509_ALGOR_get0(NULL, &type, &value, algorithm);
    switch (OBJ_obj2nid(kind)) {
    case NID_rsaEncryption:
        return good && type == V_ASN1_NULL && !der_why_bad(bits, (size_t)len) &&
                       is_positive_rsa(bits, len)
                   ? NULL
                   : damaged;
    case NID_ED25519:
    case NID_X25519:
        return good && type == V_ASN1_UNDEF ? NULL : damaged;
    case NID_dsa:
        return type == V_ASN1_SEQUENCE && is_positive_dsa(value, bits, len) ? NULL : damaged;
    case NID_X9_62_id_ecPublicKey:
        break;
    default:
        return NULL;
    }
    if (type == V_ASN1_OBJECT)
        for (size_t i = 0; i < ARRAY_SIZE(curves); i++)
            if (OBJ_obj2nid(value) == curves[i])
                return good && len && bits[0] == POINT_CONVERSION_UNCOMPRESSED ? NULL : damaged;
    return "its curve is none of P-224, P-256, P-384 and P-521";
}

static bool holds_nul(const ASN1_STRING *text) {
    unsigned char *utf8 = NULL;
    int len = ASN1_STRING_to_UTF8(&utf8, text);
    bool found = len > 0 && memchr(utf8, 0, (size_t)len);

    OPENSSL_free(utf8);
    return found;
}

/* The kinds of text that Go's crypto/x509 reads in a name, and no NUL, which would end a C text. */
static bool is_readable(X509_NAME *name) {
    static const int kinds[] = {V_ASN1_T61STRING, V_ASN1_PRINTABLESTRING, V_ASN1_UTF8STRING,
                                V_ASN1_BMPSTRING, V_ASN1_IA5STRING,       V_ASN1_NUMERICSTRING};

    for (int i = 0; i < X509_NAME_entry_count(name); i++) {
        const ASN1_STRING *text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, i));
        bool known = false;

        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
            known = known || ASN1_STRING_type(text) == kinds[k];
        if (!known || holds_nul(text))
            return false;
    }
    return true;
}

/* Go's crypto/x509 refuses these when it parses, OpenSSL only when it verifies, or never. */
static const char *why_unfit(X509 *certificate) {
    const ASN1_INTEGER *serial = X509_get0_serialNumber(certificate);
    const char *why = why_unfit_key(certificate);
    long version = X509_get_version(certificate);
    struct tm tm;

    if (!why)
        why = extensions_why_unfit(certificate);
    if (why)
        return why;
    if (version < X509_VERSION_1 || version > X509_VERSION_3)
        return "there is no such version of certificates";
    if (version != X509_VERSION_3 && X509_get_ext_count(certificate) > 0)
        return "only version 3 has extensions";
    if (ASN1_STRING_type(serial) == V_ASN1_NEG_INTEGER)
        return "its serial number is negative";
    if (!ASN1_TIME_to_tm(X509_get0_notBefore(certificate), &tm) ||
        !ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &tm))
        return "its dates are damaged";
    if (!is_readable(X509_get_subject_name(certificate)) ||
        !is_readable(X509_get_issuer_name(certificate)))
        return "its subject or its issuer is not text";
    if (X509_ALGOR_cmp(X509_get0_tbs_sigalg(certificate), signature_algorithm(certificate)) != 0)
        return "it names two signature algorithms";
    if (X509_get_extension_flags(certificate) & EXFLAG_INVALID)
        return "an extension of it is damaged or stands there twice";
    return NULL;
}

static int add_block(STACK_OF(X509) * stack, const struct pem_block *block, struct error *err) {
    const unsigned char *at = block->der;
    X509 *certificate = openssl_read_certificate(&at, block->der_len, err);
    const char *why;

    if (!certificate)
        return -1;
    if (!sk_X509_push(stack, certificate))
        abort(); /* out of memory */
    why = at < block->der + block->der_len ? "there is more behind it"
                                           : der_why_bad(block->der, block->der_len);
    if (!why)
        why = why_unfit(certificate);
    ERR_clear_error();
    if (why)
        return error_set(err, ERROR_MALFORMED, "read a certificate: %s", why);
    if (sk_X509_num(stack) > CERTIFICATES_MAX)
        return error_set(err, ERROR_MALFORMED, "read certificates: more than %d in one bundle",
                         CERTIFICATES_MAX);
    return 0;
}

STACK_OF(X509) * openssl_read_chain(const char *pem, size_t len, struct error *err) {
    _cleanup_(X509_stack_freep) STACK_OF(X509) *stack = sk_X509_new_null();
    struct pem_block block;
    size_t offset = 0;

    while (pem_next(pem, len, &offset, &block)) {
        int result = 0;

        if (pem_is_certificate(&block))
            result = add_block(stack, &block, err);
        free(block.der);
        if (result < 0)
            return NULL;
    }
    if (sk_X509_num(stack) == 0) {
        (void)error_set(err, ERROR_MALFORMED,
                        "data does not contain any valid RSA or ECDSA certificates");
        return NULL;
    }
    return take_ptr(stack);
}
