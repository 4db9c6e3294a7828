/* What the files of pki/ share about OpenSSL: owners, its error queue, reading of its objects. */
#include "pki/openssl.h"

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "pki/certificate.h"
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

/* IA5String, and nothing that cuts a text or moves a cursor. */
static bool is_plain(const ASN1_STRING *text) {
    const unsigned char *at = ASN1_STRING_get0_data(text);

    for (int i = 0; i < ASN1_STRING_length(text); i++)
        if (at[i] < ' ' || at[i] > '~')
            return false;
    return true;
}

static bool is_good_name(const GENERAL_NAME *name) {
    int len;

    switch (name->type) {
    case GEN_URI:
        return is_plain(name->d.uniformResourceIdentifier) &&
               !memchr(ASN1_STRING_get0_data(name->d.uniformResourceIdentifier), ' ',
                       (size_t)ASN1_STRING_length(name->d.uniformResourceIdentifier));
    case GEN_EMAIL:
        return is_plain(name->d.rfc822Name);
    case GEN_DNS:
        return is_plain(name->d.dNSName);
    case GEN_IPADD:
        len = ASN1_STRING_length(name->d.iPAddress);
        return len == 4 || len == 16;
    default:
        return true;
    }
}

static bool has_good_names(const GENERAL_NAMES *names) {
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++)
        if (!is_good_name(sk_GENERAL_NAME_value(names, i)))
            return false;
    return true;
}

/* Every extension that OpenSSL knows must be readable, whether it is asked for or not. */
static const char *why_unfit_extensions(const X509 *certificate) {
    for (int i = 0; i < X509_get_ext_count(certificate); i++) {
        X509_EXTENSION *extension = X509_get_ext(certificate, i);
        const X509V3_EXT_METHOD *method = X509V3_EXT_get(extension);
        void *value = method ? X509V3_EXT_d2i(extension) : NULL;
        bool good = value != NULL;

        if (good && method->ext_nid == NID_subject_alt_name)
            good = has_good_names(value);
        if (value && method->it)
            ASN1_item_free(value, ASN1_ITEM_ptr(method->it));
        else if (value)
            method->ext_free(value);
        if (method && !good)
            return value ? "one of its names is damaged" : "an extension of it is damaged";
    }
    return NULL;
}

/* Go's crypto/x509 refuses these when it parses, OpenSSL only when it verifies, or never. */
static const char *why_unfit(X509 *certificate) {
    static const int curves[] = {NID_secp224r1, NID_X9_62_prime256v1, NID_secp384r1, NID_secp521r1};
    const ASN1_INTEGER *serial = X509_get0_serialNumber(certificate);
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    const char *why = why_unfit_extensions(certificate);
    X509_ALGOR *algorithm = NULL;
    char curve[64] = "";
    struct tm tm;
    int nid;

    (void)X509_PUBKEY_get0_param(NULL, NULL, NULL, &algorithm, X509_get_X509_PUBKEY(certificate));
    nid = algorithm ? OBJ_obj2nid(algorithm->algorithm) : NID_undef;
    if (!key && (nid == NID_rsaEncryption || nid == NID_X9_62_id_ecPublicKey || nid == NID_ED25519))
        return "its public key is damaged";
    if (ASN1_STRING_type(serial) == V_ASN1_NEG_INTEGER)
        return "its serial number is negative";
    if (!ASN1_TIME_to_tm(X509_get0_notBefore(certificate), &tm) ||
        !ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &tm))
        return "its dates are damaged";
    if (X509_ALGOR_cmp(X509_get0_tbs_sigalg(certificate), signature_algorithm(certificate)) != 0)
        return "it names two signature algorithms";
    if (X509_get_extension_flags(certificate) & EXFLAG_INVALID)
        return "an extension of it is damaged or stands there twice";
    if (why)
        return why;
    if (nid != NID_X9_62_id_ecPublicKey)
        return NULL;
    (void)EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, curve, sizeof curve,
                                         NULL);
    for (size_t i = 0; i < ARRAY_SIZE(curves); i++)
        if (OBJ_sn2nid(curve) == curves[i])
            return NULL;
    return "its curve is none of P-224, P-256, P-384 and P-521";
}

static int add_block(STACK_OF(X509) * stack, const struct pem_block *block, struct error *err) {
    const unsigned char *at = block->der;
    X509 *certificate = openssl_read_certificate(&at, block->der_len, err);
    const char *why;

    if (!certificate)
        return -1;
    if (!sk_X509_push(stack, certificate))
        abort(); /* out of memory */
    why = at < block->der + block->der_len ? "there is more behind it" : why_unfit(certificate);
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
