/* Runs the table of preflight checks, evaluates the results and reports them. */
#include "join/preflight/preflight.h"

#include "join/configuration/join_options.h"
#include "join/preflight/preflight_checks.h"
#include "services/artifacts/artifacts.h"

enum { HINTS_MAX = ERROR_HINTS_MAX - 1 }; /* One hint is left for the end of a failed join */

const char *const preflight_outcome_names[PREFLIGHT_OUTCOME_COUNT] = {
    [PREFLIGHT_PASS] = "pass",       [PREFLIGHT_WARNING] = "warning", [PREFLIGHT_ERROR] = "error",
    [PREFLIGHT_IGNORED] = "ignored", [PREFLIGHT_NOT_RUN] = "not-run",
};

/* ---- messages of a check ---- */

/* Writes a message into a buffer, in one line: bytes from the host (names, registry values) are
 * escaped. A message that is too long is cut. */
static void put(char *out, size_t size, const char *prefix, const char *format, va_list args) {
    _cleanup_(text_free) struct text raw = {0}, line = {.cap = size - 1};

    text_addv(&raw, format, args);
    text_add(&line, prefix);
    for (size_t len = raw.len; len > 0; len--) {
        text_add_escaped(&line, text_str(&raw), len);
        if (!line.overflow)
            break;
        text_clear(&line);
        line.overflow = false;
        text_add(&line, prefix);
    }
    /* The text's limit is the size of the buffer */
    (void)text_format(out, size, "%s", text_str(&line));
}

enum check_verdict check_say(struct check_finding *finding, enum check_verdict verdict,
                             const char *format, ...) {
    va_list args;

    va_start(args, format);
    put(finding->message, sizeof finding->message,
        verdict == CHECK_UNKNOWN ? "could not check: " : "", format, args);
    va_end(args);
    return verdict;
}

void check_hint(struct check_finding *finding, const char *format, ...) {
    va_list args;

    va_start(args, format);
    put(finding->hint, sizeof finding->hint, "", format, args);
    va_end(args);
}

int check_registry(const struct machine *machine, struct check_finding *finding, const char *key,
                   const char *value, char **ret) {
    if (host_registry_get(machine->host, key, value, ret, &finding->why) == 0)
        return 1;
    return error_forgive(&finding->why, ERROR_ABSENT);
}

/* ---- ignored checks ---- */

void preflight_names(struct text_list *ret) {
    size_t count;
    _cleanup_(freep) struct preflight_check *checks = preflight_checks(&count);

    for (size_t i = 0; i < count; i++)
        text_list_add(ret, checks[i].id);
}

void preflight_unknown_names(const struct text_list *ignored, struct text_list *ret_warnings) {
    /* The beginnings of the names of checks that kubeadm has and winjoin does not need. Scripts may
     * name these checks, so they are no mistakes. */
    static const char *const begins[] = {
        "swap",           "numcpu",        "mem",         "fileexisting-", "filecontent-",
        "fileavailable-", "diravailable-", "port-",       "externaletcd",  "imagepull",
        "controlplane",   "createjob",     "etcdversion", "hostname",      "firewalld"};
    size_t count;
    _cleanup_(freep) struct preflight_check *checks = preflight_checks(&count);

    for (size_t i = 0; i < ignored->count; i++) {
        _cleanup_(freep) char *name = ignored_check_canonical(ignored->items[i]);
        struct text_list one = {.items = &ignored->items[i], .count = 1};
        bool known = text_equal(name, "all") || text_equal(name, "kubernetesversion");

        for (size_t k = 0; k < ARRAY_SIZE(begins) && !known; k++)
            known = text_starts_with(name, begins[k]);
        for (size_t k = 0; k < count && !known; k++)
            known = ignored_checks_have(&one, checks[k].id);
        if (!known)
            text_list_add_owned(ret_warnings,
                                xasprintf("--ignore-preflight-errors: there is no check \"%.80s\" "
                                          "(winjoin preflight -v 1 lists them)",
                                          ignored->items[i]));
    }
}

/* ---- running of the checks ---- */

static enum preflight_outcome outcome_of(const struct join_options *options,
                                         enum check_verdict verdict,
                                         const struct preflight_check *check) {
    switch (verdict) {
    case CHECK_FINE:
        return PREFLIGHT_PASS;
    case CHECK_UNKNOWN:
    case CHECK_WARN:
        return PREFLIGHT_WARNING;
    case CHECK_NOT_RUN:
        return PREFLIGHT_NOT_RUN;
    case CHECK_BAD:
    case CHECK_FAILED:
    case CHECK_FAILED_HERE:
        break;
    }
    if (check->level == PREFLIGHT_ERROR && !check->firm &&
        ignored_checks_have(&options->ignore_preflight_errors, check->id))
        return PREFLIGHT_IGNORED;
    return check->level;
}

