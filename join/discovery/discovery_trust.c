/* Explains what is wrong with a server's certificate: dates and clocks, names, or the chain. */
#include <inttypes.h>

#include "base/rfc3339.h"
#include "join/discovery/discovery_request.h"
#include "pki/certificate.h"

/* The owner of a certificate with wrong dates, and how the certificate is renewed. */
struct owner {
    const char *name, *renew;
};
static const struct owner server = {
    "the server's certificate",
    "the server's certificate must be renewed (kubeadm certs renew apiserver)"};
static const struct owner intermediate = {
    "the certificate of an intermediate CA, which the server sends along",
    "the server needs a valid intermediate certificate in the file of its own certificate "
    "(kube-apiserver: --tls-cert-file)"};
static const struct owner authority = {
    "the certificate of the cluster's CA",
    "the cluster needs a new CA, and new certificates by it for every server and node (kubeadm: "
    "manual rotation of CA certificates)"};

/* Explains wrong dates. The certificate is at fault when it is invalid by the server's own clock,
 * too; otherwise this machine's clock is. */
static int wrong_dates(const struct discovery *d, const struct certificate *certificate,
                       const struct owner *owner, struct error *err) {
    int64_t difference = d->result->clock_difference;
    struct error why = {0};

    (void)certificate_check_dates(certificate, host_now(d->host), &why);
    (void)error_set(err, ERROR_UNTRUSTED, "cannot trust \"%s\": %s: %s", d->address, owner->name,
                    why.message);
    (void)error_hint(err, "it is valid from %s to %s", RFC3339_TEXT(certificate->not_before),
                     RFC3339_TEXT(certificate->not_after));
    if (!d->dated)
        return error_hint(err,
                          "\"%s\" does not report its time: check this machine's clock (w32tm "
                          "/query /status); if it is right, %s",
                          d->address, owner->renew);
    if (certificate_check_dates(certificate, host_now(d->host) + difference, NULL) < 0)
        return error_hint(err, "the clock of \"%s\" (%" PRId64 " s %s this machine's) agrees: %s",
                          d->address, difference > 0 ? difference : -difference,
                          difference < 0 ? "behind" : "ahead of", owner->renew);
    return error_hint(
        err, "this machine's clock is %" PRId64 " s %s that of \"%s\": correct it (w32tm /resync)",
        difference > 0 ? difference : -difference, difference > 0 ? "behind" : "ahead of",
        d->address);
}

/* Finds the certificate of this subject whose dates are wrong. */
static bool find_outdated(const struct discovery *d, const struct certificates *authorities,
                          const char *name, size_t *ret) {
    for (size_t i = 0; i < authorities->count; i++) {
        const struct certificate *ca = &authorities->items[i];

        if (text_equal(ca->subject, name) &&
            certificate_check_dates(ca, host_now(d->host), NULL) < 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static int wrong_name(const struct discovery *d, const struct certificate *certificate,
                      struct error *err) {
    _cleanup_(freep) char *names = certificate_names(certificate);

    (void)error_set(err, ERROR_UNTRUSTED,
                    "cannot trust \"%s\": its certificate is valid for %s, not %s", d->address,
                    names, d->host_name);
    return error_hint(err,
                      "join by one of these names, or add %s to apiServer.certSANs of the "
                      "ClusterConfiguration, move apiserver.crt and apiserver.key away and run "
                      "kubeadm init phase certs apiserver --config FILE: a renewal keeps the old "
                      "names",
                      d->host_name);
}

int discovery_explain_trust(const struct discovery *d, const char *server_certs, const char *ca_pem,
                            struct error *err) {
    _cleanup_(certificates_free) struct certificates chain = {0}, authorities = {0};
    const struct certificate *leaf;
    struct error why = {0};
    size_t at;

    if (!server_certs || certificates_parse(server_certs, strlen(server_certs), &chain, NULL) < 0)
        return error_prefix(err, "cannot trust \"%s\"", d->address);
    leaf = &chain.items[0];
    if (ca_pem && certificate_check_chain(server_certs, ca_pem, true, -1, &why) < 0) {
        (void)error_set(
            err, ERROR_UNTRUSTED,
            "cannot trust \"%s\": its certificate is not signed by the cluster's CA: %s",
            d->address, why.message);
        return error_hint(err,
                          "it presented a certificate for \"%s\" issued by \"%s\"; is a proxy or "
                          "another cluster answering?",
                          leaf->subject, leaf->issuer);
    }
    if (certificate_check_dates(leaf, host_now(d->host), NULL) < 0)
        return wrong_dates(d, leaf, &server, err);
    for (size_t i = 0; i + 1 < chain.count; i++)
        if (find_outdated(d, &chain, chain.items[i].issuer, &at))
            return wrong_dates(d, &chain.items[at], &intermediate, err);
    if (ca_pem && certificates_parse(ca_pem, strlen(ca_pem), &authorities, NULL) == 0 &&
        find_outdated(d, &authorities, chain.items[chain.count - 1].issuer, &at))
        return wrong_dates(d, &authorities.items[at], &authority, err);
    if (!certificate_covers(server_certs, d->host_name))
        return wrong_name(d, leaf, err);
    return error_prefix(err, "cannot trust \"%s\"", d->address);
}

int discovery_check_name(const struct discovery *d, const char *server_certs, bool full,
                         struct error *err) {
    _cleanup_(certificates_free) struct certificates all = {0};

    if (!server_certs)
        /* The connection was reused; its certificate was checked when it was made. */
        return 0;
    if (certificates_parse(server_certs, strlen(server_certs), &all, err) < 0) {
        (void)error_as(err, ERROR_UNTRUSTED);
        return error_prefix(err, "cannot trust \"%s\"", d->address);
    }
    return full && !certificate_covers(server_certs, d->host_name)
               ? wrong_name(d, &all.items[0], err)
               : 0;
}
