/* Finds causes that the first look shows: a service that is down, an API server that is not
 * reached, an expired certificate, a wrong clock. They are named whether or not a flow fails. */
#include "base/rfc3339.h"
#include "diag/causes/cause_rows.h"
#include "diag/first_look.h"
#include "services/service_status.h"

enum { CLOCK_TOLERANCE_SECONDS = 300, MINUTE = 60, HOUR = 3600, DAY = 86400 };

/* Formats a duration, such as "4 min"; free() it. */
static char *duration(int64_t seconds) {
    static const struct {
        int64_t unit;
        const char *name;
    } units[] = {{DAY, "days"}, {HOUR, "h"}, {MINUTE, "min"}, {1, "s"}};
    size_t i = 0;

    if (seconds < 0)
        seconds = -seconds;
    while (i + 1 < ARRAY_SIZE(units) && seconds < 2 * units[i].unit)
        i++;
    return xasprintf("%lld %s", (long long)(seconds / units[i].unit), units[i].name);
}

/* ---- Windows services ---- */

static char *what_is_down(const struct symptoms *symptoms, const json_t *status,
                          const char *called) {
    const char *state = json_text_at(status, "state");
    long long code = json_number_at(status, "exitCode", -1);
    long long ends = json_number_at(status, "recentEnds", 0);
    int64_t then = rfc3339_seconds(json_text_at(status, "since")),
            now = rfc3339_seconds(json_text_at(symptoms->look, "time"));
    _cleanup_(freep) char *time = duration(now - then),
                          *when = then && now ? xasprintf(" %s ago", time) : xstrdup("");

    if (text_equal(state, "absent"))
        return xasprintf("%s is not installed as a service", called);
    if (ends >= SERVICE_CRASHES)
        return xasprintf("%s keeps ending: %lld times within %d min, the last time with exit code "
                         "%lld",
                         called, ends, SERVICE_RECENT_SECONDS / MINUTE, code);
    if (!text_equal(state, "stopped"))
        return xasprintf("%s is not running: it is %s", called, state);
    if (code < 0)
        return xasprintf("%s is not running: it has not been started since Windows started",
                         called);
    if (code == 0)
        return xasprintf("%s is not running: it was stopped%s", called, when);
    return xasprintf("%s is not running: it ended%s with exit code %lld", called, when, code);
}

enum level judge_service(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *name = finding->what;
    const json_t *status = item_with(json_object_get(symptoms->look, "services"), "name", name);
    const char *log = json_text_at(status, "log"), *state = json_text_at(status, "state");

    /* Cells that were measured and failed have other causes. */
    finding->may &= symptoms->red & ~symptoms->failed;
    if (!status || !service_status_is_down(status))
        return NO;
    finding->message = what_is_down(symptoms, status, diag_service_called(name));
    if (text_equal(state, "absent"))
        finding->hint = xasprintf("winjoin join phase %s installs and starts it again", name);
    else if (json_bool_at(status, "winjoin", false) && json_number_at(status, "exitCode", 0) > 0)
        finding->hint = xasprintf("fix what its last error names (winjoin logs %s shows more), "
                                  "then: sc.exe start %s",
                                  name, name);
    else
        finding->hint = xasprintf("sc.exe start %s", name);
    json_each(json_object_get(status, "lastErrors"), i, line)
        finding_note(finding, "its log says: %s", json_string_value(line));
    if (log)
        finding_note(finding, "its log: %s", log);
    else
        finding_note(finding, "the Service Control Manager says: %s", state);
    return CONFIRMED;
}

/* A service (containerd or kubelet) runs, but does not answer. */
enum level judge_hung(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *name = finding->what;
    const char *why =
        json_string_value(json_object_get(json_object_get(symptoms->look, "silent"), name));

    /* If pods start after all, the service was only slow. */
    finding->may &= symptoms->red & ~symptoms->failed;
    if (!why || !finding->may)
        return NO;
    finding->message = xasprintf("%s runs, but does not answer", diag_service_called(name));
    finding->hint = xasprintf("taskkill.exe /f /im %s.exe, as it may not stop; Windows starts it "
                              "again, or: sc.exe start %s; winjoin logs %s shows what it did last",
                              name, name, name);
    finding_note(finding, "%s", why);
    return CONFIRMED;
}

