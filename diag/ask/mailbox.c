/* Runs two probes on this node as static pods: writes their manifests, talks to them through their
 * mailbox folders, and removes all of these again.
 *
 * The kubelet runs these pods on the whole real path (CRI, CNI, HNS) without any right in the
 * cluster. Their image is the sandbox image, which is on the node in any case. The probe's program
 * and its mailbox are folders of the host, mounted at the same path in the container. */
#include "diag/ask/mailbox.h"

#include <stdio.h>

#include "base/redact.h"
#include "base/rfc3339.h"
#include "base/yaml.h"
#include "host/wait.h"
#include "kube/object.h"
#include "services/service_status.h"
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
    /* The fewest hexadecimal digits in a row that count as a container's id. */
    CONTAINER_ID_MIN = 32,
    ENDS_MAX = 1000,
};
#define BIN DIAG_PROBES_FOLDER "\\bin"
#define PROGRAM BIN "\\winjoin-probe.exe"

/* The last letter of a probe's name is also the name of its mailbox folder. */
static const char *const names[] = {"winjoin-probe-a", "winjoin-probe-b"};

static char *manifest_path(const struct diag_probe_options *options, const char *name) {
    const char *folder = options->manifest_folder;

    return xasprintf("%s\\%s.json", folder ? folder : "C:\\etc\\kubernetes\\manifests", name);
}

/* Returns the path of a file in a probe's mailbox, or of the mailbox folder when `file` is NULL;
 * free() it. */
static char *mailbox_path(const char *name, const char *file) {
    return xasprintf(DIAG_PROBES_FOLDER "\\%s%s%s", name + strlen(name) - 1, file ? "\\" : "",
                     file ? file : "");
}

/* ---- the Pod of a probe ---- */

json_t *static_pod_make(const struct diag_probe_options *options, const char *name) {
    const char *image =
        options->sandbox_image ? options->sandbox_image : "registry.k8s.io/pause:3.10.1";
    _cleanup_(freep) char *mailbox = mailbox_path(name, NULL), *port = xasprintf("%d", PROBE_PORT);

    return yaml_template(template_find("probe-pod.yaml")->data, "",
                         json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "NAME", name, "IMAGE",
                                   image, "PROGRAM", PROGRAM, "PROGRAM_FOLDER", BIN, "MAILBOX",
                                   mailbox, "PORT", port, "RUN",
                                   options->run ? options->run : "0"));
}

/* ---- start and remove the probes ---- */

static int mailbox_write(struct host *host, const char *name, const char *file, const char *data,
                         struct error *err) {
    _cleanup_(freep) char *path = mailbox_path(name, file);

    return host_write(host, path, data, strlen(data), HOST_PUBLIC, err);
}

/* Writes all that the pods need: the program, an empty mailbox for each pod, and the manifests
 * last, because the kubelet starts a pod as soon as its manifest is there. */
