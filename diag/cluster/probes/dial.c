/* Asks agnhost's /dial, and reads its answers. Its documentation speaks of status 417, but the
 * program answers 200 with any result of the dial, and 400 when a name does not resolve. */
#include "diag/cluster/probes/dial.h"

#include "base/json.h"
#include "diag/cluster/probes/asking.h"
#include "kube/client.h"

char *dial_path(const char *namespace_, const char *pod, const char *host, unsigned port, bool udp,
                const char *request, unsigned tries) {
    _cleanup_(freep) char *escaped = kube_escape(host);

    return xasprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy/dial?host=%s&port=%u&protocol=%s&"
                     "request=%s&tries=%u",
                     namespace_, pod, PROBE_HTTP, escaped, port, udp ? "udp" : "http", request,
                     tries);
}

/* Copies as much text as fits, without the newline at the end; any byte that is not printable ASCII
 * becomes a question mark. */
static void copy_plain(char *ret, size_t size, const char *text) {
    size_t n = 0, len = strlen(text);

    while (len && text[len - 1] == '\n')
        len--;
    for (; n < len && n + 1 < size; n++)
        ret[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
    ret[n] = '\0';
}

static void count_answer(const char *answer, const struct dial_expected *expected,
                         struct probe_result *ret) {
    char responder[sizeof ret->responder];
    bool right;

    copy_plain(responder, sizeof responder, answer);
    right = !expected || expected->is_right(expected->context, responder);
    ret->attempts++;
    if (!right || ret->outcome != PROBE_WRONG_RESPONDER)
        text_format(ret->responder, sizeof ret->responder, "%s", responder);
    if (!right) {
        ret->outcome = PROBE_WRONG_RESPONDER;
        return;
    }
    ret->succeeded++;
    for (size_t i = 0; i < ret->address_count; i++)
        if (text_starts_with(responder, ret->addresses[i]))
            return;
    if (ret->address_count < PROBE_ADDRESSES_MAX)
        copy_plain(ret->addresses[ret->address_count++], sizeof ret->addresses[0], answer);
}

/* Reads an error text of Go on Linux or Windows. Special texts come before more general ones. */
static void count_error(const char *error, bool udp, struct probe_result *ret, char *why,
                        size_t why_size) {
    static const struct {
        const char *part;
        enum probe_outcome outcome;
    } rows[] = {
        {"malformed HTTP response", PROBE_OK}, /* A program is there that does not speak HTTP. */
        {"server gave HTTP response to HTTPS", PROBE_OK},
        {"no such host", PROBE_DNS_NXDOMAIN},
        {"server misbehaving", PROBE_DNS_SERVFAIL},
        {"refused", PROBE_REFUSED}, /* Also matches "actively refused it" of Windows. */
        {"no route to host", PROBE_UNREACHABLE},
        {"unreachable", PROBE_UNREACHABLE},
        {"reset by peer", PROBE_RESET},
        {"forcibly closed", PROBE_RESET},
        {"EOF", PROBE_RESET},
        {"timeout", PROBE_TIMEOUT},
        {"Timeout", PROBE_TIMEOUT},
        {"deadline exceeded", PROBE_TIMEOUT},
        /* The text of Windows when a connection has no answer. */
        {"did not properly respond", PROBE_TIMEOUT},
    };
    /* Plain words for long texts of Go. Other texts, such as DNS errors, are kept. */
    static const char *const words[] = {[PROBE_REFUSED] = "connection refused",
                                        [PROBE_RESET] = "connection reset",
                                        [PROBE_UNREACHABLE] = "no route to it",
                                        [PROBE_FAILED] = NULL};
    enum probe_outcome outcome = PROBE_FAILED;
    size_t row = 0;

    while (row < ARRAY_SIZE(rows) && !strstr(error, rows[row].part))
        row++;
    if (strstr(error, "lookup ") && (strstr(error, "timeout") || strstr(error, "timed out") ||
                                     strstr(error, "refused") || strstr(error, "unreachable")))
        outcome = PROBE_DNS_TIMEOUT;
    else if (row < ARRAY_SIZE(rows))
        outcome = rows[row].outcome;

    ret->attempts++;
    if (outcome == PROBE_OK) {
        ret->succeeded++;
        return;
    }
    ret->outcome = outcome == PROBE_TIMEOUT && udp ? PROBE_NO_REPLY : outcome;
    if (outcome == PROBE_TIMEOUT)
        text_format(why, why_size, "no answer in %d s", DIAL_TIMEOUT_MS / 1000);
    else if (words[outcome])
        text_format(why, why_size, "%s", words[outcome]);
    else
        copy_plain(why, why_size, error);
}

enum dial_end dial_read(long status, const char *body, size_t len, bool udp,
                        const struct dial_expected *expected, struct probe_result *ret, char *why,
                        size_t why_size) {
    _cleanup_json_ json_t *json = NULL;
    const char *message;

    *ret = (struct probe_result){0};
    *why = '\0';
    if (!body)
        body = "";
    if (status)
        /* An answer that is no JSON but plain text is judged below. */
        (void)json_read(body, len, "the answer", &json, NULL);
    message = json_text_at(json, "message");
    if (status == 200 && json_is_object(json) && !json_object_get(json, "kind")) {
        json_each(json_object_get(json, "responses"), i, item) {
            if (json_string_value(item) && *json_string_value(item))
                count_answer(json_string_value(item), expected, ret);
        }
        json_each(json_object_get(json, "errors"), i, item) {
            if (json_string_value(item))
                count_error(json_string_value(item), udp, ret, why, why_size);
        }
        if (!ret->attempts) { /* The answer "{}" has neither responses nor errors. */
            ret->attempts = 1;
            ret->outcome = PROBE_NO_REPLY;
        }
        return DIAL_ANSWERED;
    }
    if (status == 400 && strstr(body, "lookup ") && !message) {
        count_error(body, udp, ret, why, why_size);
        return DIAL_ANSWERED;
    }
    copy_plain(why, why_size, message ? message : body);
    return DIAL_NOT_RUN;
}

bool dial_is_address(const char *host) {
    return host[strspn(host, "0123456789abcdefABCDEF.:")] == '\0';
}

bool dial_is_refused(long status, const char *body, size_t len) {
    _cleanup_json_ json_t *json = NULL;
    const char *message;

    if ((status != 500 && status != 503) || !body ||
        json_read(body, len, "the answer", &json, NULL) < 0)
        return false;
    message = json_text_at(json, "message");
    return message && strstr(message, "refused");
}

char *dial_settings_read(long status, const char *body, size_t len) {
    _cleanup_json_ json_t *json = NULL;

    if (status != 200 || !body || json_read(body, len, "the answer", &json, NULL) < 0)
        return NULL;
    return xstrdup_null(json_text_at(json, "output"));
}
