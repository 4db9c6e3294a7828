/* Gets a verified kubeconfig from an endpoint, a token and pins of the CA (token discovery). */
#include "join/discovery/discovery.h"

#include <ctype.h>
#include <inttypes.h>

#include "base/cidr.h"
#include "join/configuration/join_options.h"
#include "join/discovery/discovery_request.h"
#include "kube/kubeconfig.h"
#include "pki/certificate.h"
#include "pki/token.h"

enum {
    CLOCK_WARNING_SECONDS = 60,
    HASHES_SHOWN_MAX = 3,
    NAME_MAX_LEN = 253,
    LABEL_MAX_LEN = 63,
};

void discovery_result_free(struct discovery_result *result) {
    if (result->kubeconfig)
        secret_free(result->kubeconfig, result->kubeconfig_len);
    kubeconfig_free(&result->config);
    json_decref(result->proof);
    free(result->proxy);
    text_list_free(&result->warnings);
    *result = (struct discovery_result){0};
}

/* ---- checks before any request ---- */

/* Returns the host of HOST:PORT, without brackets and without a final dot. That dot makes a name
 * absolute, but names in certificates do not have it. The caller frees the text. */
static char *host_of(const char *endpoint) {
    const char *colon = strrchr(endpoint, ':');
    bool bracket = *endpoint == '[';
    size_t len = (size_t)(colon - endpoint) - 2u * bracket;

    return xstrndup(endpoint + bracket, len > 1 && colon[-1] == '.' ? len - 1 : len);
}

/* Returns true for a DNS name (RFC 1035 section 2.3.4), also with underscores. */
static bool is_name(const char *host) {
    size_t len;

    if (strlen(host) > NAME_MAX_LEN)
        return false;
    for (const char *p = host; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("-._", *p))
            return false;
    for (;; host += len + 1) {
        len = strcspn(host, ".");
        if (!len || len > LABEL_MAX_LEN)
            return false;
        if (!host[len])
            return true;
    }
}

/* Refuses hosts such as "127.1", "0x7f.1" and "2130706433", which old resolvers read as addresses
 * and Go reads as names. */
static int check_host(const char *endpoint, struct error *err) {
    _cleanup_(freep) char *host = host_of(endpoint);
    const char *last;
    struct ip ip;

    if (*endpoint == '[' && (ip_parse(host, &ip, NULL) < 0 || ip.family != 6))
        return error_set(err, ERROR_USAGE,
                         "check the endpoint \"%s\": brackets must enclose an IPv6 address",
                         endpoint);
    if (ip_parse(host, &ip, NULL) == 0 && endpoint[strlen(host)] != '.')
        return 0;
    for (const unsigned char *p = (const unsigned char *)host; *p; p++)
        if (*p > 0x7e)
            return error_set(
                err, ERROR_USAGE,
                "check the endpoint \"%s\": its host must be ASCII (punycode, \"xn--...\")",
                endpoint);
    last = strrchr(host, '.');
    last = last ? last + 1 : host;
    if (is_name(host) && strspn(last, "0123456789") != strlen(last) &&
        !text_starts_with(last, "0x") && !text_starts_with(last, "0X"))
        return 0;
    return error_set(err, ERROR_USAGE,
                     "check the endpoint \"%s\": its host is neither an address nor a name",
                     endpoint);
}

int discovery_endpoint_check(const char *endpoint, struct error *err) {
    const char *colon = strrchr(endpoint, ':'), *bracket = strrchr(endpoint, ']');
    long long port;

    if (strpbrk(endpoint, "/@?#\\ \t\r\n%\"'"))
        return error_set(err, ERROR_USAGE,
                         "check the endpoint \"%s\": it must be HOST:PORT and nothing more",
                         strrchr(endpoint, '@') ? strrchr(endpoint, '@') : endpoint);
    if (!colon || (bracket && colon < bracket))
        return error_set(err, ERROR_USAGE,
                         "check the endpoint: address %s: missing port in address", endpoint);
    if ((*endpoint == '[') != (bracket != NULL) || (bracket && colon != bracket + 1))
        return error_set(err, ERROR_USAGE,
                         "check the endpoint \"%s\": brackets must enclose an IPv6 address",
                         endpoint);
    if (!bracket && strchr(endpoint, ':') != colon)
        return error_set(err, ERROR_USAGE,
                         "check the endpoint: address %s: too many colons in address (write an "
                         "IPv6 address in brackets)",
                         endpoint);
    if (colon == endpoint || (bracket && bracket == endpoint + 1))
        return error_set(err, ERROR_USAGE, "check the endpoint \"%s\": it has no host", endpoint);
    if (text_to_number(colon + 1, 1, 65535, &port) < 0)
        return error_set(err, ERROR_USAGE,
                         "check the endpoint \"%s\": the port must be a number from 1 to 65535",
                         endpoint);
    return check_host(endpoint, err);
}

