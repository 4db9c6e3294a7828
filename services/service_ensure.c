/* Registers services with the SCM. Compares first and changes only what differs. */
#include "services/service_table.h"

#include "base/log.h"
#include "host/command_line.h"
#include "host/path.h"
#include "services/rows/service_rows.h"

enum {
    START_TIMEOUT_MS = 30000,
    STOP_TIMEOUT_MS = 60000,
    DELETE_TIMEOUT_MS = 60000,
    SETTINGS_FILE_MAX = 256 * 1024
};

static bool same_list(const struct text_list *a, const struct text_list *b) {
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!text_equal(a->items[i], b->items[i]))
            return false;
    return true;
}

/* Are the values equal that a service reads only when it starts? */
static bool runs_the_same(const struct host_service *a, const struct host_service *b) {
    return text_equal(a->command, b->command) && same_list(&a->environment, &b->environment);
}

/* The pre-shutdown timeout is compared only where it is set, since Windows has a default for it. */
static bool same_service(const struct host_service *found, const struct host_service *wanted) {
    return runs_the_same(found, wanted) && text_equal(found->display_name, wanted->display_name) &&
           text_equal(found->description, wanted->description) &&
           same_list(&found->depends_on, &wanted->depends_on) &&
           found->auto_start == wanted->auto_start &&
           memcmp(found->restart_delays_ms, wanted->restart_delays_ms,
                  sizeof(found->restart_delays_ms)) == 0 &&
           found->restart_on_error == wanted->restart_on_error &&
           found->reset_seconds == wanted->reset_seconds &&
           (!wanted->preshutdown_ms || found->preshutdown_ms == wanted->preshutdown_ms);
}

static int adopt(struct host *host, const struct service *row,
                 const struct service_settings *settings, struct service_wanted *ret,
                 struct error *err);

void service_wanted_free(struct service_wanted *wanted) {
    host_service_free(&wanted->service);
    free_all(wanted->settings, wanted->foreign_command);
}

int service_want(struct host *host, const struct service *row,
                 const struct service_settings *settings, struct service_wanted *ret,
                 struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};
    _cleanup_(freep) char *now = NULL;
    struct error why = {0};
    bool foreign;
    size_t len;

    if (host_service_query(host, row->name, &found, err) < 0)
        return -1;
    foreign = found.state != HOST_SERVICE_ABSENT && !service_is_ours(&found);
    if (foreign && settings->adopt) {
        ret->service = take_struct(found);
        return adopt(host, row, settings, ret, err);
    }
    if (service_make(row, settings, &ret->service, err) < 0 ||
        (row->hosted && service_host_file_make(row, settings, &ret->settings, err) < 0))
        return -1;
    if (row->hosted && !foreign &&
        host_read(host, row->settings_file, SETTINGS_FILE_MAX, &now, &len, &why) < 0 &&
        /* ERROR_MALFORMED means that the file is longer than one of winjoin's, so it differs. */
        why.kind != ERROR_ABSENT && why.kind != ERROR_MALFORMED) {
        (void)error_pass(err, &why);
        return error_prefix(err, "service '%s'", row->name);
    }
    if (foreign)
        ret->foreign_command = xstrdup(found.command ? found.command : "nothing");
    ret->settings_differ = !text_equal(now, ret->settings);
    ret->differs = found.state == HOST_SERVICE_ABSENT || !same_service(&found, &ret->service);
    ret->restarts = ret->settings_differ || !runs_the_same(&found, &ret->service);
    return 0;
}

int service_ensure(struct host *host, const struct service *row,
                   const struct service_settings *settings, bool *ret_changed, struct error *err) {
    _cleanup_(service_wanted_free) struct service_wanted wanted = {0};

    if (service_want(host, row, settings, &wanted, err) < 0)
        return -1;
    if (wanted.foreign_command) {
        (void)error_set(err, ERROR_CONFLICT,
                        "service '%s' already exists and was not made by winjoin", row->name);
        return error_hint(err, "it runs: %s", wanted.foreign_command);
    }
    if (ret_changed)
        *ret_changed = wanted.restarts;
    if ((wanted.settings_differ && host_write(host, row->settings_file, wanted.settings,
                                              strlen(wanted.settings), HOST_SECRET, err) < 0) ||
        (wanted.differs && host_service_put(host, &wanted.service, err) < 0))
        return wanted.adopted ? -1 : error_prefix(err, "service '%s'", row->name);
    return 0;
}

