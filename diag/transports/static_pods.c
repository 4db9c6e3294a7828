/* Lays the probe pods where the kubelet looks for static pods, and takes them away. */
#include "diag/transports/static_pods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/redact.h"

enum {
    HEARTBEAT_MAX = 4096,
    STOP_TIMEOUT_MS = 5000,
    STOP_TURN_MS = 100,
    END_TIMEOUT_MS = 15000,
    END_TURN_MS = 500
};

static const char *pod_name(char which) {
    return which == 'a' ? DIAG_POD_A : DIAG_POD_B;
}

static const char *manifest_folder(const struct diag_pod_options *options) {
    return options->manifest_folder ? options->manifest_folder : "C:\\etc\\kubernetes\\manifests";
}

static char *manifest_path(const struct diag_pod_options *options, char which) {
    return xasprintf("%s\\%s.json", manifest_folder(options), pod_name(which));
}

char *diag_pod_mailbox(char which) {
    return xasprintf("%s\\%c", DIAG_PROBE_FOLDER, which);
}

/* The same path inside and outside: nothing that looks at the pod from the host has to translate.
 */
static json_t *container_make(const struct diag_pod_options *options, char which) {
    const char *image =
        options->sandbox_image ? options->sandbox_image : "registry.k8s.io/pause:3.10.1";
    const char *run = options->run ? options->run : "0";
    _cleanup_(freep) char *mailbox = diag_pod_mailbox(which);
    _cleanup_(freep) char *port =
        xasprintf("%u", options->echo_port ? options->echo_port : (unsigned)PROBE_PORT);

    return json_pack("{s:s, s:s, s:s, s:[s,s,s,s,s,s,s,s,s,s,s,s], s:{s:{s:s,s:s}},"
                     " s:[{s:s,s:s,s:b}, {s:s,s:s}]}",
                     "name", "probe", "image", image, "imagePullPolicy", "IfNotPresent", "command",
                     DIAG_PROBE_PROGRAM, "serve", "--mailbox", mailbox, "--name", pod_name(which),
                     "--tcp", port, "--udp", port, "--run", run, "resources", "requests", "cpu",
                     "10m", "memory", "32Mi", "volumeMounts", "name", "program", "mountPath",
                     DIAG_PROBE_FOLDER "\\bin", "readOnly", 1, "name", "mailbox", "mountPath",
                     mailbox);
}

static json_t *volumes_make(char which) {
    _cleanup_(freep) char *mailbox = diag_pod_mailbox(which);

    return json_pack("[{s:s, s:{s:s,s:s}}, {s:s, s:{s:s,s:s}}]", "name", "program", "hostPath",
                     "path", DIAG_PROBE_FOLDER "\\bin", "type", "Directory", "name", "mailbox",
                     "hostPath", "path", mailbox, "type", "Directory");
}

json_t *diag_pod_make(const struct diag_pod_options *options, char which) {
    const char *namespace_ = options->namespace_ ? options->namespace_ : "kube-system";

    return json_pack("{s:s, s:s, s:{s:s,s:s,s:{s:s,s:s}},"
                     " s:{s:{s:s}, s:{s:s}, s:s, s:b, s:b, s:s, s:i, s:[{s:s}], s:{s:{s:s}},"
                     " s:[o], s:o}}",
                     "apiVersion", "v1", "kind", "Pod", "metadata", "name", pod_name(which),
                     "namespace", namespace_, "labels", "app.kubernetes.io/name", "winjoin-probe",
                     "app.kubernetes.io/managed-by", "winjoin", "spec", "os", "name", "windows",
                     "nodeSelector", "kubernetes.io/os", "windows", "restartPolicy", "OnFailure",
                     "automountServiceAccountToken", 0, "enableServiceLinks", 0, "dnsPolicy",
                     "ClusterFirst", "terminationGracePeriodSeconds", 1, "tolerations", "operator",
                     "Exists", "securityContext", "windowsOptions", "runAsUserName",
                     "ContainerUser", "containers", container_make(options, which), "volumes",
                     volumes_make(which));
}

static int mailbox_lay(struct host *host, char which, struct error *err) {
    _cleanup_(freep) char *mailbox = diag_pod_mailbox(which);

    /* Old answers would be taken for new ones. */
    if (host_remove_tree(host, mailbox, err) < 0)
        return -1;
    return host_make_folder(host, mailbox, HOST_PROBE_MAILBOX, err);
}

static int manifest_lay(struct host *host, const struct diag_pod_options *options, char which,
                        struct error *err) {
    _cleanup_(freep) char *path = manifest_path(options, which);
    _cleanup_json_ json_t *pod = diag_pod_make(options, which);
    _cleanup_(freep) char *text = json_write_pretty(pod);

    return host_write(host, path, text, strlen(text), HOST_PUBLIC, err);
}

/* A program that is there already with the same bytes stays: a pod of an earlier run may hold it.
 */
static int program_lay(struct host *host, const void *program, size_t len, struct error *err) {
    _cleanup_(freep) char *there = NULL;
    struct error ignored = {0};
    size_t there_len = 0;

    if (host_make_folder(host, DIAG_PROBE_FOLDER "\\bin", HOST_PROBE_PROGRAM, err) < 0)
        return -1;
    if (host_read(host, DIAG_PROBE_PROGRAM, len, &there, &there_len, &ignored) == 0 &&
        there_len == len && memcmp(there, program, len) == 0)
        return 0;
    return host_write(host, DIAG_PROBE_PROGRAM, program, len, HOST_PROBE_PROGRAM, err);
}

/* A kubelet on Windows looks for changed manifests every 20 s only; a probe that is told to stop
 * ends its pod at once (restartPolicy OnFailure). */