static int check(const struct discovery_options *o, struct text_list *ret_pins,
                 struct token *ret_token, struct error *err) {
    struct token bootstrap;

    if (o->tls_bootstrap_token) {
        if (token_parse(o->tls_bootstrap_token, &bootstrap, err) < 0)
            return error_prefix(err, "check the TLS bootstrap token");
        token_clear(&bootstrap);
    }
    if (o->file && (o->endpoint || o->token))
        return error_set(err, ERROR_USAGE,
                         "check the discovery: bootstrapToken and file cannot both be set");
    if (o->file && strstr(o->file, "://") && !text_starts_with(o->file, "https://") &&
        !text_starts_with(o->file, "file://"))
        return error_set(err, ERROR_USAGE,
                         "check the discovery file: if a URL is used, the scheme must be https");
    if (o->file)
        return 0;

    if (!o->endpoint)
        return error_set(err, ERROR_USAGE,
                         "check the discovery: no endpoint: give the API server as HOST:PORT");
    if (discovery_endpoint_check(o->endpoint, err) < 0)
        return -1;
    if (!o->token)
        return error_set(err, ERROR_USAGE, "check the discovery: no token");
    if (token_parse(o->token, ret_token, err) < 0)
        return error_hint(err, "make a new one: kubeadm token create --print-join-command");
    if (pins_parse(o->ca_cert_hashes, ret_pins, err) < 0)
        return -1;
    if (ret_pins->count || o->unsafe_skip_ca_verification)
        return 0;
    (void)error_set(err, ERROR_USAGE, "check the discovery: no hash of the cluster's CA");
    return error_hint(err, "add --discovery-token-ca-cert-hash sha256:... (kubeadm token create "
                           "--print-join-command prints it)");
}

int discovery_check(const struct discovery_options *options, struct error *err) {
    _cleanup_(text_list_free) struct text_list pins = {0};
    _cleanup_(token_clear) struct token token = {0};

    return check(options, &pins, &token, err);
}

/* ---- token discovery ---- */

static int verify_signature(const struct discovery *d, const struct token *token,
                            const struct cluster_info *info, struct error *err) {
    if (!info->signature[0]) {
        (void)error_set(err, ERROR_DENIED,
                        "token id \"%s\" is invalid for this cluster or it has expired", token->id);
        return error_hint(err, "make a new one: kubeadm token create --print-join-command");
    }
    if (jws_verify(info->signature, token->id, token->secret, info->kubeconfig,
                   strlen(info->kubeconfig), NULL) == 0)
        return 0;
    (void)error_set(
        err, ERROR_UNTRUSTED,
        "failed to verify JWS signature of received cluster info object, can't trust \"%s\"",
        d->address);
    (void)error_hint(err, "either the part of the token after the dot is wrong, or the answer was "
                          "changed on the way");
    return error_hint(err, "compare with: kubeadm token list");
}

static int hint_published_server(const struct discovery *d, struct error *err) {
    (void)error_hint(err,
                     "correct it on the control plane: kubectl -n kube-public edit configmap "
                     "cluster-info (server: %s, if every node reaches that), and "
                     "controlPlaneEndpoint: kubectl -n kube-system edit configmap kubeadm-config",
                     d->server);
    return error_hint(err, "or give a kubeconfig with the right server: --discovery-file FILE");
}

static int read_kubeconfig(const struct discovery *d, const struct cluster_info *info,
                           struct kubeconfig *ret, struct error *err) {
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};

    if (kubeconfig_parse(info->kubeconfig, strlen(info->kubeconfig),
                         "the kubeconfig in the cluster-info ConfigMap", false, &config, err) < 0)
        return -1;
    if (!config.ca_pem) {
        (void)error_set(err, ERROR_MALFORMED, "it has no certificate-authority-data");
    } else if (server_url_check(config.server, false, err) == 0) {
        *ret = take_struct(config);
        return 0;
    } else {
        _cleanup_(freep) char *shown = http_shown_url(config.server ? config.server : "");

        (void)error_prefix(err, "'%s'", shown);
        (void)hint_published_server(d, err);
    }
    /* The kubeconfig of the cluster is malformed; the user gave no wrong value. */
    (void)error_as(err, ERROR_MALFORMED);
    return error_prefix(err, "malformed kubeconfig in the cluster-info ConfigMap");
}

