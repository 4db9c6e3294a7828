/* A certificate's extensions: what OpenSSL reads and Go does not. */
#include "pki/extensions.h"

#include <openssl/x509v3.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "pki/der.h"

/* IA5String, and nothing that cuts a text or moves a cursor. */
static bool is_plain(const ASN1_STRING *text) {
    const unsigned char *at = ASN1_STRING_get0_data(text);

    for (int i = 0; i < ASN1_STRING_length(text); i++)
        if (at[i] < ' ' || at[i] > '~')
            return false;
    return true;
}

static bool is_digit(char c, bool hex) {
    return (c >= '0' && c <= '9') || (hex && c && strchr("abcdefABCDEF", c));
}

/* Labels with a dot between; "." may stand before those of a constraint. */
static bool is_domain(const char *text, size_t len, bool constraint) {
    size_t label = 0;

    if (constraint && len && *text == '.')
        text++, len--;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && (text[i] <= ' ' || text[i] > '~'))
            return false;
        if (i < len && text[i] != '.') {
            label++;
            continue;
        }
        if (!label && len)
            return false;
        label = 0;
    }
    return true;
}

/* The host between "//" and the next slash: a name or address, perhaps with a port. */
static bool is_authority(const char *text, size_t len) {
    const char *at = memchr(text, '@', len);
    const char *host = at ? at + 1 : text, *end = text + len;
    const char *colon = memchr(host, ':', (size_t)(end - host));

    for (const char *p = host; p < end; p++)
        if (strchr("[]<>\"^`{|}\\%@", *p))
            return false;
    for (const char *p = colon ? colon + 1 : end; p < end; p++)
        if (!is_digit(*p, false))
            return false;
    return is_domain(host, (size_t)(end - host), false);
}

/* RFC 5280 section 4.2.1.6: a whole URI, with its scheme (RFC 3986 section 3.1). */
static bool is_uri(const ASN1_STRING *string) {
    _cleanup_(freep) char *text =
        xstrndup((const char *)ASN1_STRING_get0_data(string), (size_t)ASN1_STRING_length(string));
    size_t scheme = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789+.-");

    if (!is_plain(string) || strpbrk(text, " \"<>\\^`{|}") || !scheme || text[scheme] != ':' ||
        strchr("0123456789+.-", *text))
        return false;
    for (const char *p = text; *p; p++)
        if (*p == '%' && (!is_digit(p[1], true) || !is_digit(p[2], true)))
            return false;
    if (strncmp(text + scheme, "://", 3) != 0)
        return true;
    return is_authority(text + scheme + 3, strcspn(text + scheme + 3, "/?#"));
}

