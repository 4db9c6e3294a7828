/* Ends the node's pods by the container runtime, in the kubelet's place. */
#include "join/undo/reset.h"

#include "host/wait.h"
#include "join/kubelet/kubelet_files.h"
#include "services/cri.h"
#include "services/service_table.h"

/* A runtime that is still busy with what the kubelet asked for says no for a moment; kubeadm tries
 * five times. */
enum { BUSY_MS = 5000, TRY_AGAIN_MS = 500, CONFIG_MAX = 1024 * 1024 };

/* Where the node's runtime listens: what the kubelet was told, by an administrator, of this
 * machine. Else winjoin's own default applies. */
static char *runtime_pipe(struct host *host) {
    _cleanup_(freep) char *text = NULL;
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    const char *socket = NULL;
    size_t len;

    if (host_refuse_stranger(host, KUBELET_CONFIG_FILE, ERROR_IGNORED) == 0 &&
        host_read(host, KUBELET_CONFIG_FILE, CONFIG_MAX, &text, &len, ERROR_IGNORED) == 0 &&
        yaml_parse(text, len, KUBELET_CONFIG_FILE, &documents, ERROR_IGNORED) == 0 &&
        yaml_documents_count(documents))
        socket = yaml_text_at(yaml_document(documents, 0), "containerRuntimeEndpoint");
    return cri_pipe_path(socket && cri_socket_is_local(socket) ? socket : KUBELET_CRI_SOCKET);
}

struct removal {
    struct host *host;
    const char *pipe;
    const struct cri_pod *pod;
};

static enum wait_look look_removal(void *context, struct wait *, struct error *err) {
    const struct removal *r = context;

    if (cri_pod_remove(r->host, r->pipe, r->pod, err) == 0)
        return LOOK_DONE;
    return err->kind == ERROR_TIMED_OUT || err->kind == ERROR_INTERRUPTED ? LOOK_FAILED
                                                                          : LOOK_AGAIN;
}

static int remove_pod(struct host *host, const char *pipe, const struct cri_pod *pod,
                      struct error *err) {
    struct removal removal = {host, pipe, pod};
    struct wait wait = {
        .limit_ms = BUSY_MS, .pause_ms = TRY_AGAIN_MS, .look = look_removal, .context = &removal};

    return wait_until(host, &wait, err) == LOOK_DONE ? 0 : -1;
}

static void tell(const struct reset_options *options, const char *what, const char *how,
                 const struct error *why) {
    if (options->progress)
        options->progress(options->progress_context, what, how, why);
}

static void count_failure(struct reset_result *ret, const struct error *why, struct error *err) {
    if (ret->failed++ == 0)
        *err = *why;
}

void reset_pods(const struct journal *journal, const struct reset_options *options,
                struct reset_result *ret, struct error *err) {
    struct host *host = journal->host;
    _cleanup_(freep) char *pipe = NULL;
    _cleanup_(cri_pods_free) struct cri_pods pods = {0};
    struct error why = {0};

    if (!journal_has(journal, JOURNAL_SERVICE, service_kubelet.name))
        return;
    pipe = runtime_pipe(host);
    if (cri_pods(host, pipe, CRI_LIST_MS, &pods, &why) < 0) {
        if (why.kind == ERROR_ABSENT) /* no runtime runs: nobody to ask */
            return;
        tell(options, "pods", "", &why);
        count_failure(ret, &why, err);
    }
    for (size_t i = 0; i < pods.count; i++) {
        _cleanup_(freep) char *what = xasprintf("pod %s", pods.items[i].name);
        struct error stays = {0};

        if (options->dry_run) {
            tell(options, what, "would be stopped", NULL);
        } else if (remove_pod(host, pipe, &pods.items[i], &stays) == 0) {
            tell(options, what, "ended", NULL);
        } else {
            tell(options, what, "", &stays);
            count_failure(ret, &stays, err);
        }
    }
}