/* Finds a certificate with a pin among the CAs of cluster-info. Fills matched_pin, and *ret_pinned
 * with all pinned certificates. Without pins the CAs must only parse (as kubeadm since 1.36), and
 * *ret_pinned stays NULL. */
static int match_pins(struct discovery *d, struct kubeconfig *config, const struct text_list *pins,
                      char **ret_pinned, struct error *err) {
    _cleanup_(certificates_free) struct certificates all = {0};
    _cleanup_(freep) char *given = NULL;
    long found;

    if (kubeconfig_settle_ca(config, err) < 0 ||
        certificates_parse(config->ca_pem, config->ca_pem_len, &all, err) < 0)
        return error_prefix(err, "failed to parse cluster CA from the cluster-info ConfigMap");
    if (!pins->count)
        return 0;
    found = certificates_find_pin(&all, pins);
    if (found >= 0) {
        (void)text_format(d->result->matched_pin, PIN_TEXT_MAX, "%s", all.items[found].pin);
        *ret_pinned = certificates_plain(config->ca_pem, config->ca_pem_len, pins, err);
        return *ret_pinned ? 0 : -1;
    }

    given = text_list_join(pins, ", ");
    (void)error_set(
        err, ERROR_UNTRUSTED,
        "cannot trust \"%s\": no public key of its CA certificates matches the pinned hash",
        d->address);
    for (size_t i = 0; i < all.count && i < HASHES_SHOWN_MAX - 1; i++) {
        _cleanup_(freep) char *line = certificate_describe(&all.items[i]);

        (void)error_hint(err, "it presented %s", line);
    }
    (void)error_hint(err, "you gave %s", given);
    return error_hint(err, "if the cluster was rebuilt, get the new line with: kubeadm token "
                           "create --print-join-command");
}

/* Requests cluster-info again over a connection that a pinned certificate verifies. The first
 * answer came from an unverified server, so the unpinned CAs in it prove nothing (kubeadm trusts
 * them all here). When the verified server repeats them, all are trusted: during a rotation these
 * are the old and the new CA. */
static int ask_again(struct discovery *d, const char *pinned, const char *ca_pem,
                     const struct cluster_info *first, struct error *err) {
    struct cluster_info second = {0};
    bool same;

    if (discovery_fetch(d, pinned, &second, err) < 0)
        return !err || err->kind != ERROR_UNTRUSTED || text_equal(pinned, ca_pem)
                   ? -1
                   : error_hint(err,
                                "only the CA certificates that a hash was given for prove the "
                                "server; while the CA is rotated, give a hash for each: kubeadm "
                                "token create --print-join-command");
    same = text_equal(first->kubeconfig, second.kubeconfig);
    cluster_info_free(&second);
    if (same)
        return 0;
    (void)error_set(err, ERROR_UNTRUSTED,
                    "the second kubeconfig from the cluster-info ConfigMap (using validated TLS) "
                    "was different from the first");
    return error_hint(err,
                      "another server answers for \"%s\", or the cluster changed at this moment: "
                      "check before you try again",
                      d->address);
}