int service_restart(struct host *host, const struct service *row, bool *ret_restarted,
                    struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};
    if (host_service_query(host, row->name, &found, err) < 0)
        return -1;
    *ret_restarted = found.state != HOST_SERVICE_ABSENT && service_is_ours(&found);
    if (*ret_restarted && (host_service_stop(host, row->name, STOP_TIMEOUT_MS, err) < 0 ||
                           host_service_start(host, row->name, START_TIMEOUT_MS, err) < 0))
        return error_prefix(err, "restart service '%s'", row->name);
    return 0;
}

int service_remove(struct host *host, const struct service *row, struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};
    if (host_service_query(host, row->name, &found, err) < 0)
        return -1;
    if (found.state != HOST_SERVICE_ABSENT) {
        if (!service_is_ours(&found))
            return 0;
        if (host_service_stop(host, row->name, STOP_TIMEOUT_MS, err) < 0 ||
            host_service_delete(host, row->name, DELETE_TIMEOUT_MS, err) < 0)
            return error_prefix(err, "remove service '%s'", row->name);
    }
    return row->hosted ? host_remove(host, row->settings_file, err) : 0;
}

/* ---- adopting services that winjoin did not make ---- */

/* A join can adopt a service that the image has: containerd as it is, the kubelet with the
 * arguments that winjoin would give it. Sources: kubernetes-sigs/image-builder registers
 * kubelet.exe itself with --windows-service; PrepareNode.ps1 of sig-windows-tools registers nssm
 * with a script that reads kubeadm-flags.env; nssm's settings: https://nssm.cc/usage. */

#define FLAGS_FILE "kubeadm-flags.env"
enum { SCRIPT_MAX = 1024 * 1024 };

/* Does a script among the words read kubeadm's file? Its path may have either slash and may be
 * inside a word ("& 'C:\\k\\start.ps1'"). */
static bool reads_flags(struct host *host, const struct text_list *words) {
    for (size_t i = 0; i < words->count; i++) {
        _cleanup_(text_list_free) struct text_list names = {0};
        _cleanup_(freep) char *plain = text_replace(xstrdup(words->items[i]), "'\"&;", ' ');

        text_list_add(&names, words->items[i]);
        text_list_split(&names, plain, ' ');
        for (size_t k = 0; k < names.count; k++) {
            _cleanup_(freep) char *path = NULL, *text = NULL;
            size_t len;

            if (strpbrk(names.items[k], "\\/") &&
                path_normalize(names.items[k], &path, NULL) == 0 &&
                host_read_text(host, path, SCRIPT_MAX, &text, &len, NULL) == 0 &&
                strstr(text, FLAGS_FILE))
                return true;
        }
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

static int adopt(struct host *host, const struct service *row,
                 const struct service_settings *settings, struct service_wanted *ret,
                 struct error *err) {
    _cleanup_(text_list_free) struct text_list words = {0}, wrapped = {0}, arguments = {0};
    _cleanup_(text_list_free) struct text_list all = {0};
    struct host_service *found = &ret->service;
    size_t program = 0;
    char *command;

    ret->adopted = true;
    if (!row->extra_args) /* A join adds nothing to the command line of this service. */
        return 0;
    command_line_words(found->command ? found->command : "", &words);
    /* The program is the first word, or follows a program that starts it (kube-log-runner.exe). */
    while (program < words.count &&
           !text_equal_nocase(path_base(words.items[program]), path_base(row->program)))
        program++;
    if (program < words.count) {
        /* Makes the new command line: the service's own words, without arguments that winjoin's
         * replace (with "--flag value" the value goes, too), then winjoin's arguments. */
        if (service_arguments(row, settings, &arguments, NULL, err) < 0)
            return -1;
        for (size_t i = 0; i < words.count; i++) {
            bool replaced = i > program && argument_is_given(words.items[i], &arguments, 1);

            if (!replaced)
                text_list_add(&all, words.items[i]);
            else if (!strchr(words.items[i], '=') && i + 1 < words.count &&
                     words.items[i + 1][0] != '-')
                i++;
        }
        for (size_t i = 1; i < arguments.count; i++)
            text_list_add(&all, arguments.items[i]);
        command = command_line_make((const char *const *)all.items);
        ret->differs = ret->restarts = !text_equal(command, found->command);
        text_set(&found->command, command);
        return 0;
    }
    service_words(host, found, &wrapped);
    if (!reads_flags(host, &wrapped))
        log_message(LOG_WARNING,
                    "service %s runs '%.200s', which does not read " FLAGS_FILE
                    ": labels, taints and kubeletExtraArgs of this join do not reach it; delete "
                    "the service before the join and winjoin makes one: " SERVICE_REMOVAL("%s"),
                    row->name, found->command ? found->command : "", row->name, row->name);
    ret->restarts = true; /* The service reads the join's file when it starts. */
    return 0;
}
