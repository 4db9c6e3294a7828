/* The node's programs as a join sees them: versions and arguments. */
#include "join/phases/programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "join/phases/kubelet_question.h"
#include "join/phases/phases.h"
#include "join/preflight/preflight.h"
#include "join/phases/version_skew.h"
#include "services/program_flags.h"

#define ASIDE_FOLDER WINJOIN_FOLDER "\\tmp"
enum { VERSION_MS = 20000, MIRROR_MS = 60000 };

/* ---- where they come from ---- */

static void tell_fetching(void *context, unsigned waited_ms, const char *message) {
    join_tell_waiting(context, waited_ms, 0, "", "%s", message);
}

static int open_mirror(struct join *join, struct error *err) {
    const struct join_options *o = join->options;
    struct mirror mirror = {.host = join->host,
                            .http = join->http,
                            .url = o->mirror,
                            .limit_ms = MIRROR_MS,
                            .tell = tell_fetching,
                            .context = join};

    if (o->timeout && o->timeout < MIRROR_MS)
        mirror.limit_ms = (unsigned)o->timeout;
    if (join_mirror_check(o->mirror, err) < 0 ||
        bundle_open_mirror(&mirror, o->lock, &join->bundle, err) < 0)
        return -1;
    return 0;
}

int programs_bundle(struct join *join, struct bundle **ret, struct error *err) {
    const struct join_options *o = join->options;
    int result = 0;

    if (!join->bundle && o->bundle)
        result = bundle_open(join->host, o->bundle, o->lock, &join->bundle, err);
    else if (!join->bundle && o->mirror)
        result = open_mirror(join, err);
    if (result == 0)
        *ret = join->bundle;
    return result;
}

void programs_bundle_close(struct join *join) {
    bundle_free(join->bundle);
    join->bundle = NULL;
}

/* ---- versions ---- */

char *programs_version(struct join *join, enum service_id id) {
    const char *const argv[] = {service_program(id), "--version", NULL};
    struct host_process process = {.argv = argv, .timeout_ms = VERSION_MS};
    _cleanup_(freep) char *output = NULL;
    struct error ignored = {0};
    const char *v;
    int code;

    if (host_file_type(join->host, service_program(id)) == HOST_ABSENT ||
        host_run(join->host, &process, &code, &output, &ignored) < 0 || code != 0)
        return NULL;
    v = strstr(output, " v");
    return v ? xstrndup(v + 1, strcspn(v + 1, " \r\n")) : NULL;
}

/* The lock's word first: its file will stand there. */
static char *coming_version(struct join *join, const struct artifacts *lock, const char *name,
                            enum service_id id) {
    for (size_t i = 0; lock && i < lock->count; i++)
        if (text_equal(lock->items[i].name, name))
            return text_equal(lock->items[i].version, "unknown") ? NULL
                                                                 : xstrdup(lock->items[i].version);
    return programs_version(join, id);
}

const char *programs_kubelet_version(struct join *join) {
    if (!join->kubelet_version)
        join->kubelet_version = programs_version(join, SERVICE_KUBELET);
    return join->kubelet_version ? join->kubelet_version : join->cluster.kubernetes_version;
}

static const char *without_v(const char *version) {
    return version + (*version == 'v');
}

static int check_wanted(const struct join *join, const char *name, const char *version,
                        struct error *err) {
    const char *wanted = join->options->kubernetes_version;

    if (!wanted || !version || text_equal(without_v(wanted), without_v(version)))
        return 0;
    return error_set(err, ERROR_USAGE, "use --kubernetes-version %s: the %s that is to run is %s",
                     wanted, name, version);
}

static int check_skew(struct join *join, const char *version, struct error *err) {
    struct version_skew skew = {.kubelet = version,
                                .cluster = join->cluster.kubernetes_version,
                                .server = join->cluster.server_version};

    if (!version || version_skew_check(&skew, err) == 0)
        return 0;
    if (!preflight_is_ignored(&join->options->ignore_preflight_errors, "KubeletVersion"))
        return -1;
    join_warn(join, "%s", err->message);
    error_clear(err);
    return 0;
}

bool programs_versions_are_known(const struct artifacts *lock) {
    for (size_t i = 0; i < lock->count; i++) {
        const struct artifact *a = &lock->items[i];

        if ((text_equal(a->name, "kubelet") || text_equal(a->name, "kube-proxy")) &&
            text_equal(a->version, "unknown"))
            return false;
    }
    return true;
}

/* Made for nothing but to hear whether it can be made. */
static int check_command_line(struct join *join, struct error *err) {
    struct service_settings settings;
    struct text_list arguments = {0};
    int result;

    phase_service_settings(join, &settings);
    result = service_arguments(SERVICE_KUBELET, &settings, &arguments, err);
    text_list_free(&arguments);
    return result;
}

