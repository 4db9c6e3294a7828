/* Installs Windows features with dism.exe. */
#include "join/preflight/preflight.h"

#include "join/found/need.h"
#include "kube/object.h"

#define DISM "C:\\Windows\\System32\\dism.exe"
#define RUNTIME_CLASSES "/apis/node.k8s.io/v1/runtimeclasses"
/* containerd's handlers with this prefix start each Pod in a virtual machine of Hyper-V
 * (containerd, internal/cri/config/config_windows.go). The feature Hyper-V brings the service. */
#define HYPER_V_HANDLER "runhcs-wcow-hypervisor"
#define HYPER_V_SERVICE "vmms"
enum { INSTALL_MS = 15 * 60 * 1000, RESTART_NEEDED = 3010, WHY_MAX = 200 };

/* Installs one feature. `name` is DISM's name, `title` the usual one. */
static int install(struct join *join, const char *name, const char *title, struct error *err) {
    _cleanup_(freep) char *feature = xasprintf("/featurename:%s", name);
    const char *const argv[] = {DISM,   "/online",    "/enable-feature", feature,
                                "/all", "/norestart", "/quiet",          NULL};
    const struct host_process process = {
        .argv = argv, .timeout_ms = INSTALL_MS, .with_errors = true};
    _cleanup_(freep) char *output = NULL;
    const char *begin, *end;
    int code;

    join_tell_waiting(&join->progress, 0, INSTALL_MS, "", "installing the Windows feature %s",
                      title);
    if (host_run(join->host, &process, &code, &output, err) < 0)
        return error_prefix(err, "install the Windows feature %s", title);
    if (code == RESTART_NEEDED) {
        (void)error_set(err, ERROR_RESTART,
                        "the Windows feature %s is installed; a restart of Windows is needed first",
                        title);
        return error_hint(err, "shutdown /r /t 0, then run the same command again");
    }
    if (!code)
        return 0;
    /* dism.exe ends its output with the reason: take the last line that is not empty. */
    for (end = output + strlen(output); end > output && strchr(" \t\r\n", end[-1]);)
        end--;
    for (begin = end; begin > output && begin[-1] != '\n' && begin[-1] != '\r';)
        begin--;
    return error_set(err, ERROR_HOST,
                     "install the Windows feature %s: dism.exe failed with exit code %d: %.*s",
                     title, code, (int)(end - begin < WHY_MAX ? end - begin : WHY_MAX), begin);
}

int features_install(struct join *join, struct error *err) {
    if (!join->found.options.install_features || join->found.options.dry_run ||
        join->found.facts.containers_feature != 0)
        return 0;
    return install(join, "Containers", "Containers", err) < 0
               ? -1
               : host_facts(join->host, &join->found.facts, err);
}

/* ---- Hyper-V ---- */

int features_install_hyper_v(struct join *join, struct error *err) {
    _cleanup_(host_service_free) struct host_service service = {0};
    _cleanup_(freep) char *here = xasprintf("10.0.%u", join->found.facts.build), *title = NULL;
    _cleanup_json_ json_t *list = NULL;
    json_t *classes = NULL;
    struct error why = {0};
    const char *class = NULL;

    if (!join->found.options.install_features)
        return 0;
    /* When RuntimeClasses cannot be read, Hyper-V is not installed. */
    if (find_node_client(join, &why) == 0 &&
        kube_get(&join->found.client, RUNTIME_CLASSES, &list, &why) == 0)
        (void)kube_list_items(list, &classes, &why);
    json_each(classes, i, item) {
        const json_t *nodes = json_at(item, "scheduling.nodeSelector");
        const char *handler = json_text_at(item, "handler");
        const char *build = /* A class for another build is not for this node */
            json_string_value(json_object_get(nodes, "node.kubernetes.io/windows-build"));

        if (!class && handler && text_starts_with(handler, HYPER_V_HANDLER) &&
            (!build || text_equal(build, here)))
            class = json_text_at(item, "metadata.name");
    }
    if (why.kind == ERROR_INTERRUPTED)
        return error_pass(err, &why);
    if (why.kind && why.kind != ERROR_ABSENT)
        join_warn(&join->progress, "whether a RuntimeClass asks for Hyper-V is not known: %s",
                  why.message);
    if (!class)
        return 0;
    if (host_service_query(join->host, HYPER_V_SERVICE, &service, err) < 0)
        return -1;
    title = xasprintf("Hyper-V (RuntimeClass %.250s)", class);
    return service.state != HOST_SERVICE_ABSENT ? 0
                                                : install(join, "Microsoft-Hyper-V", title, err);
}
