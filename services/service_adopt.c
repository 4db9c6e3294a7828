/* A service that the image brought, and that a join goes on with: containerd as it is, the kubelet
 * with the arguments that it would have from us. Facts: kubernetes-sigs/image-builder registers
 * kubelet.exe itself with --windows-service, sig-windows-tools' PrepareNode.ps1 nssm with a script
 * that reads kubeadm-flags.env; nssm's settings: https://nssm.cc/usage. */
#include "base/log.h"
#include "host/command_line.h"
#include "host/path.h"
#include "services/service_table.h"

#define FLAGS_FILE "kubeadm-flags.env"
enum { SCRIPT_MAX = 1024 * 1024 };

int service_is_foreign(struct host *host, const struct service *row, bool *ret, struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};

    if (host_service_query(host, row->name, &found, err) < 0)
        return -1;
    *ret = found.state != HOST_SERVICE_ABSENT && !service_is_ours(&found);
    return 0;
}

/* The same flag, whatever its value. */
static bool names_the_same(const char *a, const char *b) {
    size_t len = strcspn(a, "=");

    return len == strcspn(b, "=") && strncmp(a, b, len) == 0;
}

static bool is_given(const char *word, const struct text_list *arguments) {
    for (size_t i = 1; i < arguments->count; i++) /* behind argv[0] */
        if (names_the_same(word, arguments->items[i]))
            return true;
    return false;
}

/* Its own words but those behind the program that ours replace ("--flag value" has its value behind
 * it), then ours. */
static char *joined_command(const struct text_list *words, size_t program,
                            const struct text_list *arguments) {
    _cleanup_(text_list_free) struct text_list all = {0};

    for (size_t i = 0; i < words->count; i++) {
        bool replaced = i > program && is_given(words->items[i], arguments);

        if (!replaced)
            text_list_add(&all, words->items[i]);
        else if (!strchr(words->items[i], '=') && i + 1 < words->count &&
                 words->items[i + 1][0] != '-')
            i++;
    }
    for (size_t i = 1; i < arguments->count; i++)
        text_list_add(&all, arguments->items[i]);
    return command_line_make((const char *const *)all.items);
}

static int give_arguments(const struct service *row, const struct service_settings *settings,
                          struct host_service *found, const struct text_list *words, size_t program,
                          bool *changed, struct error *err) {
    _cleanup_(text_list_free) struct text_list arguments = {0};
    char *command;

    if (service_arguments(row, settings, &arguments, err) < 0)
        return -1;
    command = joined_command(words, program, &arguments);
    *changed = !text_equal(command, found->command);
    text_set(&found->command, command);
    return 0;
}

/* Is it a file, by either slash, that names kubeadm's? */
static bool file_reads_flags(struct host *host, const char *name) {
    _cleanup_(freep) char *path = NULL, *text = NULL;
    size_t len;

    return strpbrk(name, "\\/") && path_normalize(name, &path, NULL) == 0 &&
           host_read_text(host, path, SCRIPT_MAX, &text, &len, NULL) == 0 &&
           strstr(text, FLAGS_FILE);
}

/* A script among the words that reads the file, or inside of one ("& 'C:\\k\\start.ps1'"). */
static bool reads_flags(struct host *host, const struct text_list *words) {
    for (size_t i = 0; i < words->count; i++) {
        _cleanup_(text_list_free) struct text_list parts = {0};
        _cleanup_(freep) char *plain = text_replace(xstrdup(words->items[i]), "'\"&;", ' ');

        text_list_split(&parts, plain, ' ');
        if (file_reads_flags(host, words->items[i]))
            return true;
        for (size_t k = 0; k < parts.count; k++)
            if (file_reads_flags(host, parts.items[k]))
                return true;
    }
    return false;
}

void service_words(struct host *host, const struct host_service *found, struct text_list *ret) {
    static const char *const values[] = {"Application", "AppParameters"};
    _cleanup_(freep) char *key =
        xasprintf("SYSTEM\\CurrentControlSet\\Services\\%s\\Parameters", found->name);

    command_line_words(found->command ? found->command : "", ret);
    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        _cleanup_(freep) char *line = NULL;

        if (host_registry_get(host, key, values[i], &line, NULL) == 0)
            command_line_words(line, ret);
    }
}

static bool is_program(const char *word, const struct service *row) {
    const char *wanted = strrchr(row->program, '\\') + 1;
    const char *name = word;

    for (const char *p = word; *p; p++)
        if (strchr("\\/", *p))
            name = p + 1;
    return text_equal_nocase(name, wanted);
}

/* Where its program stands: first, or behind another one that starts it (kube-log-runner.exe);
 * words->count: nowhere. */
static size_t find_program(const struct text_list *words, const struct service *row) {
    size_t i = 0;

    while (i < words->count && !is_program(words->items[i], row))
        i++;
    return i;
}

int service_adopted(struct host *host, const struct service *row,
                    const struct service_settings *settings, struct host_service *found,
                    bool *ret_changed, struct error *err) {
    _cleanup_(text_list_free) struct text_list words = {0}, wrapped = {0};
    size_t program;

    *ret_changed = false;
    if (!row->extra_args) /* nothing of a join's goes onto its command line */
        return 0;
    command_line_words(found->command ? found->command : "", &words);
    program = find_program(&words, row);
    if (program < words.count)
        return give_arguments(row, settings, found, &words, program, ret_changed, err);
    service_words(host, found, &wrapped);
    if (!reads_flags(host, &wrapped))
        log_message(LOG_WARNING,
                    "service %s runs '%.200s', which does not read " FLAGS_FILE
                    ": labels, taints and kubeletExtraArgs of this join do not reach it; delete "
                    "the service before the join and winjoin makes one: " SERVICE_REMOVAL("%s"),
                    row->name, found->command ? found->command : "", row->name, row->name);
    *ret_changed = true; /* it reads what the join has written when it starts */
    return 0;
}

int service_adopt(struct host *host, const struct service *row,
                  const struct service_settings *settings, struct host_service *found,
                  bool *ret_changed, struct error *err) {
    _cleanup_(freep) char *before = xstrdup_null(found->command);

    if (service_adopted(host, row, settings, found, ret_changed, err) < 0)
        return -1;
    return text_equal(before, found->command) ? 0 : host_service_put(host, found, err);
}