static bool is_good_name(const GENERAL_NAME *name) {
    int len;

    switch (name->type) {
    case GEN_URI:
        return is_uri(name->d.uniformResourceIdentifier);
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

/* ---- constraints on names, RFC 5280 section 4.2.1.10 ---- */

/* Ones, then noughts. */
static bool is_mask(const unsigned char *mask, int len) {
    bool over = false;

    for (int bit = 0; bit < len * 8; bit++) {
        bool one = mask[bit / 8] & (0x80 >> bit % 8);

        if (one && over)
            return false;
        over = over || !one;
    }
    return true;
}

static bool is_good_range(const ASN1_OCTET_STRING *range) {
    int len = ASN1_STRING_length(range);

    return (len == 8 || len == 32) && is_mask(ASN1_STRING_get0_data(range) + len / 2, len / 2);
}

static bool is_good_constraint(const GENERAL_NAME *name) {
    const ASN1_STRING *text = name->type == GEN_DNS     ? name->d.dNSName
                              : name->type == GEN_EMAIL ? name->d.rfc822Name
                              : name->type == GEN_URI   ? name->d.uniformResourceIdentifier
                                                        : NULL;
    const char *domain, *at;
    size_t len;

    if (name->type == GEN_IPADD)
        return is_good_range(name->d.iPAddress);
    if (!text)
        return true;
    domain = (const char *)ASN1_STRING_get0_data(text);
    len = (size_t)ASN1_STRING_length(text);
    at = name->type == GEN_EMAIL && len ? memchr(domain, '@', len) : NULL;
    if (at && at == domain)
        return false;
    if (at) {
        len -= (size_t)(at + 1 - domain);
        domain = at + 1;
    }
    return is_plain(text) && is_domain(domain, len, !at) && (!at || len);
}

static bool are_good_constraints(const STACK_OF(GENERAL_SUBTREE) * trees) {
    for (int i = 0; i < sk_GENERAL_SUBTREE_num(trees); i++)
        if (!is_good_constraint(sk_GENERAL_SUBTREE_value(trees, i)->base))
            return false;
    return true;
}

static bool has_good_constraints(const NAME_CONSTRAINTS *constraints) {
    bool some = sk_GENERAL_SUBTREE_num(constraints->permittedSubtrees) > 0 ||
                sk_GENERAL_SUBTREE_num(constraints->excludedSubtrees) > 0;

    return some && are_good_constraints(constraints->permittedSubtrees) &&
           are_good_constraints(constraints->excludedSubtrees);
}

static bool has_single_policies(const CERTIFICATEPOLICIES *policies) {
    for (int i = 0; i < sk_POLICYINFO_num(policies); i++)
        for (int k = 0; k < i; k++)
            if (OBJ_cmp(sk_POLICYINFO_value(policies, i)->policyid,
                        sk_POLICYINFO_value(policies, k)->policyid) == 0)
                return false;
    return true;
}

/* ---- numbers: what Go's int holds ---- */

static bool is_number(const ASN1_INTEGER *number) {
    int64_t value;

    return !number || ASN1_INTEGER_get_int64(&value, number);
}

static bool is_good_length(const ASN1_INTEGER *length) {
    return is_number(length) && (!length || ASN1_STRING_type(length) == V_ASN1_INTEGER);
}

static bool has_good_numbers(const POLICY_CONSTRAINTS *constraints) {
    return is_number(constraints->requireExplicitPolicy) &&
           is_number(constraints->inhibitPolicyMapping);
}

/* Go reads no name relative to the issuer of a revocation list. */
static bool has_whole_points(const CRL_DIST_POINTS *points) {
    for (int i = 0; i < sk_DIST_POINT_num(points); i++) {
        const DIST_POINT_NAME *name = sk_DIST_POINT_value(points, i)->distpoint;

        if (name && name->type != 0)
            return false;
    }
    return true;
}

/* ---- all of them ---- */

static const char damaged[] = "an extension of it is damaged";

static const char *why_bad_value(int nid, const void *value) {
    switch (nid) {
    case NID_subject_alt_name:
        return has_good_names(value) ? NULL : "one of its names is damaged";
    case NID_name_constraints:
        return has_good_constraints(value) ? NULL : "a constraint on names in it is damaged";
    case NID_certificate_policies:
        return has_single_policies(value) ? NULL : "a policy stands in it twice";
    case NID_basic_constraints:
        return is_good_length(((const BASIC_CONSTRAINTS *)value)->pathlen) ? NULL : damaged;
    case NID_policy_constraints:
        return has_good_numbers(value) ? NULL : damaged;
    case NID_inhibit_any_policy:
        return is_number(value) ? NULL : damaged;
    case NID_crl_distribution_points:
        return has_whole_points(value) ? NULL : damaged;
    default:
        return NULL;
    }
}

static bool is_one_value(const ASN1_OCTET_STRING *data) {
    const unsigned char *at = ASN1_STRING_get0_data(data);
    const unsigned char *end = at + ASN1_STRING_length(data);
    long size = 0;
    int tag, class;

    return !(ASN1_get_object(&at, &size, &tag, &class, end - at) & 0x80) && at + size == end;
}

/* Every extension that OpenSSL knows must be readable, whether it is asked for or not. */
static const char *why_unfit(X509_EXTENSION *extension) {
    const X509V3_EXT_METHOD *method = X509V3_EXT_get(extension);
    const ASN1_OCTET_STRING *data = X509_EXTENSION_get_data(extension);
    const char *why;
    void *value;

    if (!method)
        return NULL;
    value = X509V3_EXT_d2i(extension);
    if (!value)
        return damaged;
    why = why_bad_value(method->ext_nid, value);
    if (method->it)
        ASN1_item_free(value, ASN1_ITEM_ptr(method->it));
    else
        method->ext_free(value);
    if (!why && (!is_one_value(data) ||
                 der_why_bad(ASN1_STRING_get0_data(data), (size_t)ASN1_STRING_length(data))))
        why = damaged;
    return why;
}

/* RFC 5280 sections 4.2.1.1, 4.2.1.2 and 4.2.2.1: never critical. */
static bool is_wrongly_critical(X509_EXTENSION *extension) {
    int nid = OBJ_obj2nid(X509_EXTENSION_get_object(extension));

    return X509_EXTENSION_get_critical(extension) &&
           (nid == NID_authority_key_identifier || nid == NID_subject_key_identifier ||
            nid == NID_info_access);
}

const char *extensions_why_unfit(const X509 *certificate) {
    enum { EXTENSIONS_MAX = 256 };
    int count = X509_get_ext_count(certificate);

    if (count > EXTENSIONS_MAX)
        return "it has too many extensions";
    for (int i = 0; i < count; i++) {
        X509_EXTENSION *extension = X509_get_ext(certificate, i);
        const char *why = why_unfit(extension);

        if (why)
            return why;
        if (is_wrongly_critical(extension))
            return "an extension of it is critical that must not be";
        for (int k = 0; k < i; k++)
            if (OBJ_cmp(X509_EXTENSION_get_object(X509_get_ext(certificate, k)),
                        X509_EXTENSION_get_object(extension)) == 0)
                return "an extension of it stands there twice";
    }
    return NULL;
}
