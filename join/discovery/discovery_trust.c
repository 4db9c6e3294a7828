/* What exactly is wrong with a server's certificate: dates and clocks, names, or the chain. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/discovery/discovery_request.h"
#include "pki/certificate.h"

/* Whose fault wrong dates are: the certificate's when the server's own clock finds it wrong too. */
static void hint_clock(const struct discovery *d, const struct certificate *certificate,
                       struct error *err) {
    int64_t difference = d->result->clock_difference;

    if (!d->dated)
        (void)error_hint(
            err,
            "\"%s\" does not tell its time: is this machine's clock right (w32tm "
            "/query /status)? If so, the server's certificate must be renewed (kubeadm "
            "certs renew apiserver)",
            d->address);
    else if (certificate_check_dates(certificate, host_now(d->host) + difference, NULL) < 0)
        (void)error_hint(err,
                         "by the clock of \"%s\" it is so too: the server's certificate must be "
                         "renewed (kubeadm certs renew apiserver)",
                         d->address);
    else
        (void)error_hint(err,
                         "this machine's clock is %" PRId64 " s %s that of \"%s\": set it right "
                         "(w32tm /resync)",
                         difference > 0 ? difference : -difference,
                         difference > 0 ? "behind" : "ahead of", d->address);
}

static int wrong_name(const struct discovery *d, const struct certificate *certificate,
                      struct error *err) {
    _cleanup_(freep) char *names = certificate_names(certificate);

    (void)error_set(err, ERROR_UNTRUSTED,
                    "cannot trust \"%s\": its certificate is valid for %s, "
                    "not %s",
                    d->address, names, d->host_name);
    return error_hint(err,
                      "join by one of these names, or add %s to apiServer.certSANs in the "
                      "cluster's ClusterConfiguration and renew the certificate",
                      d->host_name);
}

static int wrong_chain(const struct discovery *d, const struct certificate *certificate,
                       const struct error *why, struct error *err) {
    (void)error_set(err, ERROR_UNTRUSTED,
                    "cannot trust \"%s\": its certificate is not signed by the cluster's CA: %s",
                    d->address, why->message);
    return error_hint(err,
                      "it presented a certificate for \"%s\" issued by \"%s\"; is a proxy or "
                      "another cluster answering?",
                      certificate->subject, certificate->issuer);
}

static int explain(const struct discovery *d, const struct certificate *certificate,
                   const char *server_certs, const char *ca_pem, struct error *err) {
    struct error why = {0};

    if (ca_pem && certificate_check_chain(server_certs, ca_pem, true, -1, &why) < 0)
        return wrong_chain(d, certificate, &why, err);
    if (certificate_check_dates(certificate, host_now(d->host), &why) < 0) {
        (void)error_set(err, ERROR_UNTRUSTED, "cannot trust \"%s\": %s", d->address, why.message);
        hint_clock(d, certificate, err);
        return -1;
    }
    if (!certificate_covers(server_certs, d->host_name))
        return wrong_name(d, certificate, err);
    return error_prefix(err, "cannot trust \"%s\"", d->address);
}

int discovery_explain_trust(const struct discovery *d, const char *server_certs, const char *ca_pem,
                            struct error *err) {
    struct certificates all = {0};
    int result;

    if (!server_certs || certificates_parse(server_certs, strlen(server_certs), &all, NULL) < 0)
        return error_prefix(err, "cannot trust \"%s\"", d->address);
    result = explain(d, &all.items[0], server_certs, ca_pem, err);
    certificates_free(&all);
    return result;
}

int discovery_check_name(const struct discovery *d, const char *server_certs, bool full,
                         struct error *err) {
    struct certificates all = {0};
    int result = 0;

    if (!server_certs)
        return 0; /* of a connection that was looked at when it was made */
    if (certificates_parse(server_certs, strlen(server_certs), &all, err) < 0) {
        if (err)
            err->kind = ERROR_UNTRUSTED;
        return error_prefix(err, "cannot trust \"%s\"", d->address);
    }
    if (full && !certificate_covers(server_certs, d->host_name))
        result = wrong_name(d, &all.items[0], err);
    certificates_free(&all);
    return result;
}
