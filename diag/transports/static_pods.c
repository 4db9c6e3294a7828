/* Two probes on this node as static pods: manifests, mailboxes, and taking them away again.
 *
 * The kubelet runs them through the whole real path (CRI, CNI, HNS) without any right in the
 * cluster. Their image is the sandbox image, which is on the node anyway; the probe and its mailbox
 * come from the host at the same path inside and outside. */
#include "diag/transports/static_pods.h"

#include <stdio.h>

#include "base/redact.h"
#include "base/rfc3339.h"
#include "base/yaml_template.h"
#include "host/wait.h"
#include "services/service_log.h"
#include "services/service_table.h"
#include "templates/templates.h"

enum {
    HEARTBEAT_MAX = 4096,
    STOP_TIMEOUT_MS = 5000,
    STOP_TURN_MS = 20,
    END_TIMEOUT_MS = 15000,
    END_TURN_MS = 500,
    MIRROR_TIMEOUT_MS = 2000,
    LOG_TAIL_MAX = 65536,
    SANDBOX_ERROR_MAX = 400,
};
#define NAMESPACE "kube-system"
#define FOLDER "C:\\ProgramData\\winjoin\\probe"
#define BIN FOLDER "\\bin"
#define PROGRAM BIN "\\winjoin-probe.exe"

/* The last letter of a name is also its mailbox. */
static const char *const names[] = {"winjoin-probe-a", "winjoin-probe-b"};

static char *manifest_path(const struct diag_probe_options *options, const char *name) {
    const char *folder = options->manifest_folder;

    return xasprintf("%s\\%s.json", folder ? folder : "C:\\etc\\kubernetes\\manifests", name);
}

static char *mailbox_path(const char *name) {
    return xasprintf(FOLDER "\\%s", name + strlen(name) - 1);
}

static char *file_path(const char *name, const char *file) {
    _cleanup_(freep) char *mailbox = mailbox_path(name);

    return xasprintf("%s\\%s", mailbox, file);
}

/* ---- the Pod ---- */

json_t *static_pod_make(const struct diag_probe_options *options, const char *name) {
    const char *image =
        options->sandbox_image ? options->sandbox_image : "registry.k8s.io/pause:3.10.1";
    _cleanup_(freep) char *mailbox = mailbox_path(name), *port = xasprintf("%d", PROBE_PORT);

    return yaml_template(template_find("probe-pod.yaml")->data, "",
                         json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "NAME", name, "IMAGE",
                                   image, "PROGRAM", PROGRAM, "PROGRAM_FOLDER", BIN, "MAILBOX",
                                   mailbox, "PORT", port, "RUN",
                                   options->run ? options->run : "0"));
}

/* ---- start and remove ---- */

static int mailbox_write(struct host *host, const char *name, const char *file, const char *data,
                         struct error *err) {
    _cleanup_(freep) char *path = file_path(name, file);

    return host_write(host, path, data, strlen(data), HOST_PUBLIC, err);
}

static int mailbox_make(struct host *host, const char *name, struct error *err) {
    _cleanup_(freep) char *mailbox = mailbox_path(name);

    /* Old answers would be taken for new ones. */
    if (host_remove_tree(host, mailbox, err) < 0)
        return -1;
    return host_make_folder(host, mailbox, HOST_PROBE_MAILBOX, err);
}

static int manifest_write(struct host *host, const struct diag_probe_options *options,
                          const char *name, struct error *err) {
    _cleanup_(freep) char *path = manifest_path(options, name);
    _cleanup_json_ json_t *pod = static_pod_make(options, name);
    _cleanup_(freep) char *text = json_write_pretty(pod);

    return host_write(host, path, text, strlen(text), HOST_PUBLIC, err);
}

/* A program that is there already with the same bytes stays: a pod of another run may hold it. */
static int program_write(struct host *host, const void *program, size_t len, struct error *err) {
    if (host_make_folder(host, BIN, HOST_PROBE_PROGRAM, err) < 0)
        return -1;
    if (host_has(host, PROGRAM, program, len))
        return 0;
    return host_write(host, PROGRAM, program, len, HOST_PROBE_PROGRAM, err);
}

static bool beats(struct host *host, const char *name) {
    _cleanup_(freep) char *path = file_path(name, "heartbeat.txt");

    return host_file_type(host, path) == HOST_FILE;
}

/* A kubelet on Windows looks for changed manifests every 20 s only; a probe that is told to stop
 * ends its pod at once (restartPolicy OnFailure). */
static void pod_stop(struct host *host, const char *name) {
    _cleanup_(freep) char *mailbox = mailbox_path(name);

    if (host_file_type(host, mailbox) == HOST_FOLDER)
        (void)mailbox_write(host, name, "stop", "stop\n",
                            ERROR_IGNORED); /* then the kubelet ends it, later */
}