static void pod_stop(struct host *host, char which) {
    _cleanup_(freep) char *mailbox = diag_pod_mailbox(which);
    _cleanup_(freep) char *path = xasprintf("%s\\stop", mailbox);
    struct error ignored = {0}; /* then the kubelet ends it, later */

    if (host_file_type(host, mailbox) == HOST_FOLDER)
        (void)host_write(host, path, "stop\n", 5, HOST_PUBLIC, &ignored);
}

/* A probe that has ended removes its heartbeat. One that was killed leaves it: hence the limit. */
static void pods_ended(struct host *host) {
    uint64_t start = host_monotonic_ms(host);
    struct error interrupted = {0};

    for (const char *which = "ab"; *which; which++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%c\\heartbeat.txt", DIAG_PROBE_FOLDER, *which);

        while (host_file_type(host, path) == HOST_FILE &&
               host_monotonic_ms(host) - start < STOP_TIMEOUT_MS)
            if (host_sleep(host, STOP_TURN_MS, &interrupted) < 0)
                return;
    }
}

/* A pod holds its program and folder until it has ended. */
static int folder_remove(struct host *host, struct error *err) {
    uint64_t start = host_monotonic_ms(host);

    while (host_remove_tree(host, DIAG_PROBE_FOLDER, err) < 0) {
        struct error interrupted = {0};

        if (host_monotonic_ms(host) - start >= END_TIMEOUT_MS ||
            host_sleep(host, END_TURN_MS, &interrupted) < 0)
            return -1;
    }
    return 0;
}

int diag_pods_remove(struct host *host, const struct diag_pod_options *options, struct error *err) {
    struct error first = {0}, later = {0};
    bool failed = false;

    for (const char *which = "ab"; *which; which++) {
        _cleanup_(freep) char *path = manifest_path(options, *which);

        pod_stop(host, *which);
        if (host_remove(host, path, failed ? &later : &first) < 0)
            failed = true;
    }
    pods_ended(host);
    if (folder_remove(host, failed ? &later : &first) < 0)
        failed = true;
    if (!failed)
        return 0;
    if (err)
        *err = first;
    return error_prefix(err, "remove the probe pods");
}

/* A run that was killed left its pods running: they hold their folders. */
static int leftovers_remove(struct host *host, const struct diag_pod_options *options,
                            struct error *err) {
    for (const char *which = "ab"; *which; which++) {
        _cleanup_(freep) char *mailbox = diag_pod_mailbox(*which);
        _cleanup_(freep) char *path = xasprintf("%s\\heartbeat.txt", mailbox);

        if (host_file_type(host, path) == HOST_FILE)
            return diag_pods_remove(host, options, err);
    }
    return 0;
}

int diag_pods_lay(struct host *host, const struct diag_pod_options *options, const void *program,
                  size_t program_len, struct error *err) {
    if (leftovers_remove(host, options, err) < 0 ||
        program_lay(host, program, program_len, err) < 0 || mailbox_lay(host, 'a', err) < 0 ||
        mailbox_lay(host, 'b', err) < 0 || manifest_lay(host, options, 'a', err) < 0 ||
        manifest_lay(host, options, 'b', err) < 0)
        return error_prefix(err, "lay the probe pods");
    return 0;
}

char *diag_pod_waiting_text(const json_t *pod) {
    const char *phase = json_text_at(pod, "status.phase");
    json_t *container, *waiting;
    size_t i;

    json_array_foreach(json_at(pod, "status.containerStatuses"), i, container) {
        const char *reason, *message;
        char *words;

        waiting = json_at(container, "state.waiting");
        reason = json_text_at(waiting, "reason");
        message = json_text_at(waiting, "message");
        if (!reason)
            continue;
        words = message ? xasprintf("%s: %s", reason, message) : xstrdup(reason);
        redact_tokens(words);
        return words;
    }
    return phase && !text_equal(phase, "Running") ? xstrdup(phase) : NULL;
}

static int mailbox_read(struct host *host, char which, const char *name, size_t max, char **ret,
                        size_t *ret_len, struct error *err) {
    _cleanup_(freep) char *path = xasprintf("%s\\%c\\%s", DIAG_PROBE_FOLDER, which, name);

    return host_read(host, path, max, ret, ret_len, err);
}

static int mailbox_write(struct host *host, char which, const char *name, const char *data,
                         struct error *err) {
    _cleanup_(freep) char *path = xasprintf("%s\\%c\\%s", DIAG_PROBE_FOLDER, which, name);

    return host_write(host, path, data, strlen(data), HOST_PUBLIC, err);
}

int diag_pod_heartbeat(struct host *host, char which, struct probe_heartbeat *ret,
                       struct error *err) {
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;

    if (mailbox_read(host, which, "heartbeat.txt", HEARTBEAT_MAX, &text, &len, err) < 0)
        return -1;
    return probe_heartbeat_parse(text, len, ret, err);
}

int diag_pod_ask(struct host *host, char which, unsigned generation,
                 const struct probe_list *probes, struct error *err) {
    _cleanup_(freep) char *text = probe_list_write(probes);
    char go[32];

    snprintf(go, sizeof go, "go-%u", generation);
    if (mailbox_write(host, which, "probes.txt", text, err) < 0 ||
        mailbox_write(host, which, go, "go\n", err) < 0)
        return error_prefix(err, "ask %s", pod_name(which));
    return 0;
}

int diag_pod_answer(struct host *host, char which, unsigned generation, struct probe_results *ret,
                    struct error *err) {
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    char name[32];

    snprintf(name, sizeof name, "results-%u.txt", generation);
    if (mailbox_read(host, which, name, PROBE_FILE_MAX, &text, &len, err) < 0)
        return -1;
    return probe_results_parse(text, len, ret, err);
}
