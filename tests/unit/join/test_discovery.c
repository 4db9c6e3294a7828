/* Token discovery against a server in memory: every ending, and how often it asks. */
#include "tests/scene/discovery_scene.h"

/* ---- the right case ---- */

static void proves_the_kubeconfig(void **state) {
    struct scene *s = *state;
    _cleanup_(freep) char *expected = kubeconfig_of(s, false);

    assert_int_equal(run(s), 0);
    assert_string_equal(s->result.kubeconfig, expected);
    assert_int_equal(s->result.kubeconfig_len, strlen(expected));
    assert_string_equal(s->result.config.server, "https://10.0.0.10:6443");
    assert_string_equal(s->result.config.ca_pem, CA_PEM);
    assert_string_equal(s->result.config.token, TOKEN);
    assert_string_equal(s->result.config.cluster_name, "kubernetes");
    assert_string_equal(s->result.matched_pin, CA_PIN);
    assert_int_equal(s->result.warnings.count, 0);
    assert_int_equal(s->requests, 2);
    assert_int_equal(s->verified, 1);
    assert_false(s->authorized);
}

static void takes_any_pin_of_any_certificate(void **state) {
    struct scene *s = *state;

    s->ca_pem = OTHER_PEM CA_PEM;
    s->proof_pem = CA_PEM;
    text_list_free(&s->pins);
    text_list_add(&s->pins, SERVER_PIN);
    text_list_add(&s->pins, CA_PIN);
    assert_int_equal(run(s), 0);
    assert_string_equal(s->result.matched_pin, CA_PIN);
    assert_string_equal(s->result.config.ca_pem, OTHER_PEM CA_PEM);
    discovery_result_free(&s->result);
    text_list_add(&s->pins, OTHER_PIN); /* then both of them prove the server */
    s->proof_pem = NULL;
    assert_int_equal(run(s), 0);
}

static void without_pins_asks_once_and_warns(void **state) {
    struct scene *s = *state;

    text_list_free(&s->pins);
    s->options.unsafe_skip_ca_verification = true;
    assert_int_equal(run(s), 0);
    assert_int_equal(s->requests, 1);
    assert_int_equal(s->result.warnings.count, 1);
    assert_string_equal(s->result.matched_pin, "");
}

static void pins_count_even_with_the_skip_flag(void **state) {
    struct scene *s = *state;

    text_list_free(&s->pins);
    text_list_add(&s->pins, OTHER_PIN);
    s->options.unsafe_skip_ca_verification = true;
    assert_fails(s, ERROR_UNTRUSTED, "matches the pin");
}

static void another_token_for_the_bootstrap(void **state) {
    struct scene *s = *state;

    s->options.tls_bootstrap_token = "zzzzzz.0123456789abcdef";
    assert_int_equal(run(s), 0);
    assert_string_equal(s->result.config.token, "zzzzzz.0123456789abcdef");
}

static void tells_of_a_wrong_clock(void **state) {
    static const struct {
        int64_t clock;
        const char *warning;
    } rows[] = {
        {600, "600 s behind"}, {60, "60 s behind"}, {-60, "60 s ahead"}, {59, NULL}, {-59, NULL}};
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        s->clock = rows[i].clock;
        assert_int_equal(run(s), 0);
        assert_int_equal(s->result.clock_difference, rows[i].clock);
        assert_int_equal(s->result.warnings.count, rows[i].warning != NULL);
        if (rows[i].warning)
            assert_non_null(strstr(s->result.warnings.items[0], rows[i].warning));
        discovery_result_free(&s->result);
    }
}

/* ---- before any packet ---- */

#define LABEL "abcdefghijklmnopqrstuvwxyz-0123456789_ABCDEFGHIJKLMNOPQRSTUVWXY" /* 63 letters */
#define NAME_253                                                                                   \
    LABEL "." LABEL "." LABEL "."                                                                  \
          "abcdefghijklmnopqrstuvwxyz-0123456789_ABCDEFGHIJKLMNOPQRSTUVW"

