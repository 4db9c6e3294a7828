/* The table of services, and how a row becomes what the SCM is told. */
#include "services/service_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "services/runtime_files.h"
#include "services/service_host.h"

#define WINJOIN_PROGRAM "C:\\k\\winjoin.exe"
#define OUR_MARK "winjoin:"

enum { MAX_LOG_BYTES = 10 * 1024 * 1024, MAX_LOG_FILES = 5 };

struct service_row {
    const char *name, *display_name, *description, *program, *log_folder, *ready_file;
    const char *depends_on[3];
    unsigned restart_delays_ms[3], reset_seconds;
    unsigned preshutdown_ms;
    unsigned stop_timeout_ms; /* of a hosted program, until its job is ended */
    bool hosted;              /* by winjoin's service host */
    bool after_network;       /* starts after winjoin-network where that is registered */
};

static const struct service_row rows[SERVICE_COUNT] = {
    [SERVICE_NETWORK] = {.name = "winjoin-network",
                         .display_name = "winjoin network",
                         .description = "winjoin: brings back the pod network that Windows forgets "
                                        "at boot",
                         .program = WINJOIN_PROGRAM,
                         .log_folder = "C:\\var\\log\\winjoin-network",
                         .depends_on = {"hns"},
                         .restart_delays_ms = {5000, 15000, 60000},
                         .reset_seconds = 600},
    [SERVICE_CONTAINERD] = {.name = "containerd",
                            .display_name = "containerd",
                            .description = "winjoin: runs the node's containers",
                            .program = "C:\\Program Files\\containerd\\containerd.exe",
                            .log_folder = "C:\\var\\log\\containerd",
                            .depends_on = {"hns"},
                            .after_network = true,
                            .restart_delays_ms = {15000, 15000, 60000},
                            .reset_seconds = 86400},
    [SERVICE_KUBELET] = {.name = "kubelet",
                         .display_name = "Kubernetes kubelet",
                         .description = "winjoin: the Kubernetes node agent",
                         .program = "C:\\k\\kubelet.exe",
                         .log_folder = "C:\\var\\log\\kubelet",
                         .hosted = true,
                         .depends_on = {"containerd"},
                         .restart_delays_ms = {5000, 10000, 30000},
                         .reset_seconds = 600,
                         .preshutdown_ms = 60000,
                         .stop_timeout_ms = 30000},
    [SERVICE_FLANNELD] = {.name = "flanneld",
                          .display_name = "flannel",
                          .description = "winjoin: keeps the routes to other nodes' pods",
                          .program = "C:\\k\\flanneld.exe",
                          .log_folder = "C:\\var\\log\\flanneld",
                          .ready_file = FLANNEL_SUBNET_PATH,
                          .hosted = true,
                          .depends_on = {"hns"},
                          .after_network = true,
                          .restart_delays_ms = {5000, 10000, 30000},
                          .reset_seconds = 600,
                          .stop_timeout_ms = 10000},
    [SERVICE_KUBE_PROXY] = {.name = "kube-proxy",
                            .display_name = "Kubernetes kube-proxy",
                            .description = "winjoin: programs Kubernetes Services into HNS",
                            .program = "C:\\k\\kube-proxy.exe",
                            .log_folder = "C:\\var\\log\\kube-proxy",
                            .hosted = true,
                            .depends_on = {"hns"},
                            .after_network = true,
                            /* it ends when HNS does not answer yet */
                            .restart_delays_ms = {5000, 10000, 30000},
                            .reset_seconds = 600,
                            .stop_timeout_ms = 10000},
};

const char *service_name(enum service_id id) {
    return rows[id].name;
}

enum service_id service_by_name(const char *name) {
    int id = 0;
    while (id < SERVICE_COUNT && !text_equal_nocase(rows[id].name, name))
        id++;
    return (enum service_id)id;
}

const char *service_program(enum service_id id) {
    return rows[id].program;
}

const char *service_log_folder(enum service_id id) {
    return rows[id].log_folder;
}

const char *service_ready_file(enum service_id id) {
    return rows[id].ready_file;
}