static int files_write(struct host *host, const struct diag_probe_options *options,
                       struct error *err) {
    const void *program = options->program;
    size_t len = options->program_len;

    /* A program file with the same bytes is kept: a pod of another run may have it open. */
    if (host_make_folder(host, BIN, HOST_PROBE_PROGRAM, err) < 0 ||
        (!host_has(host, PROGRAM, program, len) &&
         host_write(host, PROGRAM, program, len, HOST_PROBE_PROGRAM, err) < 0))
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        _cleanup_(freep) char *mailbox = mailbox_path(names[i], NULL);

        /* The probe would mistake results of an earlier run for new ones. */
        if (host_remove_tree(host, mailbox, err) < 0 ||
            host_make_folder(host, mailbox, HOST_PROBE_MAILBOX, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        _cleanup_(freep) char *path = manifest_path(options, names[i]);
        _cleanup_json_ json_t *pod = static_pod_make(options, names[i]);
        _cleanup_(freep) char *text = json_write_pretty(pod);

        if (host_write(host, path, text, strlen(text), HOST_PUBLIC, err) < 0)
            return -1;
    }
    return 0;
}

static bool beats(struct host *host, const char *name) {
    _cleanup_(freep) char *path = mailbox_path(name, "heartbeat.txt");

    return host_file_type(host, path) == HOST_FILE;
}

static enum wait_poll pods_ended(void *host, struct wait *, struct error *) {
    return beats(host, names[0]) || beats(host, names[1]) ? POLL_AGAIN : POLL_DONE;
}

static enum wait_poll folder_removed(void *host, struct wait *, struct error *err) {
    return host_remove_tree(host, DIAG_PROBES_FOLDER, err) < 0 ? POLL_AGAIN : POLL_DONE;
}

int diag_probes_remove(struct diag_probes *probes, struct error *err) {
    struct host *host = probes->host;
    /* A killed probe does not remove its heartbeat file, so the wait has a limit. */
    struct wait end = {
        .limit_ms = STOP_TIMEOUT_MS, .pause_ms = STOP_TURN_MS, .poll = pods_ended, .context = host};
    /* A pod keeps its program and its folder open until it has ended, so the removal is retried. */
    struct wait removal = {.limit_ms = END_TIMEOUT_MS,
                           .pause_ms = END_TURN_MS,
                           .poll = folder_removed,
                           .context = host};
    struct error first = {0}, later = {0};
    bool failed = false;

    if (host_file_type(host, DIAG_PROBES_FOLDER) == HOST_ABSENT)
        /* diag_probes_start() makes this folder first and a removal deletes it last, so nothing is
         * left without it. */
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        _cleanup_(freep) char *path = manifest_path(probes->options, names[i]);
        _cleanup_(freep) char *mailbox = mailbox_path(names[i], NULL);

        /* A kubelet on Windows looks for changed manifests only every 20 s. A probe that is told to
         * stop ends its pod at once (restartPolicy OnFailure). */
        if (host_file_type(host, mailbox) == HOST_FOLDER)
            (void)mailbox_write(host, names[i], "stop", "stop\n",
                                /* When this fails, the kubelet ends the pod, only later. */
                                ERROR_IGNORED);
        if (host_remove(host, path, failed ? &later : &first) < 0)
            failed = true;
    }
    (void)wait_until(host, &end, &later); /* If the pods do not end, the removal below fails. */
    if (wait_until(host, &removal, failed ? &later : &first) != POLL_DONE)
        failed = true;
    if (!failed)
        return 0;
    if (err)
        *err = first;
    return error_prefix(err, "remove the probe pods");
}

int diag_probes_start(struct diag_probes *probes, struct error *err) {
    struct host *host = probes->host;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct diag_probe probe = {0};

        text_format(probe.name, sizeof probe.name, "%s", names[i]);
        array_add(probes->items, probes->count, probe);
    }
    probes->began = host_now(host);
    /* The pods of an earlier run that was killed may still run and keep their folders open. */
    if (((beats(host, names[0]) || beats(host, names[1])) && diag_probes_remove(probes, err) < 0) ||
        files_write(host, probes->options, err) < 0)
        return error_prefix(err, "start the probe pods");
    return 0;
}

/* ---- why a probe pod does not start ---- */

/* Reads a value that klog has quoted and returns it as one line of text. `value` begins after the
 * opening quote. The caller frees the text. */
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

/* Copies the text, with "ID" in place of container ids, which differ at each attempt. The caller
 * frees the copy. */
static char *without_ids(const char *words) {
    struct text text = {0};

    while (*words) {
        size_t id = strspn(words, "0123456789abcdef");

        if (id >= CONTAINER_ID_MIN)
            text_add(&text, "ID");
        else
            text_addf(&text, "%.*s", (int)(id ? id : 1), words);
        words += id ? id : 1;
    }
    return text_take(&text);
}

/* Errors from the kubelet's log in this run about a pod that does not start. Only the log and the
 * Pod's events have them. */
struct said {
    char *sandbox; /* The last error of the pod's sandbox; NULL when it had no error. Owned. */
    int64_t sandbox_time;
    /* The last error of the container's start, "RunContainerError: <message>"; NULL when it had
     * no error. Owned. */
    char *start;
    unsigned starts; /* How many attempts in a row ended with the error in `start`. */
};

static void said_free(struct said *said) {
    free(said->sandbox);
    free(said->start);
}

