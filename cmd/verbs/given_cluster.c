/* Opens the cluster of --kubeconfig and --context, for all commands. */
#include "cmd/program.h"

#include "kube/kubeconfig.h"

int given_cluster_open(struct program *program, const char *unnamed, struct kube_client *ret,
                       struct error *err) {
    const char *given = program->options.kubeconfig;
    _cleanup_(freep) char *path = terminal_full_path(given ? given : unnamed);
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};

    if (kubeconfig_read_file(program->host, path, program->options.context, &config, err) < 0) {
        /* The command line named the file, so the machine is not at fault. */
        err->kind = ERROR_USAGE;
        return given ? error_prefix(err, "--kubeconfig") : error_hint(err, "use --kubeconfig FILE");
    }
    if (config.impersonation)
        return error_set(err, ERROR_UNSUPPORTED, "kubeconfig: impersonation (%s) is not supported",
                         config.impersonation);
    if (config.exec && !config.token && !config.client_cert_pem &&
        kubeconfig_run_plugin(program->host, path, &config, err) < 0)
        return -1;
    return kube_client_open(program->http, program->host, &config, ret, err);
}