static int run_token(struct discovery *d, const struct token *token, const struct text_list *pins,
                     struct error *err) {
    const struct discovery_options *o = d->options;
    const char *bootstrap = o->tls_bootstrap_token ? o->tls_bootstrap_token : o->token;
    _cleanup_(cluster_info_free) struct cluster_info info = {0};
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    _cleanup_(freep) char *server = xasprintf("https://%s", o->endpoint),
                          *host_name = host_of(o->endpoint), *pinned = NULL;
    struct cluster_info none = {0};
    int result = 0;

    d->server = server;
    d->address = o->endpoint;
    d->host_name = host_name;
    d->token_id = token->id;
    if (discovery_fetch(d, NULL, &info, err) < 0 || verify_signature(d, token, &info, err) < 0 ||
        read_kubeconfig(d, &info, &config, err) < 0 ||
        match_pins(d, &config, pins, &pinned, err) < 0)
        return -1;
    /* Only the server and the CAs of cluster-info are used. When that server is the one that was
     * asked, and each CA has a pin, any following request proves as much as asking again. */
    if (pinned && o->proof && text_equal(pinned, config.ca_pem) &&
        text_equal_nocase(config.server, d->server)) {
        d->proof_token = bootstrap;
        result = discovery_fetch(d, pinned, &none, err);
        d->proof_token = NULL;
    } else if (pinned) {
        result = ask_again(d, pinned, config.ca_pem, &info, err);
    }
    if (result < 0)
        return -1;
    /* A node would use the server's address in cluster-info. A loopback address there is a mistake
     * of the cluster, unless the given endpoint also names this machine. A caller that does not
     * join gets the published address unchanged. */
    if (o->for_node && server_url_is_here(config.server) && !server_url_is_here(d->server)) {
        (void)error_set(err, ERROR_USAGE,
                        "the cluster's ConfigMap kube-public/cluster-info has %s as the API "
                        "server's address, which is each machine itself: a node would not reach it",
                        config.server);
        return hint_published_server(d, err);
    }

    d->result->kubeconfig_len = strlen(info.kubeconfig);
    d->result->kubeconfig = take_ptr(info.kubeconfig);
    /* Makes a new kubeconfig from the verified server and CA and the bootstrap token. */
    d->result->config = (struct kubeconfig){.cluster_name = xstrdup("kubernetes"),
                                            .server = take_ptr(config.server),
                                            .ca_pem = take_ptr(config.ca_pem),
                                            .ca_pem_len = config.ca_pem_len,
                                            .user_name = xstrdup("tls-bootstrap-token-user"),
                                            .token = xstrdup(bootstrap)};
    if (!pins->count)
        text_list_add(
            &d->result->warnings,
            "no CA certificate hash was given: only the token proves the cluster's identity");
    return 0;
}

/* ---- token and file discovery ---- */

int discovery_run(const struct discovery_options *options, struct http *http, struct host *host,
                  struct discovery_result *ret, struct error *err) {
    _cleanup_(discovery_result_free) struct discovery_result result = {0};
    struct discovery d = {.options = options, .http = http, .host = host, .result = &result};
    _cleanup_(text_list_free) struct text_list pins = {0};
    _cleanup_(token_clear) struct token token = {0};
    const char *server;
    /* Seconds by which the server's clock is ahead of this machine's. */
    int64_t ahead;

    if (check(options, &pins, &token, err) < 0)
        return -1;
    d.start = host_monotonic_ms(host);
    d.deadline = d.start + (options->timeout_ms ? options->timeout_ms : DISCOVERY_TIMEOUT_MS);
    if ((options->file ? discovery_run_file(&d, err) : run_token(&d, &token, &pins, err)) < 0) {
        (void)http_hint_proxy(err, result.proxy, result.proxy_given);
        return -1;
    }
    /* The endpoint is used for discovery only. From now on, requests go to the server of the
     * verified kubeconfig. */
    server = result.config.server;
    if (options->endpoint && server &&
        !text_equal_nocase(server + strlen("https://"), options->endpoint))
        text_list_add_owned(
            &result.warnings,
            xasprintf("the cluster's own address is %s: using it from now on, not the endpoint %s",
                      server, options->endpoint));
    if (result.proxy)
        text_list_add_owned(&result.warnings,
                            xasprintf("the API server is reached through the proxy %s (%s)",
                                      result.proxy, http_proxy_source(result.proxy_given)));
    ahead = result.clock_difference;
    if (ahead <= -CLOCK_WARNING_SECONDS || ahead >= CLOCK_WARNING_SECONDS)
        text_list_add_owned(&result.warnings,
                            xasprintf("this machine's clock is %" PRId64 " s %s the server's",
                                      ahead > 0 ? ahead : -ahead,
                                      ahead > 0 ? "behind" : "ahead of"));
    *ret = take_struct(result);
    return 0;
}

/* ---- discovery options from the options of a join ---- */

bool discovery_is_asked(const struct join_options *asked) {
    return asked->discovery_file || asked->token || asked->discovery_token;
}

void discovery_options_make(const struct join_options *asked, struct discovery_options *ret) {
    long long timeout = asked->timeout ? asked->timeout : asked->discovery_timeout;

    *ret = (struct discovery_options){
        .endpoint = asked->endpoint,
        .token = asked->discovery_file    ? NULL /* kubeadm also ignores the token. */
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