static void checks_the_call_before_any_packet(void **state) {
    static const struct {
        const char *endpoint, *token, *pin, *why;
    } rows[] = {
        {NULL, TOKEN, CA_PIN, "no endpoint"},
        {"10.0.0.10", TOKEN, CA_PIN, "missing port in address"},
        {"fd00::1:6443", TOKEN, CA_PIN, "too many colons"},
        {"[fd00::1]", TOKEN, CA_PIN, "missing port"},
        {"[fd00::1:6443", TOKEN, CA_PIN, "brackets"},
        {"10.0.0.10:", TOKEN, CA_PIN, "number from 1 to 65535"},
        {"10.0.0.10:65536", TOKEN, CA_PIN, "number from 1 to 65535"},
        {":6443", TOKEN, CA_PIN, "no host"},
        {"[]:6443", TOKEN, CA_PIN, "no host"},
        {"fd00::1]:6443", TOKEN, CA_PIN, "brackets"},
        {"[fd00::1]1:6443", TOKEN, CA_PIN, "brackets"},
        {"https://10.0.0.10:6443", TOKEN, CA_PIN, "HOST:PORT and nothing more"},
        {"user@10.0.0.10:6443", TOKEN, CA_PIN, "HOST:PORT and nothing more"},
        {"a*b:6443", TOKEN, CA_PIN, "neither an address nor a name"},
        {"a..b:6443", TOKEN, CA_PIN, "neither an address nor a name"},
        {".a:6443", TOKEN, CA_PIN, "neither an address nor a name"},
        {"x" LABEL ":6443", TOKEN, CA_PIN, "neither an address nor a name"},
        {NAME_253 "x:6443", TOKEN, CA_PIN, "neither an address nor a name"},
        {"127.1:6443", TOKEN, CA_PIN, "neither an address nor a name"},
        {"a.0x7f:6443", TOKEN, CA_PIN, "neither an address nor a name"},
        {"a.0X7f:6443", TOKEN, CA_PIN, "neither an address nor a name"},
        {"h\xc3\xb6st:6443", TOKEN, CA_PIN, "punycode"},
        {"10.0.0.10:6443", NULL, CA_PIN, "no token"},
        {"10.0.0.10:6443", "ABCDEF." SECRET, CA_PIN, "upper-case letters"},
        {"10.0.0.10:6443", TOKEN, "sha256:12", "64 hexadecimal digits"},
        {"10.0.0.10:6443", TOKEN, NULL, "no hash of the cluster's CA"},
    };
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        s->options.endpoint = rows[i].endpoint;
        s->options.token = rows[i].token;
        text_list_free(&s->pins);
        if (rows[i].pin)
            text_list_add(&s->pins, rows[i].pin);
        assert_fails(s, ERROR_USAGE, rows[i].why);
    }
    s->options.tls_bootstrap_token = "abc";
    assert_fails(s, ERROR_USAGE, "check the TLS bootstrap token: ");
    s->options.tls_bootstrap_token = NULL;
    s->options.file = "C:\\x";
    assert_fails(s, ERROR_USAGE, "cannot both be set");
    s->options = (struct discovery_options){.file = "http://x/y"};
    assert_fails(s, ERROR_USAGE, "the scheme must be https");
    assert_int_equal(s->requests, 0);
}

static void takes_every_form_of_endpoint(void **state) {
    static const char *const rows[] = {"10.0.0.10:6443", "[fd00::1]:6443", "api.example:1",
                                       "api:65535",      "api.test.:6443", "a-b.c_d:6443",
                                       LABEL ":6443",    NAME_253 ":6443"};
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        s->options.endpoint = rows[i];
        assert_int_equal(discovery_check(&s->options, NULL), 0);
    }
    assert_int_equal(discovery_check(&(struct discovery_options){.file = "C:\\d.conf"}, NULL), 0);
    assert_int_equal(discovery_check(&(struct discovery_options){.file = "https://x/y"}, NULL), 0);
}

/* ---- untrusted: at once ---- */

static void a_wrong_secret_ends_at_once(void **state) {
    struct scene *s = *state;

    s->secret = "fedcba9876543210";
    assert_fails(s, ERROR_UNTRUSTED, "failed to verify JWS signature");
    assert_int_equal(s->requests, 1);
}

static void a_wrong_pin_shows_what_was_found(void **state) {
    struct scene *s = *state;

    text_list_free(&s->pins);
    text_list_add(&s->pins, OTHER_PIN);
    assert_fails(s, ERROR_UNTRUSTED, "no public key of its CA certificates");
    assert_hint(s, "it presented " CA_PIN " (CN=kubernetes, valid from " CA_NOT_BEFORE
                   " to " CA_NOT_AFTER ")");
    assert_string_equal(s->err.hints[1], "you gave " OTHER_PIN);
    assert_hint(s, "kubeadm token create --print-join-command");
    assert_int_equal(s->requests, 1);
}