/* ---- certificate, API server, clock ---- */

static int64_t expired_since(const struct symptoms *symptoms) {
    int64_t end = rfc3339_seconds(json_text_at(symptoms->look, "certificate.notAfter"));
    int64_t now = rfc3339_seconds(json_text_at(symptoms->look, "time"));

    return end && now > end ? now - end : 0;
}

enum level judge_cert_expired(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *certificate = json_object_get(symptoms->look, "certificate");
    int64_t since = expired_since(symptoms);
    _cleanup_(freep) char *words = duration(since);

    if (!since)
        return NO;
    finding->message = xasprintf("the node's client certificate expired %s ago", words);
    finding_note(finding, "%s was valid until %s", json_text_at(certificate, "path"),
                 json_text_at(certificate, "notAfter"));
    return CONFIRMED;
}

enum level judge_api_down(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *server = json_text_or(symptoms->look, "api.server", "the API server"),
               *outcome = json_text_at(symptoms->look, "api.outcome");
    const char *begin;
    _cleanup_(freep) char *host = NULL;
    unsigned port;

    if (symptoms->api_is_late)
        return NO;
    if (text_equal(outcome, "failing")) {
        finding->may &= symptoms->failed;
        finding->message = xasprintf(
            "the API server at %s takes connections, but does not serve this node", server);
        finding->hint = xasprintf("look at its load and its log, and ask again: curl.exe -k "
                                  "%s/readyz; running pods are not affected",
                                  server);
        finding_note(finding, "%s",
                     json_text_or(symptoms->look, "api.detail", "it gave no reason"));
        return LIKELY;
    }
    if (!text_equal(outcome, "unreachable"))
        return NO;
    finding->may &= symptoms->failed;
    finding->message = xasprintf("this node does not reach the API server at %s", server);
    finding->hint = xasprintf("check that it runs and that no firewall is in between: curl.exe -k "
                              "%s/readyz; running pods are not affected",
                              server);
    finding_note(finding, "%s", json_text_or(symptoms->look, "api.detail", "it gave no reason"));
    /* The node's route is looked up only when the server's name is an IP address. */
    begin = strstr(server, "://");
    if (begin && text_split_port(begin + 3, &host, &port) == 0 && host)
        note_route(symptoms, host, finding);
    return CONFIRMED;
}

enum level judge_api_refused(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *outcome = json_text_at(symptoms->look, "api.outcome");
    bool untrusted = text_equal(outcome, "untrusted");

    if ((!untrusted && !text_equal(outcome, "refused")) || expired_since(symptoms))
        return NO;
    finding->message =
        untrusted ? xasprintf("the certificate of the API server at %s is not trusted",
                              json_text_or(symptoms->look, "api.server", "the API server"))
                  : xasprintf("the API server at %s refuses this node",
                              json_text_or(symptoms->look, "api.server", "the API server"));
    finding_note(finding, "%s", json_text_or(symptoms->look, "api.detail", "it gave no reason"));
    return CONFIRMED;
}

/* The API server accepts this node, and answers that it has no Node with this name. */
enum level judge_node_gone(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *detail = json_text_at(symptoms->look, "api.detail");

    if (!detail || !strstr(detail, "(404 NotFound)"))
        return NO;
    finding_note(finding, "%s", detail);
    return CONFIRMED;
}

enum level judge_clock_off(const struct symptoms *symptoms, struct cause_finding *finding) {
    long long difference = json_number_at(symptoms->look, "api.clockDifferenceSeconds", 0);
    _cleanup_(freep) char *words = duration(difference);

    if (difference <= CLOCK_TOLERANCE_SECONDS && difference >= -CLOCK_TOLERANCE_SECONDS)
        return NO;
    finding->message = xasprintf("this node's clock is %s %s the API server's", words,
                                 difference > 0 ? "behind" : "ahead of");
    finding_note(finding, "its answer is dated %lld s %s this clock",
                 difference > 0 ? difference : -difference, difference > 0 ? "after" : "before");
    return CONFIRMED;
}
