/* Asks the kubelet about its configuration, because only it knows what its version refuses. */
#include "join/kubelet/kubelet_question.h"

#include "base/log.h"
#include "join/kubelet/kubelet_files.h"
#include "services/service_table.h"

enum { QUESTION_MS = 30000, OBJECTION_MAX = 600 };

/* Returns the text between the mark and the end of its line, without what the kubelet adds to each
 * such line. NULL when there is no such text; free() it. */
static char *words_behind(const char *said, const char *mark) {
    static const char *const ends[] = {", path: &TypeMeta", "\r", "\n"};
    const char *begin = strstr(said, mark);
    struct text words = {0};
    size_t len;

    if (!begin)
        return NULL;
    begin += strlen(mark);
    begin += strspn(begin, ", ");
    if (text_starts_with(begin, "error: "))
        begin += strlen("error: ");
    len = strlen(begin);
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        const char *end = strstr(begin, ends[i]);

        if (end && (size_t)(end - begin) < len)
            len = (size_t)(end - begin);
    }
    if (len && begin[len - 1] == '"')
        len--;
    if (!len)
        return NULL;
    len = len < OBJECTION_MAX ? len : OBJECTION_MAX;
    for (size_t i = 0; i < len; i++) /* In klog's err="..." each quote is escaped by a backslash */
        if (begin[i] != '\\' || i + 1 == len || begin[i + 1] != '"')
            text_add_char(&words, begin[i]);
    return text_take(&words);
}

/* Says how the kubelet begins a refusal, and whether it refuses its arguments or its configuration
 * (cmd/kubelet/app/server.go). The last row is the general message of a kubelet that ends before it
 * runs. */
static const struct mark {
    const char *text;
    bool of_arguments;
} marks[] = {
    {"failed to parse kubelet flag:", true},
    {"failed to validate kubelet flags:", true},
    {"unknown command ", true},
    {"failed to validate kubelet configuration", false},
    {"failed to merge global and in-flight KubeletConfiguration while setting defaults", false},
    {"failed to set feature gates from initial flags-based config:", false},
    {"failed to construct kubelet dependencies:", false},
    {"initialize logging:", false},
    {"failed to decode:", false},
    {"failed lenient decoding:", false},
    {"failed to load kubelet config file", false},
    {"panic: ", false}, /* Message of kubelet 1.34 at a flushFrequency below zero */
    {"\"command failed\" err=\"", false},
};

/* Two messages are no objection: one about the flag with which winjoin asks, which not every
 * version knows, and one after the kubelet has begun to run. */
char *kubelet_question_objection(const char *said, bool *ret_of_arguments) {
    for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
        char *words = words_behind(said, marks[i].text);

        *ret_of_arguments = marks[i].of_arguments;
        if (words && !strstr(words, "--exit-on-lock-contention") &&
            !text_starts_with(words, "failed to run Kubelet"))
            return words;
        free(words);
    }
    return NULL;
}

char *kubelet_question_unknown(const char *said) {
    return words_behind(said, "strict decoding error: ");
}

static int judge(struct join_progress *progress, int code, const char *said, struct error *err) {
    bool of_arguments = false;
    _cleanup_(freep) char *objection =
                              code ? kubelet_question_objection(said, &of_arguments) : NULL,
                          *unknown = kubelet_question_unknown(said);

    if (objection && of_arguments) {
        (void)error_set(err, ERROR_USAGE, "this kubelet refuses its arguments: %s", objection);
        return error_hint(
            err, "the kubelet would not start: take the argument out of kubeletExtraArgs (the "
                 "JoinConfiguration) or services.kubelet.extraArgs (the NodeConfiguration)");
    }
    if (objection) {
        (void)error_set(err, ERROR_USAGE,
                        "the cluster's KubeletConfiguration does not fit this kubelet: %s",
                        objection);
        return error_hint(
            err, "the kubelet would not start: change the ConfigMap kube-system/kubelet-config, or "
                 "override the value for this node with a patch (--patches)");
    }
    if (unknown)
        join_warn(progress, "the kubelet ignores a part of its configuration: %s", unknown);
    /* The kubelet was killed, or Windows ended it (0xC0000005). */
    if (code < 0 || code > 128)
        join_warn(progress, "the kubelet's check of its configuration ended with exit code 0x%x",
                  (unsigned)code);
    return 0;
}

int kubelet_question_ask(struct host *host, struct join_progress *progress, const json_t *config,
                         const struct service_settings *settings, const char *program,
                         const char *folder, struct error *err) {
    _cleanup_(freep) char *file = xasprintf("%s\\config.yaml", folder), *said = NULL, *text = NULL;
    _cleanup_json_ json_t *asked = json_deep_copy(config);
    _cleanup_(text_list_free) struct text_list words = {0};
    _cleanup_(freep) const char **argv = NULL;
    struct host_process process = {.timeout_ms = QUESTION_MS, .with_errors = true};
    struct error why = {0};
    int code = 0;

    /* The document is config.yaml as it will be written, without the CA's file, which does not
     * exist yet. */
    json_object_del(json_at(asked, "authentication.x509"), "clientCAFile");
    text = yaml_write(asked);
    if (service_arguments(&service_kubelet, settings, &words, NULL, err) < 0)
        return -1;
    text_set(&words.items[0], xstrdup(program));
    /* These arguments replace the service's own, because later ones win. */
    text_list_add_owned(&words, xasprintf("--config=%s", file));
    text_list_add_owned(&words, xasprintf("--cert-dir=%s\\pki", folder));
    text_list_add(&words, "--exit-on-lock-contention");
    if (host_write(host, file, text, strlen(text), HOST_SECRET, err) < 0)
        return -1;

    argv = xcalloc(words.count + 1, sizeof *argv);
    for (size_t i = 0; i < words.count; i++)
        argv[i] = words.items[i];
    process.argv = argv;
    if (host_run(host, &process, &code, &said, &why) == 0)
        return judge(progress, code, said, err);
    if (why.kind == ERROR_INTERRUPTED)
        return error_pass(err, &why);
    /* The kubelet did not end in time, or wrote too much output. */
    if (why.kind == ERROR_TIMED_OUT || why.kind == ERROR_MALFORMED)
        join_warn(progress, "could not let the kubelet check its configuration: %s", why.message);
    else
        log_message(LOG_INFO, "%s", why.message);
    return 0;
}