int programs_check_versions(struct join *join, const struct artifacts *lock, struct error *err) {
    _cleanup_(freep) char *kubelet = coming_version(join, lock, "kubelet", SERVICE_KUBELET);
    _cleanup_(freep) char *kube_proxy =
        text_equal(join->options->kube_proxy, "none")
            ? NULL
            : coming_version(join, lock, "kube-proxy", SERVICE_KUBE_PROXY);

    if (check_wanted(join, "kubelet", kubelet, err) < 0 ||
        check_wanted(join, "kube-proxy", kube_proxy, err) < 0 || check_skew(join, kubelet, err) < 0)
        return -1;
    freep(&join->kubelet_version);
    join->kubelet_version = take_ptr(kubelet);
    return check_command_line(join, err);
}

/* ---- arguments ---- */

void programs_kubelet_arguments(const struct join_options *options, struct text_list *ret) {
    for (size_t i = 0; i < options->kubelet_extra_args.count; i++)
        text_list_add_owned(ret, xasprintf("--%s", options->kubelet_extra_args.items[i]));
    for (size_t i = 0; i < options->kubelet_service_args.count; i++)
        text_list_add(ret, options->kubelet_service_args.items[i]);
}

void programs_known_flags(struct join *join, enum service_id id, struct text_list *ret) {
    struct error why = {0};

    if (program_flags_read(join->host, service_program(id), ret, &why) < 0)
        log_message(LOG_INFO, "%s", why.message);
}

static int refuse_argument(const char *program, const char *argument, const struct text_list *known,
                           struct error *err) {
    _cleanup_(freep) char *name = program_flag_name(argument);
    const char *near = nearest_name(name, (const char *const *)known->items, known->count);

    if (text_list_has(known, name))
        return error_set(err, ERROR_USAGE, "kubelet argument '%s': '%s' does not take that value",
                         argument, program);
    (void)error_set(err, ERROR_USAGE, "kubelet argument '%s': '%s' knows no such flag", argument,
                    program);
    return near ? error_hint(err, "did you mean --%s?", near) : -1;
}

/* All at once first: that is the rule, and one start of the program. */
static int ask_program(struct join *join, const char *program, const struct text_list *arguments,
                       struct error *err) {
    struct text_list known = {0};
    struct error why = {0};
    bool takes = true;
    int result = 0;

    if (program_takes(join->host, program, arguments, &takes, &why) < 0 || takes)
        return 0;
    if (program_flags_read(join->host, program, &known, &why) == 0 && known.count) {
        for (size_t i = 0; i < arguments->count && result == 0; i++) {
            struct text_list one = {.items = &arguments->items[i], .count = 1};

            if (program_takes(join->host, program, &one, &takes, &why) == 0 && !takes)
                result = refuse_argument(program, arguments->items[i], &known, err);
        }
    }
    text_list_free(&known);
    return result;
}

/* A program that is put aside for it is removed again, and what is written for it. */
static int ask_aside(struct join *join, struct bundle *bundle, const struct artifact *artifact,
                     const struct text_list *arguments, struct error *err) {
    bool was_there = host_file_type(join->host, WINJOIN_FOLDER) != HOST_ABSENT, is_laid = false;
    const char *program = service_program(SERVICE_KUBELET);
    _cleanup_(freep) char *data = NULL;
    size_t len;
    int result = 0;

    if (artifact && artifact_is_laid(join->host, artifact, &is_laid, err) < 0)
        return -1;
    if (artifact && !is_laid) {
        program = ASIDE_FOLDER "\\kubelet.exe";
        if (bundle_read(bundle, artifact, &data, &len, err) < 0)
            return -1;
        result = host_write(join->host, program, data, len, HOST_SECRET, err);
    }
    if (result == 0 && arguments->count)
        result = ask_program(join, program, arguments, err);
    if (result == 0 && join->has_cluster) /* else a phase alone, which lays no configuration */
        result = kubelet_question_ask(join, program, ASIDE_FOLDER, err);
    /* what a virus scanner holds on to is removed by the next run's; no reason to fail */
    (void)host_remove_tree(join->host, ASIDE_FOLDER, NULL);
    if (!was_there)
        (void)host_remove(join->host, WINJOIN_FOLDER, NULL);
    return result;
}

static const struct artifact *coming_kubelet(struct bundle *bundle) {
    const struct artifacts *lock = bundle ? bundle_artifacts(bundle) : NULL;

    for (size_t i = 0; lock && i < lock->count; i++)
        if (text_equal(lock->items[i].name, "kubelet"))
            return &lock->items[i];
    return NULL;
}

int programs_check_kubelet(struct join *join, struct bundle *bundle, struct error *err) {
    const struct artifact *kubelet = coming_kubelet(bundle);
    _cleanup_(text_list_free) struct text_list arguments = {0};

    if (!kubelet && host_file_type(join->host, service_program(SERVICE_KUBELET)) == HOST_ABSENT)
        return 0;
    if (join->has_cluster && join_need_kubelet_config(join, err) < 0)
        return -1;
    programs_kubelet_arguments(join->options, &arguments);
    return ask_aside(join, bundle, kubelet, &arguments, err);
}