static void a_second_answer_that_differs(void **state) {
    struct scene *s = *state;

    s->second = "x: y\n";
    assert_fails(s, ERROR_UNTRUSTED, "was different from the first");
    assert_int_equal(s->requests, 2);
}

static void a_server_of_another_ca(void **state) {
    struct scene *s = *state;

    s->server_certs = OTHER_PEM;
    s->broken_verified = ERROR_UNTRUSTED;
    assert_fails(s, ERROR_UNTRUSTED, "not signed by the cluster's CA");
    assert_hint(s, "issued by \"CN=other,O=Other\"");
    assert_int_equal(s->requests, 2);
}

static void a_name_that_is_not_in_the_certificate(void **state) {
    struct scene *s = *state;

    /* libcurl would take a common name: the client certificate has no alternative name at all */
    s->server_certs = CLIENT_PEM;
    assert_fails(s, ERROR_UNTRUSTED, "valid for no name, not 10.0.0.10");
    assert_hint(s, "certSANs");
}

static void a_failed_verification_names_its_reason(void **state) {
    struct scene *s = *state;

    s->broken_verified = ERROR_UNTRUSTED;
    s->ca_pem = CA_PEM;
    assert_fails(s, ERROR_UNTRUSTED, "cannot trust \"10.0.0.10:6443\": connect: it broke");
    s->server_certs = SERVER_NAMELESS_PEM;
    assert_fails(s, ERROR_UNTRUSTED, "valid for other.example, not 10.0.0.10");
    s->server_certs = "no PEM"; /* the first answer, that nobody verifies, shows it, too */
    assert_fails(s, ERROR_UNTRUSTED, "cannot trust \"10.0.0.10:6443\": data does not contain");
}

static void dates_come_with_the_clocks(void **state) {
    struct scene *s = *state;

    s->broken_verified = ERROR_UNTRUSTED;
    for (unsigned i = 0; i < 1000; i++)
        host_memory_advance(s->host, 4000000000u); /* 126 years in all */
    assert_fails(s, ERROR_UNTRUSTED, "has expired or is not yet valid: current time 215");
    assert_hint(s, "it is valid from 2");
    assert_hint(s, "kubeadm certs renew");
    s->clock = -126ll * 365 * 86400;
    assert_fails(s, ERROR_UNTRUSTED, "has expired or is not yet valid: current time 215");
    assert_hint(s, "ahead of that of \"10.0.0.10:6443\"");
}

/* The server's certificate is good, the one above it, which it shows as well, is not. */
static void a_certificate_above_is_outdated(void **state) {
    struct scene *s = *state;

    s->broken_verified = ERROR_UNTRUSTED;
    s->server_certs = SERVER_PEM OUTDATED_PEM;
    assert_fails(s, ERROR_UNTRUSTED, "cannot trust \"10.0.0.10:6443\": ");
    assert_hint(s, "it is valid from 2024-02-29T12:00:00Z to 2024-03-01T00:00:00Z");
}

/* ---- no, perhaps later ---- */

static void an_unknown_token_is_told_after_the_grace(void **state) {
    struct scene *s = *state;

    s->signed_id = "zzzzzz";
    assert_fails(s, ERROR_DENIED, "for token ID \"abcdef\": the token has expired");
    assert_hint(s, "10.0.0.10:6443 has signatures for: zzzzzz");
    assert_hint(s, "kubeadm token create --print-join-command");
    assert_in_range(waited_s(s), 9, 20);
}

static void only_ids_are_listed(void **state) {
    struct scene *s = *state;

    s->body = "{\"data\":{\"kubeconfig\":\"x\",\"jws-kubeconfig-TOOBAD\":\"x\",\"abcdefghijklmno"
              "zzzzzz\":\"x\",\"jws-kubeconfig-yyyyyy\":\"x\"}}";
    assert_fails(s, ERROR_DENIED, "for token ID \"abcdef\"");
    assert_string_equal(s->err.hints[0], "10.0.0.10:6443 has signatures for: yyyyyy");
}