static void run_check(struct join *join, const struct preflight_check *check,
                      struct preflight_result *ret) {
    const struct join_found *found = &join->found;
    /* The checks that must have passed before other checks can run. */
    const struct {
        const char *id;
        bool passed;
    } first[] = {[AFTER_NONE] = {"", true},
                 [AFTER_DISCOVERY] = {"Discovery", found->client.server},
                 [AFTER_CONFIGURATION] = {"ClusterConfiguration", found->cluster.kubelet},
                 [AFTER_PLAN] = {"NetworkPlan", found->plan.name}};
    struct check_finding finding = {.check = check};
    struct machine machine = {join->host, &join->found, &join->journal};
    enum check_verdict verdict;

    if (!first[check->after].passed)
        verdict = check_say(&finding, CHECK_NOT_RUN, "needs %s", first[check->after].id);
    else if (check->fits)
        verdict = check->fits(join, &finding.why) < 0 ? CHECK_FAILED_HERE : CHECK_FINE;
    else
        verdict = check->run ? check->run(&machine, &finding) : check->ask(join, &finding);

    *ret = (struct preflight_result){.id = check->id,
                                     .help = check->help,
                                     .level = check->level,
                                     .outcome = outcome_of(&join->found.options, verdict, check)};
    if (verdict == CHECK_FINE)
        return;
    if (verdict == CHECK_UNKNOWN && !finding.message[0])
        (void)check_say(&finding, CHECK_UNKNOWN, "%s", finding.why.message);
    if (verdict == CHECK_FAILED || verdict == CHECK_FAILED_HERE) {
        if (finding.why.hints[0][0])
            check_hint(&finding, "%s", finding.why.hints[0]);
        (void)check_say(&finding, CHECK_BAD, "%s", finding.why.message);
    }
    /* Both buffers have the same size */
    (void)text_format(ret->message, sizeof ret->message, "%s", finding.message);
    if (verdict == CHECK_UNKNOWN || verdict == CHECK_NOT_RUN)
        return;
    ret->cause = verdict == CHECK_FAILED ? finding.why.kind : ERROR_NONE;
    (void)text_format(ret->hint, sizeof ret->hint, "%s",
                      /* The hints of rows are shorter than the buffer */
                      finding.hint[0] ? finding.hint : check->hint);
}

struct preflight_result *preflight_run(struct join *join, bool whole, size_t *ret_count) {
    size_t rows, count = 0;
    _cleanup_(freep) struct preflight_check *checks = preflight_checks(&rows);
    struct preflight_result *results = xcalloc(rows, sizeof *results);
    const struct join_found *found = &join->found;
    bool images = found->options.images.count || found->options.images_required.count ||
                  bundle_images(found->bundle)->count;

    join->found.runs_no_programs = true;
    for (size_t i = 0; i < rows; i++) {
        if (checks[i].whole && !whole && !(checks[i].of_images && images))
            continue;
        if (count && results[0].outcome == PREFLIGHT_ERROR) {
            results[count] = (struct preflight_result){.id = checks[i].id,
                                                       .help = checks[i].help,
                                                       .level = checks[i].level,
                                                       .outcome = PREFLIGHT_NOT_RUN};
            (void)text_format(results[count++].message, 300, "requires administrator rights");
            continue;
        }
        run_check(join, &checks[i], &results[count++]);
    }
    join->found.runs_no_programs = false;
    *ret_count = count;
    return results;
}

json_t *preflight_report_json(const struct preflight_result *results, size_t count) {
    json_t *rows = json_array();

    for (size_t i = 0; i < count; i++) {
        const struct preflight_result *r = &results[i];

        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s*, s:s*}", "id", r->id, "level",
                                              preflight_outcome_names[r->level], "outcome",
                                              preflight_outcome_names[r->outcome], "message",
                                              *r->message ? r->message : NULL, "hint",
                                              *r->hint ? r->hint : NULL));
    }
    return json_pack("{s:s, s:s, s:o}", JSON_DOCUMENT("PreflightReport"), "checks", rows);
}

void preflight_limit_facts(const struct join *join, struct limit_facts *ret) {
    const struct join_found *found = &join->found;

    *ret = (struct limit_facts){.hns = found->hns,
                                .no_dsr = text_equal(found->options.dsr, "off"),
                                .mode = found->plan.mode,
                                .host_name = found->facts.host_name};
    if (!ret->mode && found->options.network_mode)
        ret->mode = network_mode_by_name(found->options.network_mode);
    /* On failure the number of dynamic ports stays 0, which means unknown. */
    (void)limit_dynamic_ports(join->host, &ret->dynamic_ports, NULL);
}

/* ---- evaluation ---- */

int preflight_judge(const struct preflight_result *results, size_t count, struct error *err) {
    size_t errors = 0, restarts = 0, ours = 0, listed = 0, room;
    enum error_kind cause = ERROR_NONE, kind;

    for (size_t i = 0; i < count; i++) {
        if (results[i].outcome != PREFLIGHT_ERROR)
            continue;
        if (results[i].cause == ERROR_INTERRUPTED)
            return error_set(err, ERROR_INTERRUPTED, "preflight: %s: interrupted", results[i].id);
        errors++;
        restarts += text_equal(results[i].id, "PendingRestart");
        ours += !results[i].cause;
        if (results[i].cause && (!cause || results[i].cause == ERROR_UNTRUSTED))
            cause = results[i].cause;
    }
    if (!errors)
        return 0;
    kind = cause == ERROR_UNTRUSTED ? cause
           : restarts == errors     ? ERROR_RESTART
           : ours || !cause         ? ERROR_PREFLIGHT
                                    : cause;
    if (kind == ERROR_RESTART)
        (void)error_set(err, kind, "preflight: a restart of Windows is needed first");
    else
        (void)error_set(err, kind, "preflight: %zu of %zu checks failed", errors, count);

    room = errors > HINTS_MAX ? HINTS_MAX - 1 : HINTS_MAX;
    for (size_t i = 0; i < count && listed < room; i++) {
        if (results[i].outcome != PREFLIGHT_ERROR)
            continue;
        (void)error_hint(err, "[%s] %s%s%s", results[i].id, results[i].message,
                         *results[i].hint ? ": " : "", results[i].hint);
        listed++;
    }
    if (errors > listed)
        (void)error_hint(err, "and %zu more; winjoin preflight lists all", errors - listed);
    return -1;
}