static enum wait_look pods_ended(void *host, struct wait *, struct error *) {
    return beats(host, names[0]) || beats(host, names[1]) ? LOOK_AGAIN : LOOK_DONE;
}

static enum wait_look folder_removed(void *host, struct wait *, struct error *err) {
    return host_remove_tree(host, FOLDER, err) < 0 ? LOOK_AGAIN : LOOK_DONE;
}

static int pods_remove(struct diag_probes *probes, struct error *err) {
    struct host *host = probes->host;
    /* A probe that has ended removes its heartbeat. One that is killed leaves it: so the limit. */
    struct wait end = {
        .limit_ms = STOP_TIMEOUT_MS, .pause_ms = STOP_TURN_MS, .look = pods_ended, .context = host};
    /* A pod holds its program and folder until it has ended. */
    struct wait removal = {.limit_ms = END_TIMEOUT_MS,
                           .pause_ms = END_TURN_MS,
                           .look = folder_removed,
                           .context = host};
    struct error first = {0}, later = {0};
    bool failed = false;

    if (host_file_type(host, FOLDER) == HOST_ABSENT)
        return 0; /* it is there before all else, and goes last */
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        _cleanup_(freep) char *path = manifest_path(probes->options, names[i]);

        pod_stop(host, names[i]);
        if (host_remove(host, path, failed ? &later : &first) < 0)
            failed = true;
    }
    (void)wait_until(host, &end, &later); /* when they do not end, their folder stays */
    if (wait_until(host, &removal, failed ? &later : &first) != LOOK_DONE)
        failed = true;
    if (!failed)
        return 0;
    if (err)
        *err = first;
    return error_prefix(err, "remove the probe pods");
}

static int pods_start(struct diag_probes *probes, struct error *err) {
    const struct diag_probe_options *options = probes->options;
    struct host *host = probes->host;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        diag_probe_add(probes, names[i]);
    probes->began = host_now(host);
    /* A run that was killed left its pods running: they hold their folders. */
    if ((beats(host, names[0]) || beats(host, names[1])) && pods_remove(probes, err) < 0)
        return error_prefix(err, "start the probe pods");
    if (program_write(host, options->program, options->program_len, err) < 0 ||
        mailbox_make(host, names[0], err) < 0 || mailbox_make(host, names[1], err) < 0 ||
        manifest_write(host, options, names[0], err) < 0 ||
        manifest_write(host, options, names[1], err) < 0)
        return error_prefix(err, "start the probe pods");
    return 0;
}

/* ---- what the API says of a pod ---- */

/* NULL: none. The caller frees. */
static char *reason_of(const json_t *state) {
    const char *reason = json_text_at(state, "reason"), *message = json_text_at(state, "message");
    char *words;

    if (!reason)
        return NULL;
    words = message ? xasprintf("%s: %s", reason, message) : xstrdup(reason);
    redact_tokens(words);
    return words;
}

char *static_pod_waiting(const json_t *pod) {
    const char *phase = json_text_at(pod, "status.phase");
    _cleanup_(freep) char *words = NULL;

    json_each(json_at(pod, "status.containerStatuses"), i, container) {
        words = reason_of(json_at(container, "state.waiting"));
        if (words)
            return take_ptr(words);
    }
    words = reason_of(json_at(pod, "status")); /* of one that was evicted, or not taken at all */
    return !phase || text_equal(phase, "Running") ? NULL
           : words                                ? xasprintf("%s: %s", phase, words)
                                                  : xstrdup(phase);
}

/* A value as klog quotes it, up to its closing quote, on one line. The caller frees. */
static char *unquoted(const char *value) {
    struct text text = {0};

    for (const char *c = value; *c && *c != '"' && text.len < SANDBOX_ERROR_MAX; c++) {
        if (*c == '\\' && c[1]) {
            c++;
            text_add_char(&text, strchr("nrt", *c) ? ' ' : *c);
        } else {
            text_add_char(&text, *c);
        }
    }
    return text_take(&text);
}

/* Why the kubelet could not make a pod's sandbox, and when (seconds since 1970); only its log and
 * its events say so. The last such line of this run; NULL: none. The caller frees. */
static char *sandbox_error(const struct diag_probes *probes, const char *name, int64_t *ret_time) {
    _cleanup_(freep) char *log = NULL, *found = NULL;
    int64_t us;

    if (probes->began)
        log = service_log_tail(probes->host, service_kubelet.log_file, LOG_TAIL_MAX);
    for (char *line = log, *end; line && *line; line = end) {
        const char *why;

        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        why = strstr(line, "err=\"");
        if (!why || !strstr(line, name) || !strstr(why, "sandbox") ||
            !service_log_time(line, strlen(line), host_now(probes->host), &us) ||
            us / 1000000 < probes->began)
            continue;
        text_set(&found, unquoted(why + strlen("err=\"")));
        *ret_time = us / 1000000;
    }
    if (found)
        redact_tokens(found);
    return take_ptr(found);
}

