/* The phases that lay programs and files and start containerd and the kubelet. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/phases/kubelet_bootstrap.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/node_files.h"
#include "join/phases/phases.h"
#include "join/phases/programs.h"
#include "join/phases/service_watch.h"
#include "netsetup/cni_config.h"
#include "services/artifacts.h"
#include "services/cri.h"
#include "services/runtime_files.h"
#include "services/service_table.h"
#include "services/version.h"

#define WINJOIN_PROGRAM "C:\\k\\winjoin.exe"
enum { PROGRAM_MAX = 64 * 1024 * 1024, START_TIMEOUT_MS = 30000, HEALTH_TIMEOUT_MS = 240000 };

/* Parents first, so that reset meets them last. */
static int own_parents(struct join *join, const char *path, struct error *err) {
    for (const char *slash = strchr(path, '\\'); slash; slash = strchr(slash + 1, '\\')) {
        _cleanup_(freep) char *parent = xstrndup(path, (size_t)(slash - path));

        if (text_ends_with(parent, ":") ||
            journal_has(&join->journal, JOURNAL_FOLDER_ENTRY, parent) ||
            host_file_type(join->host, parent) != HOST_ABSENT)
            continue;
        if (journal_record(&join->journal, JOURNAL_FOLDER_ENTRY, parent,
                           json_pack("{s:b}", "onlyIfEmpty", 1), err) < 0)
            return -1;
    }
    return 0;
}

int phase_own_folder(struct join *join, const char *path, struct error *err) {
    if (own_parents(join, path, err) < 0)
        return -1;
    return journal_folder(&join->journal, path, err);
}

static int own_folders(struct join *join, const char *const *paths, size_t count,
                       struct error *err) {
    int result = 0;

    journal_hold(&join->journal);
    for (size_t i = 0; i < count && result == 0; i++)
        result = phase_own_folder(join, paths[i], err);
    return journal_write_down(&join->journal, result < 0 ? NULL : err) < 0 ? -1 : result;
}

static int own_program_folders(struct join *join, struct error *err) {
    static const char *const folders[] = {"C:\\k", "C:\\opt\\cni\\bin",
                                          "C:\\Program Files\\containerd"};

    return own_folders(join, folders, ARRAY_SIZE(folders), err);
}

/* Called before an artefact is laid, when all are proved: what stood there goes into the journal.
 */
static int before_artifact(void *context, const struct artifact *artifact, bool replaces,
                           struct error *err) {
    struct join *join = context;

    (void)replaces; /* the journal looks for itself */
    if (own_program_folders(join, err) < 0)
        return -1;
    return journal_file(&join->journal, artifact->target, err);
}

/* The services run winjoin itself as their host, so it must lie where they look. */
static int lay_winjoin(struct join *join, struct error *err) {
    _cleanup_(freep) char *self = host_program_path(join->host);
    _cleanup_(freep) char *data = NULL;
    size_t len;

    if (!self || text_equal_nocase(self, WINJOIN_PROGRAM))
        return 0;
    if (host_read(join->host, self, PROGRAM_MAX, &data, &len, err) < 0)
        return error_prefix(err, "copy winjoin to '%s'", WINJOIN_PROGRAM);
    if (journal_write(&join->journal, WINJOIN_PROGRAM, data, len, HOST_PUBLIC, NULL, err) == 0)
        return 0;
    if (host_file_type(join->host, WINJOIN_PROGRAM) != HOST_FILE ||
        (err->kind != ERROR_DENIED && err->kind != ERROR_CONFLICT))
        return -1;
    join_warn(join, "another winjoin.exe runs as the host of this node's services and stays: %s",
              err->message);
    error_clear(err);
    return 0;
}

/* Event Viewer shows our texts, and not that their description cannot be found. */
static int own_event_source(struct join *join, struct error *err) {
    _cleanup_(freep) char *file = NULL;
    struct error absent = {0};

    if (host_registry_get(join->host, HOST_EVENT_SOURCE_KEY, "EventMessageFile", &file, &absent) <
            0 &&
        absent.kind != ERROR_ABSENT) {
        if (err)
            *err = absent;
        return -1;
    }
    if (text_equal(file, WINJOIN_PROGRAM))
        return 0;
    if (journal_record(&join->journal, JOURNAL_EVENT_SOURCE, "winjoin",
                       json_pack("{s:s*}", "file", file), err) < 0)
        return -1;
    return host_event_source_set(join->host, WINJOIN_PROGRAM, err);
}