static void a_lagging_signature_is_waited_for(void **state) {
    struct scene *s = *state;

    s->body = "{\"data\":{\"kubeconfig\":\"x\"}}";
    s->good_after = 2;
    assert_int_equal(run(s), 0);
    assert_int_equal(s->requests, 4);
}

static void permanent_answers_end_early(void **state) {
    static const struct {
        long status;
        const char *body;
        enum error_kind kind;
        const char *why, *hint;
    } rows[] = {
        {401, "{\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\"}", ERROR_DENIED,
         "Unauthorized (401", "anonymous-auth"},
        {403, "{\"message\":\"forbidden\",\"reason\":\"Forbidden\"}", ERROR_DENIED,
         "forbidden (403 Forbidden)", "anonymous-auth"},
        {404, "nothing here", ERROR_ABSENT, "the server answered 404: nothing here",
         "kubeadm init phase bootstrap-token"},
        {302, "", ERROR_MALFORMED, "answered 302", "redirects are not followed"},
        {400, "nothing here", ERROR_DENIED, "answered 400", ""},
        {200, "<html>", ERROR_MALFORMED, "decode the cluster-info ConfigMap",
         "is \"10.0.0.10:6443\""},
        {200, "[1]", ERROR_MALFORMED, "it is not a JSON object", "is \"10.0.0.10"},
        {200, "{}", ERROR_DENIED, "could not find a JWS signature", "has no tokens"},
        {200, "{\"data\":{\"jws-kubeconfig-abcdef\":\"x\"}}", ERROR_ABSENT,
         "there is no kubeconfig key", "kubeadm init phase"},
    };
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        unsigned before = waited_s(s);

        s->status = rows[i].status;
        s->body = rows[i].body;
        assert_fails(s, rows[i].kind, rows[i].why);
        assert_hint(s, rows[i].hint);
        for (size_t k = 0; k < ERROR_HINTS_MAX && rows[i].status != 302; k++)
            assert_null(strstr(s->err.hints[k], "redirects"));
        assert_in_range(waited_s(s) - before, 9, 20);
    }
}

static void an_empty_signature_is_an_expired_token(void **state) {
    struct scene *s = *state;

    s->body = "{\"data\":{\"kubeconfig\":\"x\",\"jws-kubeconfig-abcdef\":\"\"}}";
    assert_fails(s, ERROR_DENIED, "is invalid for this cluster or it has expired");
    assert_int_equal(s->requests, 1);
}

static void content_that_is_no_kubeconfig(void **state) {
    struct scene *s = *state;
    _cleanup_(freep) char *jws = jws_make("abcdef", SECRET, "a: b", 4);
    _cleanup_(freep) char *body =
        xasprintf("{\"data\":{\"kubeconfig\":\"a: b\",\"jws-kubeconfig-abcdef\":\"%s\"}}", jws);

    s->body = body;
    assert_fails(s, ERROR_MALFORMED, "it has no cluster");
    s->body = NULL;
    s->server = "http://10.0.0.10";
    assert_fails(s, ERROR_MALFORMED, "'http://10.0.0.10': its server must be an https URL");
    s->server = "https://10.0.0.10:6443";
    s->ca_pem = "no PEM";
    assert_fails(s, ERROR_MALFORMED, "does not contain any valid RSA or ECDSA certificates");
    s->ca_pem = "";
    assert_fails(s, ERROR_MALFORMED, "no certificate-authority-data");
}

/* ---- the way there is broken ---- */

static unsigned told;

static void on_retry(void *context, const struct error *why, unsigned next_ms, unsigned left_ms) {
    (void)context;
    assert_int_equal(why->kind, ERROR_NETWORK);
    assert_in_range(next_ms, 2500, 7500);
    assert_in_range(left_ms, 1, 300000);
    told++;
}

static void another_object_is_no_configmap(void **state) {
    static const struct {
        const char *body, *why;
    } rows[] = {
        {"{\"kind\":\"Secret\",\"data\":{}}", "unexpected object: Secret"},
        {"{\"apiVersion\":\"v2\"}", "unexpected object: v2"},
        {"{\"kind\":7}", "unexpected object: kind"},
        {"{\"kind\":\"Status\",\"message\":\"go away\"}", "go away"},
        {"{\"data\":[]}", "has no tokens"},
        {"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"data\":null}", "has no tokens"},
    };
    struct scene *s = *state;

    s->options.timeout_ms = 1000;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        s->body = rows[i].body;
        if (run(s) == 0 ||
            (!strstr(s->err.message, rows[i].why) && !strstr(s->err.hints[0], rows[i].why)))
            fail_msg("%s: %s", rows[i].body, s->err.message);
    }
}