/* The kubelet makes a mirror of each static pod in the API, and reports there. NULL: none yet, or
 * not readable. */
static json_t *mirror_of(const struct diag_probes *probes, size_t i) {
    const struct diag_probe_options *options = probes->options;
    json_t *mirror = NULL;
    struct kube_client client;
    char path[512];

    if (!options->client || !options->node_name)
        return NULL;
    client =
        *options->client; /* the same texts, without its patience: pods are looked at meanwhile */
    client.patience_ms = 0;
    client.timeout_ms = MIRROR_TIMEOUT_MS;
    text_format(path, sizeof path, "/api/v1/namespaces/" NAMESPACE "/pods/%s-%s",
                probes->items[i].name, options->node_name);
    (void)kube_get(&client, path, &mirror, ERROR_IGNORED);
    return mirror;
}

static int64_t later(int64_t seconds, const char *time) {
    int64_t other;

    return time && rfc3339_parse(time, &other, NULL) == 0 && other > seconds ? other : seconds;
}

int64_t static_pod_sandbox_made(const json_t *pod) {
    static const char *const containers[] = {
        "state.running.startedAt", "state.terminated.startedAt", "lastState.terminated.startedAt"};
    int64_t made = 0;

    json_each(json_at(pod, "status.conditions"), i, condition)
        if (text_equal(json_text_at(condition, "type"), "PodReadyToStartContainers") &&
            text_equal(json_text_at(condition, "status"), "True"))
            made = later(made, json_text_at(condition, "lastTransitionTime"));
    json_each(json_at(pod, "status.containerStatuses"), i, container)
        for (size_t k = 0; k < ARRAY_SIZE(containers); k++)
            made = later(made, json_text_at(container, containers[k]));
    return made;
}

/* An error that passed: the sandbox was made since. */
static char *pod_waiting(struct diag_probes *probes, size_t i) {
    int64_t failed = 0;
    _cleanup_(freep) char *error = sandbox_error(probes, probes->items[i].name, &failed);
    _cleanup_json_ json_t *mirror = mirror_of(probes, i);

    if (error && static_pod_sandbox_made(mirror) < failed)
        return take_ptr(error);
    return mirror ? static_pod_waiting(mirror) : NULL;
}

/* ---- question and answer ---- */

static int mailbox_read(const struct diag_probes *probes, size_t i, const char *file, size_t max,
                        char **ret, size_t *ret_len, struct error *err) {
    _cleanup_(freep) char *path = file_path(probes->items[i].name, file);

    return host_read(probes->host, path, max, ret, ret_len, err);
}

static int pod_look(struct diag_probes *probes, size_t i, struct probe_heartbeat *ret,
                    struct error *err) {
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;

    if (mailbox_read(probes, i, "heartbeat.txt", HEARTBEAT_MAX, &text, &len, err) < 0)
        return -1;
    return probe_heartbeat_parse(text, len, ret, err);
}

static int pod_ask(struct diag_probes *probes, size_t i, const struct probe_list *list,
                   struct error *err) {
    const struct diag_probe *probe = &probes->items[i];
    _cleanup_(freep) char *text = probe_list_write(list);
    char go[32];

    snprintf(go, sizeof go, "go-%u", probe->asked);
    if (mailbox_write(probes->host, probe->name, "probes.txt", text, err) < 0 ||
        mailbox_write(probes->host, probe->name, go, "go\n", err) < 0)
        return error_prefix(err, "ask %s", probe->name);
    return 0;
}

/* An answer that does not parse stays so: the probe renames whole files only. */
static int pod_read(struct diag_probes *probes, size_t i, struct probe_results *ret,
                    struct error *err) {
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    char file[32];

    snprintf(file, sizeof file, "results-%u.txt", probes->items[i].asked);
    if (mailbox_read(probes, i, file, PROBE_FILE_MAX, &text, &len, ERROR_IGNORED) < 0)
        return 0;
    return probe_results_parse(text, len, ret, err) < 0 ? -1 : 1;
}

const struct diag_transport diag_static_pods = {
    .name = "static-pods",
    .namespace_ = NAMESPACE,
    .folder = FOLDER,
    .start = pods_start,
    .look = pod_look,
    .waiting = pod_waiting,
    .ask = pod_ask,
    .read = pod_read,
    .remove = pods_remove,
};