static int check_complete(struct join *join, const struct artifacts *lock, struct error *err) {
    const struct network_plan *plan = &join->plan;
    struct text_list missing = {0};
    _cleanup_(freep) char *names = NULL;
    int result =
        artifacts_missing(join->host, lock, network_cni_type(plan), plan->plugin == NETWORK_FLANNEL,
                          !text_equal(join->options->kube_proxy, "none"), &missing, err);

    if (result == 0 && missing.count) {
        names = text_list_join(&missing, ", ");
        result = error_set(err, ERROR_USAGE, "find the programs of a node: %s missing", names);
        (void)error_hint(err, "give what has them with --bundle FILE or --mirror URL "
                              "(made by: winjoin bundle create)");
    }
    text_list_free(&missing);
    return result;
}

/* Windows replaces no program that runs. */
static int hint_at_users(struct error *err) {
    if (err->kind == ERROR_DENIED || err->kind == ERROR_CONFLICT)
        (void)error_hint(err,
                         "does it run? stop its service (sc stop kubelet, kube-proxy, flanneld, "
                         "containerd) and run the same command again");
    return -1;
}

static int lay_bundle(struct join *join, struct bundle *bundle, struct error *err) {
    const struct mirror *mirror = bundle_mirror(bundle);
    struct artifacts_result result = {0};

    if (check_complete(join, bundle_artifacts(bundle), err) < 0 ||
        programs_check_versions(join, bundle_artifacts(bundle), err) < 0 ||
        programs_check_kubelet(join, bundle, err) < 0)
        return -1;
    if (artifacts_ensure(join->host, bundle, NULL, before_artifact, join, &result, err) < 0)
        return hint_at_users(err);
    /* a lock need not know versions: the programs do, now that they are laid */
    if (!programs_versions_are_known(bundle_artifacts(bundle)) &&
        programs_check_versions(join, NULL, err) < 0)
        return -1;
    text_addf(&join->detail, "%zu of %zu verified, %zu laid (%.0f MB) from %s",
              result.present + result.installed, bundle_artifacts(bundle)->count, result.installed,
              (double)result.bytes / 1e6, mirror ? mirror->url : join->options->bundle);
    return 0;
}

/* Everything is there already. */
static int check_installed(struct join *join, struct error *err) {
    if (check_complete(join, NULL, err) < 0 || programs_check_versions(join, NULL, err) < 0)
        return -1;
    return programs_check_kubelet(join, NULL, err);
}

int phase_artifacts(struct join *join, struct error *err) {
    struct bundle *bundle = NULL;

    if (join_need_plan(join, err) < 0 || programs_bundle(join, &bundle, err) < 0 ||
        (bundle ? lay_bundle(join, bundle, err) : check_installed(join, err)) < 0)
        return -1;
    if (!bundle)
        text_add(&join->detail, "all there already");
    programs_bundle_close(join);
    if (own_program_folders(join, err) < 0 || lay_winjoin(join, err) < 0)
        return -1;
    return own_event_source(join, err);
}

static int lay_files(struct join *join, struct error *err) {
    _cleanup_(node_files_free) struct node_files files = {0};

    if (node_files_kubernetes(join, &files, err) < 0 || node_files_lay(join, &files, err) < 0)
        return -1;
    text_addf(&join->detail, "config.yaml made fit for Windows in %zu places; %s and %zu more",
              join->kubelet_changes.count, KUBELET_KUBECONFIG_FILE, files.count - 1);
    return 0;
}

