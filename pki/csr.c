/* Makes and reads certificate requests (PKCS #10) for a node's certificates, and makes keys. */
#include "pki/certificate.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/memory.h"
#include "pki/openssl.h"

enum { NODE_NAME_MAX = 253 };

/* Makes the subject of a node's request. Its texts have the type PrintableString, as in Go; with an
 * explicit type, OpenSSL does not limit their length. */
static X509_NAME *subject_make(const char *node_name) {
    _cleanup_(freep) char *common_name = xasprintf("system:node:%s", node_name);
    const char *const entries[][2] = {{"O", "system:nodes"}, {"CN", common_name}};
    X509_NAME *name = X509_NAME_new();

    for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
        if (!name || !X509_NAME_add_entry_by_txt(name, entries[i][0], V_ASN1_PRINTABLESTRING,
                                                 (const unsigned char *)entries[i][1], -1, -1, 0))
            /* This fails only when memory is exhausted, since fields and values are valid. */
            abort();
    return name;
}

/* Sets the request's public key. For a P-256 key, which winjoin's own keys are, the curve's name
 * and the point suffice. X509_REQ_set_pubkey() works for all keys, but first loads every encoder of
 * OpenSSL, which takes a tenth of a join's work. */
static int set_public_key(X509_REQ *request, EVP_PKEY *key) {
    X509_PUBKEY *public = X509_REQ_get_X509_PUBKEY(request);
    unsigned char *point = NULL;
    char curve[64] = "";
    size_t len;

    /* For a key without a curve, `curve` remains "". */
    (void)EVP_PKEY_get_group_name(key, curve, sizeof curve, NULL);
    if (!text_equal(curve, SN_X9_62_prime256v1))
        return X509_REQ_set_pubkey(request, key);
    len = EVP_PKEY_get1_encoded_public_key(key, &point);
    if (len && X509_PUBKEY_set0_param(public, OBJ_nid2obj(NID_X9_62_id_ecPublicKey), V_ASN1_OBJECT,
                                      OBJ_nid2obj(NID_X9_62_prime256v1), point, (int)len))
        return 1;
    OPENSSL_free(point);
    return 0;
}

static int add_names(X509_REQ *request, const struct csr_names *names) {
    const struct {
        int type;
        const struct text_list *names;
    } kinds[] = {{GEN_DNS, names ? names->dns : NULL}, {GEN_IPADD, names ? names->ip : NULL}};
    STACK_OF(X509_EXTENSION) *extensions = NULL;
    GENERAL_NAMES *all;
    int result = 1;

    if (!names)
        return 1;
    all = GENERAL_NAMES_new();
    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
        for (size_t i = 0; i < kinds[k].names->count && result; i++) {
            GENERAL_NAME *name =
                a2i_GENERAL_NAME(NULL, NULL, NULL, kinds[k].type, kinds[k].names->items[i], 0);

            result = name != NULL;
            if (name && !sk_GENERAL_NAME_push(all, name))
                abort(); /* Adding to a list fails only when memory is exhausted. */
        }
    result = result && X509V3_add1_i2d(&extensions, NID_subject_alt_name, all, 0, 0) == 1 &&
             X509_REQ_add_extensions(request, extensions);
    GENERAL_NAMES_free(all);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
    return result;
}

int csr_make(const char *key_pem, const char *node_name, const struct csr_names *names,
             char **ret_pem, struct error *err) {
    _cleanup_(EVP_PKEY_freep) EVP_PKEY *key = NULL;
    _cleanup_(X509_REQ_freep) X509_REQ *request = X509_REQ_new();
    size_t len = strlen(node_name);
    X509_NAME *subject;
    BIO *bio;

    if (!len || len > NODE_NAME_MAX ||
        strspn(node_name, "abcdefghijklmnopqrstuvwxyz0123456789.-") != len)
        return error_set(err, ERROR_USAGE,
                         "make a certificate request: node name \"%.253s\" must be 1 to 253 "
                         "characters of [a-z0-9.-]",
                         node_name);
    key = openssl_read_key(key_pem, err);
    if (!key)
        return -1;
    subject = subject_make(node_name);
    if (!X509_REQ_set_version(request, 0) || !X509_REQ_set_subject_name(request, subject) ||
        !set_public_key(request, key) || !add_names(request, names) ||
        !X509_REQ_sign(request, key, EVP_sha256())) {
        X509_NAME_free(subject);
        return openssl_error(err, ERROR_MALFORMED, "make a certificate request");
    }
    X509_NAME_free(subject);
    bio = BIO_new(BIO_s_mem());
    if (!bio || !PEM_write_bio_X509_REQ(bio, request))
        abort(); /* Writing PEM to memory fails only when memory is exhausted. */
    *ret_pem = openssl_take_bio(bio);
    return 0;
}

static X509_REQ *read_request(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, (int)strlen(pem));
    X509_REQ *request = bio ? PEM_read_bio_X509_REQ(bio, NULL, openssl_no_password, NULL) : NULL;

    BIO_free(bio);
    ERR_clear_error();
    return request;
}

char *csr_subject(const char *csr_pem) {
    _cleanup_(X509_REQ_freep) X509_REQ *request = read_request(csr_pem);

    return request ? openssl_name_text(X509_REQ_get_subject_name(request)) : NULL;
}

bool csr_is_ours(const char *csr_pem, const char *key_pem, const char *node_name) {
    _cleanup_(EVP_PKEY_freep) EVP_PKEY *key = openssl_read_key(key_pem, NULL);
    _cleanup_(X509_REQ_freep) X509_REQ *request = read_request(csr_pem);
    X509_NAME *subject = subject_make(node_name);
    bool ours;

    ours = request && key && X509_REQ_verify(request, X509_REQ_get0_pubkey(request)) == 1 &&
           EVP_PKEY_eq(X509_REQ_get0_pubkey(request), key) == 1 &&
           X509_NAME_cmp(X509_REQ_get_subject_name(request), subject) == 0;
    X509_NAME_free(subject);
    ERR_clear_error();
    return ours;
}

/* ---- private keys ---- */

int key_generate(char **ret_pem, struct error *err) {
    _cleanup_(EVP_PKEY_freep) EVP_PKEY *key = EVP_EC_gen("P-256");
    BIO *bio;

    if (!key)
        return openssl_error(err, ERROR_HOST, "make a private key");
    bio = BIO_new(BIO_s_secmem());
    if (!bio || !PEM_write_bio_PrivateKey_traditional(bio, key, NULL, NULL, 0, NULL, NULL)) {
        BIO_free(bio);
        return openssl_error(err, ERROR_HOST, "write a private key");
    }
    /* A secure memory BIO overwrites its content when it is freed. */
    *ret_pem = openssl_take_bio(bio);
    return 0;
}

EVP_PKEY *openssl_read_key(const char *pem, struct error *err) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, openssl_no_password, NULL) : NULL;

    BIO_free(bio);
    /* The result of openssl_error() is not needed: the caller checks for a NULL key. */
    if (!key)
        (void)openssl_error(err, ERROR_MALFORMED, "read a private key");
    return key;
}

int key_check(const char *pem, struct error *err) {
    _cleanup_(EVP_PKEY_freep) EVP_PKEY *key = openssl_read_key(pem, err);

    return key ? 0 : -1;
}