static void connections_are_tried_for_the_whole_time(void **state) {
    struct scene *s = *state;

    told = 0;
    s->broken = ERROR_NETWORK;
    s->options.on_retry = on_retry;
    assert_fails(s, ERROR_NETWORK, "failed to request the cluster-info ConfigMap: connect");
    assert_in_range(waited_s(s), 285, 300);
    assert_in_range(s->requests, 54, 67);
    assert_int_equal(told, s->requests - 1);
    assert_non_null(strstr(s->err.message, "tried "));
}

static void comes_through_when_the_server_comes_up(void **state) {
    struct scene *s = *state;

    s->broken = ERROR_TIMED_OUT;
    s->good_after = 5;
    assert_int_equal(run(s), 0);
    assert_int_equal(s->requests, 7);
}

static void server_errors_are_tried_again(void **state) {
    struct scene *s = *state;

    s->status = 503;
    s->body = "busy";
    s->options.timeout_ms = 30000;
    assert_fails(s, ERROR_NETWORK, "answered 503");
    assert_in_range(s->requests, 4, 12);
}

/* A minute at most: what asks for more is not listened to, nor what asks for no pause. */
static void a_server_says_when_to_come_again(void **state) {
    static const struct {
        long after;
        unsigned from_s, to_s;
    } rows[] = {{20, 20, 21}, {60, 60, 61}, {61, 2, 8}, {AT_ONCE, 2, 8}};
    struct scene *s = *state;

    s->status = 503;
    s->good_after = 1;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        unsigned before = waited_s(s);

        s->retry_after = rows[i].after;
        s->requests = 0;
        discovery_result_free(&s->result);
        assert_int_equal(run(s), 0);
        assert_in_range(waited_s(s) - before, rows[i].from_s, rows[i].to_s);
    }
}

static void a_short_time_has_a_few_tries(void **state) {
    struct scene *s = *state;

    s->broken = ERROR_NETWORK;
    s->options.timeout_ms = 2000;
    assert_fails(s, ERROR_NETWORK, "connect");
    assert_in_range(s->requests, 3, 4);
    assert_in_range(waited_s(s), 1, 2);
}

static void interrupt(void *context, struct host *host) {
    (void)context;
    host_memory_interrupt(host);
}

static void stops_when_it_is_asked_to(void **state) {
    struct scene *s = *state;

    host_memory_on_sleep(s->host, interrupt, NULL);
    s->broken = ERROR_NETWORK;
    assert_fails(s, ERROR_INTERRUPTED, "interrupted");
    assert_int_equal(s->requests, 1);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(proves_the_kubeconfig),
        CASE(takes_any_pin_of_any_certificate),
        CASE(without_pins_asks_once_and_warns),
        CASE(pins_count_even_with_the_skip_flag),
        CASE(another_token_for_the_bootstrap),
        CASE(tells_of_a_wrong_clock),
        CASE(checks_the_call_before_any_packet),
        CASE(takes_every_form_of_endpoint),
        CASE(a_wrong_secret_ends_at_once),
        CASE(a_wrong_pin_shows_what_was_found),
        CASE(a_second_answer_that_differs),
        CASE(a_server_of_another_ca),
        CASE(a_name_that_is_not_in_the_certificate),
        CASE(a_failed_verification_names_its_reason),
        CASE(dates_come_with_the_clocks),
        CASE(a_certificate_above_is_outdated),
        CASE(an_unknown_token_is_told_after_the_grace),
        CASE(only_ids_are_listed),
        CASE(a_lagging_signature_is_waited_for),
        CASE(permanent_answers_end_early),
        CASE(an_empty_signature_is_an_expired_token),
        CASE(content_that_is_no_kubeconfig),
        CASE(another_object_is_no_configmap),
        CASE(connections_are_tried_for_the_whole_time),
        CASE(comes_through_when_the_server_comes_up),
        CASE(server_errors_are_tried_again),
        CASE(a_server_says_when_to_come_again),
        CASE(a_short_time_has_a_few_tries),
        CASE(stops_when_it_is_asked_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