int phase_files(struct join *join, struct error *err) {
    static const char *const folders[] = {KUBELET_FOLDER, KUBERNETES_FOLDER, CNI_CONF_DIR,
                                          "C:\\var\\log\\pods", "C:\\var\\log\\containers"};
    _cleanup_(freep) char *manifests = NULL;

    if (join_need_plan(join, err) < 0 || join_need_kubelet_config(join, err) < 0 ||
        own_folders(join, folders, ARRAY_SIZE(folders), err) < 0)
        return -1;
    manifests = join_manifest_folder(join);
    if (phase_own_folder(join, manifests, err) < 0 ||
        host_make_folder(join->host, manifests, HOST_PUBLIC, err) < 0 ||
        host_make_folder(join->host, CNI_CONF_DIR, HOST_PUBLIC, err) < 0)
        return -1;
    return lay_files(join, err);
}

void phase_service_settings(struct join *join, struct service_settings *ret) {
    if (!join->kubelet_arguments.count)
        programs_kubelet_arguments(join->options, &join->kubelet_arguments);
    *ret = (struct service_settings){
        .kubelet_version = programs_kubelet_version(join),
        .kube_proxy_version = join->cluster.kubernetes_version,
        .node_name = join->node_name,
        .node_ip = join_node_ip(join),
        .network_name = join->plan.name,
        .node_labels = join->options->node_labels,
        .register_with_taints = join->options->register_with_taints,
        .flannel_interface = join_node_ip(join),
        .kubelet_extra_args = join->kubelet_arguments,
    };
}

/* Flags of ours that the program does not know are left out; those that were asked for are told. */
static void take_known_flags(struct join *join, enum service_id id, const struct text_list *known,
                             struct service_settings *settings) {
    struct text_list dropped = {0};

    settings->known_flags = known;
    service_dropped_arguments(id, settings, &dropped);
    for (size_t i = 0; i < dropped.count; i++)
        join_warn(join, "%s does not know '%s': it is left out", service_name(id),
                  dropped.items[i]);
    text_list_free(&dropped);
}

/* What an earlier life of the program has left would be taken for this one's. */
static int forget_ready(struct join *join, enum service_id id, struct error *err) {
    const char *path = service_ready_file(id);
    _cleanup_(host_service_free) struct host_service found = {0};

    if (!path)
        return 0;
    if (journal_file(&join->journal, path, err) < 0 ||
        host_service_query(join->host, service_name(id), &found, err) < 0)
        return -1;
    return found.state == HOST_SERVICE_RUNNING ? 0 : host_remove(join->host, path, err);
}

static int start_service(struct join *join, enum service_id id,
                         const struct service_settings *settings, struct error *err) {
    bool changed = false;

    if (phase_own_folder(join, service_log_folder(id), err) < 0 ||
        journal_service(&join->journal, service_name(id), err) < 0 ||
        host_make_folder(join->host, service_log_folder(id), HOST_PUBLIC, err) < 0 ||
        service_ensure(join->host, id, settings, &changed, err) < 0)
        return -1;
    if (changed && host_service_stop(join->host, service_name(id), START_TIMEOUT_MS, err) < 0)
        return -1;
    if (forget_ready(join, id, err) < 0)
        return -1;
    return service_watch_start(join, id, err);
}

int phase_start_service(struct join *join, enum service_id id,
                        const struct service_settings *settings, struct error *err) {
    struct service_settings own = *settings;
    struct text_list known = {0};
    int result;

    /* flanneld prints its help to nowhere that is read, containerd's is another form */
    if (id == SERVICE_KUBELET || id == SERVICE_KUBE_PROXY) {
        programs_known_flags(join, id, &known);
        take_known_flags(join, id, &known, &own);
    }
    result = start_service(join, id, &own, err);
    text_list_free(&known);
    return result;
}

struct starting {
    struct join *join;
    const char *pipe;            /* containerd's */
    struct http_request request; /* to the kubelet */
};

static enum wait_look look_pipe(void *context, struct wait *wait, struct error *err) {
    const struct starting *s = context;

    if (host_pipe_exists(s->join->host, s->pipe))
        return LOOK_DONE;
    if (service_watch_look(s->join, NULL, err) < 0)
        return LOOK_FAILED;
    wait->limit_ms = service_watch_limit(s->join, START_TIMEOUT_MS);
    (void)error_set(err, ERROR_TIMED_OUT, "for the pipe %s", s->pipe);
    return LOOK_AGAIN;
}

