/* What a call says of discovery. */
#include "join/configuration/join_options.h"
#include "join/discovery/discovery.h"

bool discovery_is_asked(const struct join_options *asked) {
    return asked->discovery_file || asked->token || asked->discovery_token;
}

void discovery_options_make(const struct join_options *asked, struct discovery_options *ret) {
    long long timeout = asked->timeout ? asked->timeout : asked->discovery_timeout;

    *ret = (struct discovery_options){
        .endpoint = asked->endpoint,
        .token = asked->discovery_file    ? NULL /* kubeadm passes over it, too */
                 : asked->discovery_token ? asked->discovery_token
                                          : asked->token,
        .tls_bootstrap_token =
            asked->tls_bootstrap_token ? asked->tls_bootstrap_token : asked->token,
        .ca_cert_hashes = &asked->discovery_token_ca_cert_hash,
        .unsafe_skip_ca_verification = asked->discovery_token_unsafe_skip_ca_verification,
        .file = asked->discovery_file,
        .timeout_ms = (unsigned)timeout,
    };
}
