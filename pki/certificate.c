/* Reads X.509 certificates, and checks which key belongs to one and which CA signed it. */
#include "pki/certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "base/cidr.h"
#include "base/rfc3339.h"
#include "pki/openssl.h"

enum { NAMES_SHOWN_MAX = 16 };

/* Converts to UTF-8. Text with a NUL becomes "": if it were cut there, "system:node:win-1\0..."
 * would become the name of another node. */
static char *string_text(const ASN1_STRING *string) {
    unsigned char *utf8 = NULL;
    int len = ASN1_STRING_to_UTF8(&utf8, string);
    bool good = len > 0 && !memchr(utf8, '\0', (size_t)len);
    char *text = xstrndup(good ? (const char *)utf8 : "", good ? (size_t)len : 0);

    OPENSSL_free(utf8);
    return text;
}

/* Returns seconds since 1970. An invalid time gives 0; OpenSSL's verification refuses such a
 * certificate. */
static int64_t time_value(const ASN1_TIME *time) {
    struct tm tm;

    if (!ASN1_TIME_to_tm(time, &tm))
        return 0;
    return calendar_days(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday) * 86400 + tm.tm_hour * 3600 +
           tm.tm_min * 60 + tm.tm_sec;
}

static void read_pin(X509 *x509, char pin[PIN_TEXT_MAX]) {
    unsigned char *der = NULL;
    /* i2d_X509_PUBKEY() keeps the key's original encoding. */
    int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x509), &der);

    pin_of_key(der, len > 0 ? (size_t)len : 0, pin);
    OPENSSL_free(der);
}

/* Reads the fields of a certificate. A damaged extension only leaves its field empty. */
static void read_one(struct certificate *c, X509 *x509) {
    X509_NAME *subject = X509_get_subject_name(x509);
    GENERAL_NAMES *names;

    c->subject = openssl_name_text(subject);
    c->common_name = xstrdup("");
    /* Of several common names the last one counts, as in Go's crypto/x509. */
    for (int i = 0; i < X509_NAME_entry_count(subject); i++) {
        X509_NAME_ENTRY *entry = X509_NAME_get_entry(subject, i);
        int what = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
        char *value = string_text(X509_NAME_ENTRY_get_data(entry));

        if (what == NID_commonName)
            text_set(&c->common_name, value);
        else if (what == NID_organizationName)
            text_list_add_owned(&c->organizations, value);
        else
            free(value);
    }
    c->issuer = openssl_name_text(X509_get_issuer_name(x509));
    c->not_before = time_value(X509_get0_notBefore(x509));
    c->not_after = time_value(X509_get0_notAfter(x509));
    names = X509_get_ext_d2i(x509, NID_subject_alt_name, NULL, NULL);
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        int len = name->type == GEN_IPADD ? ASN1_STRING_length(name->d.iPAddress) : 0;
        struct ip ip = {.family = len == 4 ? 4 : 6};

        if (name->type == GEN_DNS)
            text_list_add_owned(&c->dns_names, string_text(name->d.dNSName));
        if (len != 4 && len != 16)
            continue;
        memcpy(ip.bytes, ASN1_STRING_get0_data(name->d.iPAddress), (size_t)len);
        text_list_add(&c->ip_addresses, IP_TEXT(&ip));
    }
    GENERAL_NAMES_free(names);
    read_pin(x509, c->pin);
    ERR_clear_error();
}

int certificates_parse(const char *pem, size_t len, struct certificates *ret, struct error *err) {
    _cleanup_(X509_stack_freep) STACK_OF(X509) *stack = openssl_read_chain(pem, len, err);
    struct certificates all = {0};

    if (!stack)
        return -1;
    all.count = (size_t)sk_X509_num(stack);
    all.items = xcalloc(all.count, sizeof *all.items);
    for (size_t i = 0; i < all.count; i++)
        read_one(&all.items[i], sk_X509_value(stack, (int)i));
    *ret = all;
    return 0;
}

void certificates_free(struct certificates *certificates) {
    for (size_t i = 0; i < certificates->count; i++) {
        struct certificate *c = &certificates->items[i];

        free_all(c->subject, c->issuer, c->common_name);
        text_list_free(&c->organizations);
        text_list_free(&c->dns_names);
        text_list_free(&c->ip_addresses);
    }
    free(certificates->items);
    *certificates = (struct certificates){0};
}

char *certificates_plain(const char *pem, size_t len, const struct text_list *pins,
                         struct error *err) {
    _cleanup_(X509_stack_freep) STACK_OF(X509) *stack = openssl_read_chain(pem, len, err);
    BIO *bio;

    if (!stack)
        return NULL;
    bio = BIO_new(BIO_s_mem());
    if (!bio)
        abort(); /* BIO_new() fails only when memory is exhausted. */
    for (int i = 0; i < sk_X509_num(stack); i++) {
        char pin[PIN_TEXT_MAX];

        read_pin(sk_X509_value(stack, i), pin);
        if ((!pins || text_list_has(pins, pin)) &&
            !PEM_write_bio_X509(bio, sk_X509_value(stack, i)))
            abort(); /* Writing PEM to memory fails only when memory is exhausted. */
    }
    return openssl_take_bio(bio);
}

long certificates_find_pin(const struct certificates *certificates, const struct text_list *pins) {
    for (size_t i = 0; i < certificates->count; i++)
        if (text_list_has(pins, certificates->items[i].pin))
            return (long)i;
    return -1;
}

