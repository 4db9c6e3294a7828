/* Asks the kubelet itself: only it knows what its version refuses. */
#include "join/phases/kubelet_question.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/phases.h"

enum { QUESTION_MS = 30000, OBJECTION_MAX = 600 };

/* false and 0.5 are somebody's choice; "", 0, "0s" and what holds only such things are what a
 * program writes that writes every field. */
static bool says_nothing(const json_t *value) {
    const char *text = json_string_value(value), *key;
    json_t *item;
    size_t i;

    json_object_foreach((json_t *)value, key, item) if (!says_nothing(item)) return false;
    json_array_foreach(value, i, item) if (!says_nothing(item)) return false;
    if (text)
        return !*text || text_equal(text, "0") || text_equal(text, "0s");
    return !json_is_boolean(value) && !json_is_real(value) &&
           (!json_is_integer(value) || json_integer_value(value) == 0);
}

bool kubelet_question_is_needed(const json_t *config) {
    static const char *const usual[] = {
        "apiVersion",
        "authentication",
        "authorization",
        "cgroupsPerQOS",
        "clusterDNS",
        "clusterDomain",
        "containerLogMaxSize",
        "containerRuntimeEndpoint",
        "enforceNodeAllocatable",
        "fileCheckFrequency",
        "healthzBindAddress",
        "healthzPort",
        "kind",
        "maxPods",
        "resolvConf",
        "rotateCertificates",
        "serverTLSBootstrap",
        "staticPodPath",
    };
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)config, key, value) {
        bool is_usual = says_nothing(value);

        for (size_t i = 0; i < ARRAY_SIZE(usual) && !is_usual; i++)
            is_usual = text_equal(key, usual[i]);
        if (!is_usual)
            return true;
    }
    return false;
}

/* klog's err="..." has \" for each quote. */
static char *unquoted(const char *begin, size_t len) {
    struct text out = {0};
    char *result;

    for (size_t i = 0; i < len; i++)
        if (begin[i] != '\\' || i + 1 == len || begin[i + 1] != '"')
            text_add_char(&out, begin[i]);
    result = xstrdup(text_str(&out));
    text_free(&out);
    return result;
}

/* From behind the mark to the end of the line, without what the kubelet adds to every such line. */
static char *words_behind(const char *said, const char *mark) {
    static const char *const ends[] = {", path: &TypeMeta", "\r", "\n"};
    const char *begin = strstr(said, mark);
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
    return len ? unquoted(begin, len < OBJECTION_MAX ? len : OBJECTION_MAX) : NULL;
}

char *kubelet_question_objection(const char *said) {
    static const char *const marks[] = {
        "failed to validate kubelet configuration",
        "failed to merge global and in-flight KubeletConfiguration while setting defaults",
        "failed to set feature gates from initial flags-based config:",
        "failed to construct kubelet dependencies:",
        "initialize logging:",
        "failed to load kubelet config file",
    };
    char *objection = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(marks) && !objection; i++)
        objection = words_behind(said, marks[i]);
    return objection;
}

/* Later words win over the service's own. NULL-terminated; *ret_own keeps what they stand on. */
static int question_words(struct join *join, const char *program, const char *folder,
                          struct text_list *ret, struct error *err) {
    struct service_settings settings;

    phase_service_settings(join, &settings);
    if (service_arguments(SERVICE_KUBELET, &settings, ret, err) < 0)
        return -1;
    free(ret->items[0]);
    ret->items[0] = xstrdup(program);
    text_list_add_owned(ret, xasprintf("--config=%s\\config.yaml", folder));
    text_list_add_owned(ret, xasprintf("--cert-dir=%s\\pki", folder));
    text_list_add(ret, "--exit-on-lock-contention");
    return 0;
}

static int hear(struct join *join, const struct text_list *words, char **ret, struct error *err) {
    _cleanup_(freep) const char **argv = xcalloc(words->count + 1, sizeof *argv);
    struct host_process process = {.argv = argv, .timeout_ms = QUESTION_MS, .with_errors = true};
    _cleanup_(freep) char *output = NULL;
    int code;

    for (size_t i = 0; i < words->count; i++)
        argv[i] = words->items[i];
    if (host_run(join->host, &process, &code, &output, err) < 0)
        return -1;
    *ret = code && output ? kubelet_question_objection(output) : NULL;
    return 0;
}

int kubelet_question_ask(struct join *join, const char *program, const char *folder,
                         struct error *err) {
    _cleanup_(freep) char *file = xasprintf("%s\\config.yaml", folder), *objection = NULL;
    _cleanup_(freep) char *text = kubelet_config_text(join->kubelet_config);
    _cleanup_(text_list_free) struct text_list words = {0};
    struct error why = {0};

    if (question_words(join, program, folder, &words, err) < 0 ||
        host_write(join->host, file, text, strlen(text), HOST_SECRET, err) < 0)
        return -1;
    if (hear(join, &words, &objection, &why) < 0)
        log_message(LOG_INFO, "%s", why.message);
    if (!objection)
        return 0;
    (void)error_set(err, ERROR_USAGE, "use the cluster's KubeletConfiguration: kubelet: %s",
                    objection);
    return error_hint(err, "the kubelet would not start; change ConfigMap "
                           "kube-system/kubelet-config, or what it has for this node alone by a "
                           "patch (--patches)");
}