unsigned service_restart_delay_ms(enum service_id id, unsigned end) {
    size_t last = ARRAY_SIZE(rows[id].restart_delays_ms) - 1;

    return rows[id].restart_delays_ms[end && end - 1 < last ? end - 1 : last];
}

bool service_is_ours(const struct host_service *service) {
    return service->description && text_starts_with(service->description, OUR_MARK);
}

static void add_environment(enum service_id id, const struct service_settings *settings,
                            struct text_list *ret) {
    _cleanup_(freep) char *node = text_lower(settings->node_name ? settings->node_name : "");
    if (id == SERVICE_KUBE_PROXY && settings->network_name)
        text_list_add_owned(ret, xasprintf("KUBE_NETWORK=%s", settings->network_name));
    if (id == SERVICE_FLANNELD)
        text_list_add_owned(ret, xasprintf("NODE_NAME=%s", node));
}

static char *host_command(enum service_id id) {
    struct text_list arguments = {0};
    text_list_add(&arguments, WINJOIN_PROGRAM);
    text_list_add(&arguments, "service");
    text_list_add(&arguments, "run");
    text_list_add(&arguments, rows[id].name);
    char *line = service_command_line(&arguments);
    text_list_free(&arguments);
    return line;
}

int service_make(enum service_id id, const struct service_settings *settings,
                 struct host_service *ret, struct error *err) {
    const struct service_row *row = &rows[id];
    _cleanup_(text_list_free) struct text_list arguments = {0};
    struct host_service service = {.auto_start = true,
                                   .reset_seconds = row->reset_seconds,
                                   .preshutdown_ms = row->preshutdown_ms};
    if (service_arguments(id, settings, &arguments, err) < 0)
        return -1;
    service.name = xstrdup(row->name);
    service.display_name = xstrdup(row->display_name);
    service.description = xstrdup(row->description);
    service.command = row->hosted ? host_command(id) : service_command_line(&arguments);
    for (size_t i = 0; i < ARRAY_SIZE(row->depends_on) && row->depends_on[i]; i++)
        text_list_add(&service.depends_on, row->depends_on[i]);
    if (row->after_network && settings->network_service)
        text_list_add(&service.depends_on, rows[SERVICE_NETWORK].name);
    if (!row->hosted)
        add_environment(id, settings, &service.environment);
    for (size_t i = 0; i < ARRAY_SIZE(row->restart_delays_ms); i++)
        service.restart_delays_ms[i] = row->restart_delays_ms[i];
    *ret = service;
    return 0;
}

bool service_hosted(enum service_id id) {
    return rows[id].hosted;
}

int service_host_file_make(enum service_id id, const struct service_settings *settings, char **ret,
                           struct error *err) {
    const struct service_row *row = &rows[id];
    struct service_host_settings file = {.max_log_bytes = MAX_LOG_BYTES,
                                         .max_log_files = MAX_LOG_FILES,
                                         .stop_timeout_ms = row->stop_timeout_ms};
    if (service_arguments(id, settings, &file.command, err) < 0)
        return -1;
    add_environment(id, settings, &file.environment);
    file.working_folder = xstrdup("C:\\k");
    file.log_file = xasprintf("%s\\%s.log", row->log_folder, row->name);
    *ret = service_host_settings_make(&file);
    service_host_settings_free(&file);
    return 0;
}

json_t *service_json(const struct host_service *service) {
    json_t *delays = json_array();
    for (size_t i = 0; i < ARRAY_SIZE(service->restart_delays_ms); i++) {
        if (service->restart_delays_ms[i])
            json_array_append_new(delays, json_integer(service->restart_delays_ms[i] / 1000));
    }
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:{s:o,s:I},s:s}", "name", service->name,
                     "displayName", service->display_name, "command", service->command, "account",
                     "LocalSystem", "start", service->auto_start ? "auto" : "demand", "dependsOn",
                     json_texts(&service->depends_on), "environment",
                     json_texts(&service->environment), "recovery", "restartDelaysSeconds", delays,
                     "resetSeconds", (json_int_t)service->reset_seconds, "description",
                     service->description);
}