char *certificate_describe(const struct certificate *certificate) {
    return xasprintf("%s (%s, valid from %s to %s)", certificate->pin, certificate->subject,
                     RFC3339_TEXT(certificate->not_before), RFC3339_TEXT(certificate->not_after));
}

char *certificate_names(const struct certificate *certificate) {
    const struct text_list *lists[] = {&certificate->dns_names, &certificate->ip_addresses};
    size_t more = 0;
    _cleanup_(text_list_free) struct text_list all = {0};

    for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            if (all.count < NAMES_SHOWN_MAX)
                text_list_add(&all, lists[k]->items[i]);
            else
                more++;
    if (more)
        text_list_add_owned(&all, xasprintf("and %zu more", more));
    return all.count ? text_list_join(&all, ", ") : xstrdup("no name");
}

int certificate_check_dates(const struct certificate *certificate, int64_t now, struct error *err) {
    bool early = now < certificate->not_before;

    if (!early && now <= certificate->not_after)
        return 0;
    return error_set(err, ERROR_UNTRUSTED,
                     "certificate \"%s\" has expired or is not yet valid: current time %s is %s %s",
                     certificate->subject, RFC3339_TEXT(now), early ? "before" : "after",
                     RFC3339_TEXT(early ? certificate->not_before : certificate->not_after));
}

/* ---- checking the key of a certificate and the CA that signed it ---- */

int certificate_check_key(const char *chain_pem, const char *key_pem, struct error *err) {
    _cleanup_(X509_stack_freep) STACK_OF(X509) *chain =
        openssl_read_chain(chain_pem, strlen(chain_pem), err);
    _cleanup_(EVP_PKEY_freep) EVP_PKEY *key = chain ? openssl_read_key(key_pem, err) : NULL;
    EVP_PKEY_CTX *context;
    bool whole, ours;

    if (!key)
        return -1;
    context = EVP_PKEY_CTX_new(key, NULL);
    if (!context)
        abort(); /* EVP_PKEY_CTX_new() fails only when memory is exhausted. */
    /* Check that the private and public part of the key belong together, because OpenSSL reads both
     * without comparing them. */
    whole = EVP_PKEY_pairwise_check(context) == 1;
    EVP_PKEY_CTX_free(context);
    ours = whole && X509_check_private_key(sk_X509_value(chain, 0), key) == 1;
    ERR_clear_error();
    if (!whole)
        return error_set(err, ERROR_MALFORMED, "read a private key: invalid data");
    return ours ? 0
                : error_set(err, ERROR_UNTRUSTED,
                            "check the certificate: it does not match this node's key");
}

int certificate_check_chain(const char *chain_pem, const char *ca_pem, bool for_server, int64_t now,
                            struct error *err) {
    _cleanup_(X509_stack_freep) STACK_OF(X509) *chain =
        openssl_read_chain(chain_pem, strlen(chain_pem), err);
    _cleanup_(X509_stack_freep) STACK_OF(X509) *roots =
        chain ? openssl_read_chain(ca_pem, strlen(ca_pem), err) : NULL;
    X509_STORE *store;
    X509_STORE_CTX *context;
    int result = 0;

    if (!roots)
        return -1;
    store = X509_STORE_new();
    context = X509_STORE_CTX_new();
    if (!store || !context)
        abort(); /* OpenSSL fails to create a certificate store only when memory is exhausted. */
    for (int i = 0; i < sk_X509_num(roots); i++)
        if (!X509_STORE_add_cert(store, sk_X509_value(roots, i)))
            /* This fails only when memory is exhausted; a duplicate is no failure. */
            abort();
    /* Any certificate of the CA file may end a chain, as in Go. */
    (void)X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    if (!X509_STORE_CTX_init(context, store, sk_X509_value(chain, 0), chain))
        abort(); /* X509_STORE_CTX_init() fails only when memory is exhausted. */
    if (now < 0)
        X509_STORE_CTX_set_flags(context, X509_V_FLAG_NO_CHECK_TIME);
    else
        X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(context), (time_t)now);
    (void)X509_STORE_CTX_set_purpose(context, for_server ? X509_PURPOSE_SSL_SERVER
                                                         : X509_PURPOSE_SSL_CLIENT);
    if (X509_verify_cert(context) != 1)
        result = error_set(err, ERROR_UNTRUSTED, "check the certificate: %s",
                           X509_verify_cert_error_string(X509_STORE_CTX_get_error(context)));
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    ERR_clear_error();
    return result;
}

bool certificate_covers(const char *chain_pem, const char *host) {
    _cleanup_(X509_stack_freep) STACK_OF(X509) *chain =
        openssl_read_chain(chain_pem, strlen(chain_pem), NULL);
    X509 *first = sk_X509_value(chain, 0);
    struct ip ip;
    int covered;

    if (!first)
        return false;
    if (ip_parse(host, &ip, NULL) == 0)
        covered = X509_check_ip(first, ip.bytes, ip.family == 4 ? 4 : 16, 0);
    else
        covered = *host != '.' && /* For OpenSSL, ".example" would match every name below it. */
                  X509_check_host(first, host, 0,
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
                                      X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS,
                                  NULL);
    ERR_clear_error();
    return covered == 1;
}
