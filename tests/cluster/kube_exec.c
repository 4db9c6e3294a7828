/* kube-exec KUBECONFIG NAMESPACE POD WORD...: kube/exec.h against a real API server. The exit code
 * is the program's, 255 with an error where there is none. */
#include <stdio.h>

#include "base/memory.h"
#include "host/terminal.h"
#include "kube/exec.h"
#include "kube/kubeconfig.h"

enum { FAILED = 255 };

static int run(struct host *host, struct http *http, char **argv, struct error *err) {
    const struct kube_exec exec = {
        .namespace_ = argv[2], .pod = argv[3], .argv = (const char *const *)argv + 4};
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    struct kube_client client = {0};
    struct kube_exec_result result = {0};
    _cleanup_(freep) char *path = terminal_full_path(argv[1]);
    int code = FAILED;

    if (kubeconfig_read_file(host, path, NULL, &config, err) < 0 ||
        kube_client_open(http, host, &config, &client, err) < 0)
        return FAILED;
    kube_exec(&client, &exec, &result, err, 1);
    if (!err->kind) {
        (void)fwrite(text_str(&result.out), 1, result.out.len, stdout);
        (void)fwrite(text_str(&result.err), 1, result.err.len, stderr);
        code = result.exit_code;
    }
    kube_exec_result_free(&result);
    kube_client_close(&client);
    return code;
}

int main(int argc, char **argv) {
    struct http *http = http_curl_new("winjoin-test", NULL, NULL);
    struct error err = {0};
    struct host *host;
    int code = FAILED;

    if (argc > 4 && host_open(NULL, &host, &err) == 0) {
        code = run(host, http, argv, &err);
        host_free(host);
    }
    if (err.kind)
        (void)fprintf(stderr, "error: %s\n", err.message);
    http_free(http);
    return code;
}
