/* Stand-in for containerd.exe: runs pods on the rig, in the upstream order of calls; its clients
 * speak a line of JSON on the CRI's pipe instead of gRPC (of which it knows what winjoin asks). */
#include "base/memory.h"
#include "base/text.h"
#include "host/host.h"
#include "tests/standins/containerd/config.h"
#include "tests/standins/containerd/cri.h"
#include "tests/standins/containerd/pods.h"
#include "tests/standins/lib/flags.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/lifetime.h"
#include "tests/standins/lib/pipe.h"

#include <windows.h>

static const char *config_path, *log_file, *address = CONTAINERD_PIPE, *service = "containerd";
static bool run_service;
static struct standin_settings settings;

static const struct flag flags[] = {
    {"config", &config_path, NULL, "path to the configuration file"},
    {"log-file", &log_file, NULL, "path to the log file"},
    {"log-level", NULL, NULL, "set the logging level"},
    {"address", &address, NULL, "address for containerd's GRPC server"},
    {"root", NULL, NULL, "containerd root directory"},
    {"state", NULL, NULL, "containerd state directory"},
    {"service-name", &service, NULL, "set the Windows service name"},
    {"run-service", NULL, &run_service, ""},
    {NULL, NULL, NULL, NULL},
};

static const struct program program = {
    "containerd", "containerd github.com/containerd/containerd/v2 v2.4.2 standin", flags};

static json_t *answer(const json_t *request) {
    const char *operation = json_text_at(request, "op");

    if (text_equal(operation, "RunPod"))
        return pods_run(request);
    if (text_equal(operation, "StopPod"))
        return pods_stop(request);
    if (text_equal(operation, "List"))
        return pods_list();
    if (text_equal(operation, "Status"))
        return pods_status();
    if (text_equal(operation, "Version"))
        return json_pack("{s:b,s:s}", "ok", 1, "version", "2.4.2");
    return json_pack("{s:b,s:s}", "ok", 0, "error", "unknown operation");
}

static void serve(void *unused) {
    struct error err = {0};

    (void)unused;
    if (pipe_serve(address, answer, cri_answer, &err))
        klog('F', "%s", err.message);
}

/* Where Windows starts services; Wine elsewhere. The CNI plugins inherit it. */
static void go_home(void) {
    char folder[MAX_PATH];

    if (run_service && GetSystemDirectoryA(folder, sizeof(folder)))
        (void)SetCurrentDirectoryA(folder); /* relative paths alone depend on it */
}

static int run(void) {
    struct host *host = host_win32_open();
    struct error err = {0};

    if (klog_open("containerd", log_file) ||
        standin_settings_read(host, config_path, &settings, &err)) {
        klog('F', "containerd: %s", err.kind ? err.message : "cannot open the log file");
        host_free(host);
        return 1;
    }
    host_free(host);
    go_home();
    pods_open(&settings);
    klog('I', "containerd successfully booted; cni %s, conf %s", settings.cni_bin_dir,
         settings.cni_conf_dir);
    lifetime_thread(serve, NULL);
    lifetime_thread(pods_watch, NULL);
    while (!lifetime_wait(1000))
        ;
    return 0; /* pods go on, as the real one's shims let them */
}

int main(int argc, char **argv) {
    int code = flags_parse(&program, argc, argv);

    return code >= 0 ? code : lifetime_run(run_service ? service : NULL, run);
}