/* Returns when the kubelet last had a sandbox for the pod, in seconds since 1970: the newest of the
 * Pod's condition PodReadyToStartContainers and the starts of its containers. 0 when unknown. */
static int64_t sandbox_made(const json_t *pod) {
    static const char *const containers[] = {
        "state.running.startedAt", "state.terminated.startedAt", "lastState.terminated.startedAt"};
    int64_t made = 0, time;

    json_each(json_at(pod, "status.conditions"), i, condition) {
        time = rfc3339_seconds(json_text_at(condition, "lastTransitionTime"));
        if (text_equal(json_text_at(condition, "type"), "PodReadyToStartContainers") &&
            text_equal(json_text_at(condition, "status"), "True"))
            made = time > made ? time : made;
    }
    json_each(json_at(pod, "status.containerStatuses"), i, container)
        for (size_t k = 0; k < ARRAY_SIZE(containers); k++) {
            time = rfc3339_seconds(json_text_at(container, containers[k]));
            made = time > made ? time : made;
        }
    return made;
}

char *static_pod_last_end(const json_t *pod, unsigned *ret_ends) {
    const json_t *container = json_at(pod, "status.containerStatuses.0");
    bool runs = json_at(container, "state.running") != NULL;
    const json_t *now = json_at(container, "state.terminated"),
                 *end = now ? now : json_at(container, "lastState.terminated");
    long long restarts = json_number_at(container, "restartCount", 0),
              code = json_number_at(end, "exitCode", 0);
    const char *message = json_text_at(end, "message");
    _cleanup_(freep) char *number = NULL, *why = NULL;

    if (!end || !code)
        return NULL;
    restarts = restarts < 0 ? 0 : restarts > ENDS_MAX ? ENDS_MAX : restarts;
    *ret_ends = (unsigned)restarts + !runs;
    number = code < 0 || code > UINT8_MAX ? xasprintf("0x%08X", (unsigned)code)
                                          : xasprintf("%lld", code);
    if (!message || !*message)
        return xasprintf("its program ends with exit code %s", number);
    why = without_ids(message);
    redact_tokens(why);
    return xasprintf("its program ends with exit code %s: %s", number, why);
}

/* Says why a pod that has a sandbox does not answer: its program does not run, or has written
 * nothing yet. Returns NULL when nothing is known. The caller frees the text. */
static char *program_waiting(struct diag_probe *probe, const json_t *mirror, struct said *said) {
    const char *since = json_text_at(mirror, "status.containerStatuses.0.state.running.startedAt");
    unsigned ends = 0;
    _cleanup_(freep) char *end = static_pod_last_end(mirror, &ends), *waiting = NULL;

    if (end && ends >= said->starts) {
        /* Ends for an earlier reason do not count for the new reason. */
        if (strncmp(probe->failure, end, sizeof probe->failure - 1) != 0)
            probe->failures_before = *probe->failure ? probe->failures_all : 0;
        text_format(probe->failure, sizeof probe->failure, "%s", end);
        probe->failures_all = ends;
        probe->failures = ends > probe->failures_before ? ends - probe->failures_before : 0;
    } else if (said->start && !since) {
        text_set(&end, take_ptr(said->start));
        text_format(probe->failure, sizeof probe->failure, "%s", end);
        probe->failures = said->starts;
    } else {
        text_set(&end, NULL);
    }
    if (end)
        return probe->failures > 1
                   ? xasprintf("%s (%u times one after the other)", end, probe->failures)
                   : take_ptr(end);
    waiting = kube_pod_waiting(mirror);
    return waiting || !since ? take_ptr(waiting)
                             : xasprintf("its container has run since %s, but its program has "
                                         "said nothing yet",
                                         since);
}

