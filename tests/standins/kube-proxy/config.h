/* What the kube-proxy stand-in is told: KubeProxyConfiguration or flags. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "host/host.h"

struct proxy_flags {
    const char *config, *kubeconfig, *hostname_override, *bind_address, *network_name, *source_vip;
    const char *proxy_mode, *healthz_bind_address;
    bool enable_dsr, windows_service;
};

/* Text is owned and lives as long as the program. */
struct proxy_settings {
    char *kubeconfig, *hostname, *network_name, *source_vip, *node_ip, *healthz_address;
    unsigned healthz_port;
    bool dsr;
};

/* With --config the other flags are ignored, as upstream does. No network name (file, flag,
 * KUBE_NETWORK): ERROR_USAGE. */
int proxy_configure(struct host *host, const struct proxy_flags *flags, struct proxy_settings *ret,
                    struct error *err);