static int wait_pipe(struct join *join, const char *pipe, struct error *err) {
    struct starting starting = {.join = join, .pipe = pipe};
    struct wait wait = {.limit_ms = START_TIMEOUT_MS,
                        .pause_ms = 250,
                        .look = look_pipe,
                        .tell = join_tell_missing,
                        .context = &starting,
                        .tell_context = join};
    enum wait_look end = wait_until(join->host, &wait, err);

    if (end != LOOK_AGAIN)
        return end;
    (void)error_set(err, ERROR_TIMED_OUT, "wait for '%s': containerd did not open it", pipe);
    return error_hint(err, "its log: %s", service_log_folder(SERVICE_CONTAINERD));
}

int phase_containerd(struct join *join, struct error *err) {
    _cleanup_(freep) char *pipe =
        cri_pipe_path(join->options->cri_socket ? join->options->cri_socket : KUBELET_CRI_SOCKET);
    struct service_settings settings;

    if (join_need_plan(join, err) < 0 ||
        phase_own_folder(join, "C:\\ProgramData\\containerd", err) < 0)
        return -1;
    phase_service_settings(join, &settings);
    if (phase_start_service(join, SERVICE_CONTAINERD, &settings, err) < 0 ||
        wait_pipe(join, pipe, err) < 0)
        return -1;
    text_addf(&join->detail, "running, %s", pipe);
    return 0;
}

static enum wait_look look_healthy(void *context, struct wait *wait, struct error *err) {
    const struct starting *s = context;
    struct http_response response = {0};
    struct error why = {0};
    int result = http_perform(s->join->http, &s->request, &response, &why);
    long status = response.status;

    (void)wait;
    http_response_free(&response);
    if (result == 0 && status == 200)
        return LOOK_DONE;
    if (service_watch_look(s->join, NULL, err) < 0)
        return LOOK_FAILED;
    (void)error_set(err, ERROR_TIMED_OUT, "for a healthy kubelet: %s",
                    result < 0 ? why.message : "not yet");
    return LOOK_AGAIN;
}

/* kubeadm: waitForKubelet; every 500 ms until /healthz answers 200. */
static int wait_healthy(struct join *join, struct error *err) {
    long long given = join->options->timeouts.kubelet_health_check;
    _cleanup_(freep) char *url = join_kubelet_health_url(join);
    struct starting starting = {.join = join,
                                .request = {.url = url, .timeout_ms = 2000, .proxy = ""}};
    struct wait wait = {.limit_ms = given ? (unsigned)given : HEALTH_TIMEOUT_MS,
                        .pause_ms = 500,
                        .look = look_healthy,
                        .tell = join_tell_missing,
                        .context = &starting,
                        .tell_context = join};
    enum wait_look end;

    if (!url) {
        join_warn(join, "healthzPort is 0: whether the kubelet is healthy is not asked");
        return 0;
    }
    end = wait_until(join->host, &wait, err);
    if (end != LOOK_AGAIN)
        return end;
    (void)error_set(err, ERROR_TIMED_OUT, "wait for the kubelet: not healthy after %u s",
                    wait.limit_ms / 1000);
    return error_hint(err, "its log: %s", service_log_folder(SERVICE_KUBELET));
}

int phase_kubelet(struct join *join, struct error *err) {
    struct service_settings settings;
    _cleanup_(freep) char *refused_before = NULL;
    bool bootstraps;

    if (join_need_plan(join, err) < 0)
        return -1;
    phase_service_settings(join, &settings);
    settings.bootstrap_kubeconfig = kubelet_bootstrap_is_chosen(join);
    bootstraps = kubelet_bootstrap_is_needed(join);
    if (bootstraps)
        refused_before = kubelet_bootstrap_refused_before(join);
    if (phase_start_service(join, SERVICE_KUBELET, &settings, err) < 0 ||
        (bootstraps && kubelet_bootstrap_wait(join, refused_before, err) < 0) ||
        wait_healthy(join, err) < 0) {
        kubelet_bootstrap_end(join);
        return -1;
    }
    kubelet_bootstrap_end(join);
    text_addf(&join->detail, "%s, healthy%s", settings.kubelet_version,
              bootstraps ? ", got its certificate itself" : "");
    return 0;
}