/* Reads the kubelet's log for errors of the pod. Changes `log`: it is cut into lines. */
static void log_read(char *log, const struct diag_probes *probes, const char *name,
                     struct said *said) {
    for (char *line = log, *end; line && *line; line = end) {
        const char *why, *with, *quote;
        _cleanup_(freep) char *words = NULL, *message = NULL, *whole = NULL, *start = NULL;
        int64_t us;

        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        why = strstr(line, "err=\"");
        if (!why || !strstr(line, name) ||
            !service_log_time(line, strlen(line), host_now(probes->host), &us) ||
            us / 1000000 < probes->began)
            continue;
        words = unquoted(why + strlen("err=\""));
        redact_tokens(words);
        if (!strstr(words, "\"StartContainer\"")) {
            if (strstr(why, "sandbox")) {
                text_set(&said->sandbox, take_ptr(words));
                said->sandbox_time = us / 1000000;
            }
            continue;
        }
        /* The log says: failed to "StartContainer" for "probe" with RunContainerError: "<message>".
         * An error with BackOff in it is no new attempt. */
        with = strstr(words, " with ");
        quote = with ? strchr(with, '"') : NULL;
        if (!quote || strstr(with, "BackOff"))
            continue;
        with += strlen(" with ");
        message = unquoted(quote + 1);
        whole = xasprintf("%.*s%s", (int)(quote - with), with, message);
        start = without_ids(whole);
        said->starts = text_equal(start, said->start) ? said->starts + 1 : 1;
        text_set(&said->start, take_ptr(start));
    }
}

/* A sandbox error of the log counts only while no sandbox was made after it. */
char *diag_probe_waiting(struct diag_probes *probes, size_t i) {
    const struct diag_probe_options *options = probes->options;
    struct diag_probe *probe = &probes->items[i];
    _cleanup_(said_free) struct said said = {0};
    _cleanup_json_ json_t *mirror = NULL;
    _cleanup_(freep) char *log = NULL;
    bool absent = false;

    /* The kubelet makes a mirror of each static pod in the API, and reports the pod's state there.
     * The mirror may still be missing, or winjoin may have no right to read it. */
    if (options->client && options->node_name) {
        /* A copy of the client, borrowing the same texts. */
        struct kube_client client = *options->client;
        struct error err = {0};
        char path[512];

        /* The copy does not retry for long: the probes must be read between two calls. */
        client.patience_ms = 0;
        client.timeout_ms = MIRROR_TIMEOUT_MS;
        text_format(path, sizeof path, "/api/v1/namespaces/" DIAG_PROBES_NAMESPACE "/pods/%s-%s",
                    probe->name, options->node_name);
        absent = kube_get(&client, path, &mirror, &err) < 0 && err.kind == ERROR_ABSENT;
    }
    probe->failures = 0;
    if (probes->began)
        log = service_log_tail(probes->host, service_kubelet.log_file, LOG_TAIL_MAX);
    log_read(log, probes, probe->name, &said);
    if (said.sandbox && sandbox_made(mirror) < said.sandbox_time)
        return take_ptr(said.sandbox);
    if (absent && !said.start)
        return xstrdup("the kubelet has not taken it up yet");
    return program_waiting(probe, mirror, &said);
}

/* ---- question and answer ---- */

int diag_probe_heartbeat(const struct diag_probes *probes, size_t i, struct probe_heartbeat *ret,
                         struct error *err) {
    _cleanup_(freep) char *path = mailbox_path(probes->items[i].name, "heartbeat.txt"),
                          *text = NULL;
    size_t len = 0;

    if (host_read_of_others(probes->host, path, HEARTBEAT_MAX, &text, &len, err) < 0)
        return -1;
    return probe_heartbeat_parse(text, len, ret, err);
}

int diag_probe_ask(const struct diag_probes *probes, size_t i, const struct probe_list *list,
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

/* An answer that does not parse now never will: the probe gives a file its final name only when the
 * file is complete. */
int diag_probe_read(const struct diag_probes *probes, size_t i, struct probe_results *ret,
                    struct error *err) {
    _cleanup_(freep) char *file = xasprintf("results-%u.txt", probes->items[i].asked),
                          *path = mailbox_path(probes->items[i].name, file), *text = NULL;
    size_t len = 0;

    if (host_read_of_others(probes->host, path, PROBE_FILE_MAX, &text, &len, ERROR_IGNORED) < 0)
        return 0;
    return probe_results_parse(text, len, ret, err) < 0 ? -1 : 1;
}
