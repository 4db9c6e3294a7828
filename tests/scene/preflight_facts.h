/* Servers of which one fact, or one value of the registry, is not as it should be. */
#pragma once

#include "tests/scene/preflight_scene.h"

FACT(arm, (void)text_format(facts.architecture, sizeof facts.architecture, "arm64"))
FACT(no_processor, facts.architecture[0] = '\0')
FACT(client, (void)text_format(facts.installation_type, sizeof facts.installation_type, "Client"))
FACT(no_type, facts.installation_type[0] = '\0')
FACT(odd_build, facts.build = 19044)
FACT(no_build, facts.build = 0)
FACT(old_2019, (facts.build = 17763, facts.revision = 100))
FACT(bad_2022, facts.revision = 2600)
FACT(patched_2019, (facts.build = 17763, facts.revision = 5329))
FACT(no_revision, facts.revision = 0)
FACT(no_containers, facts.containers_feature = 0)
FACT(no_dism, facts.containers_feature = -1)
FACT(no_restart_answer, facts.restart_pending = -1)
FACT(no_memory_answer, facts.memory_bytes = 0)
FACT(long_name, (void)text_format(facts.host_name, sizeof facts.host_name, "winserver-number-17"))
FACT(name_of_15, (void)text_format(facts.host_name, sizeof facts.host_name, "winserver-no-17"))
REGISTRY(hns_disabled, "SYSTEM\\CurrentControlSet\\Services\\hns", "Start", "4")
REGISTRY(vmcompute_disabled, "SYSTEM\\CurrentControlSet\\Services\\vmcompute", "Start", "4")
REGISTRY(ipv6_off, "SYSTEM\\CurrentControlSet\\Services\\Tcpip6\\Parameters", "DisabledComponents",
         "4294967295")
REGISTRY(ipv6_odd, "SYSTEM\\CurrentControlSet\\Services\\Tcpip6\\Parameters", "DisabledComponents",
         "many")
REGISTRY(drive_d, "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion", "SystemRoot", "D:\\Windows")
REGISTRY(no_drive, "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion", "SystemRoot", NULL)
REGISTRY(not_excluded, "SOFTWARE\\Microsoft\\Windows Defender\\Exclusions\\Paths",
         "C:\\ProgramData\\containerd", NULL)
REGISTRY(bitlocker, "SYSTEM\\CurrentControlSet\\Policies\\Microsoft\\FVE", "FDVDenyWriteAccess",
         "1")
REGISTRY(oplocks, "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Virtualization\\Containers",
         "VSmbDisableOplocks", "1")

/* ---- policies, another drive, another adapter, another node's services ---- */

REGISTRY(applocker, "SOFTWARE\\Policies\\Microsoft\\Windows\\SrpV2\\Exe", "EnforcementMode", "1")
REGISTRY(wdac, "SOFTWARE\\Policies\\Microsoft\\Windows\\DeviceGuard", "DeployConfigCIPolicy", "1")
REGISTRY(proxy_script, "SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Internet Settings",
         "AutoConfigURL", "http://p.example/a.pac")

static inline void containers_to_be(void) {
    no_containers();
    r.options.install_features = true;
}

static inline void full_disk_d(void) {
    put("C:\\etc\\containerd\\conf.d\\root.toml", "version = 3\nroot = 'D:\\images'\n");
    host_memory_set_free_space(r.host, 5000000000u);
}

static inline void kubelet_on_x(void) {
    text_list_add(&r.options.kubelet_extra_args, "root-dir=D:\\kubelet");
    text_list_add(&r.options.kubelet_extra_args, "root-dir=X:\\kubelet");
}

static inline void images_on_x(void) {
    put("C:\\etc\\containerd\\conf.d\\root.toml", "version = 3\nroot = 'X:\\images'\n");
}

static inline void not_excluded_d(void) {
    put(OWNERS, "version = 3\nroot = 'D:\\images'\n");
}

static inline void excluded_program(void) {
    not_excluded_d();
    host_memory_set_registry(r.host, "SOFTWARE\\Microsoft\\Windows Defender\\Exclusions\\Processes",
                             CONTAINERD, "0");
}

static inline void kubelet_runs(void) {
    struct host_service service = {.name = (char *)"kubelet", .command = (char *)"C:\\o.exe"};

    assert_int_equal(host_service_put(r.host, &service, NULL), 0);
    host_memory_set_service_state(r.host, "kubelet", HOST_SERVICE_RUNNING);
    port_10250();
}

static inline void adopted_kubelet_runs(void) {
    kubelet_runs();
    r.options.existing_services = xstrdup("adopt");
}

/* The API server's neighbor has no default route. */
static inline void way_out_elsewhere(void) {
    struct host_adapters adapters = {0};

    assert_int_equal(host_adapters(r.host, &adapters, NULL), 0);
    array_add(adapters.items, adapters.count, (struct host_adapter){.up = true, .index = 9});
    adapters.items[adapters.count - 1].alias = xstrdup("Cluster");
    text_list_add(&adapters.items[adapters.count - 1].addresses, "10.9.0.21/24");
    host_memory_set_adapters(r.host, &adapters);
    host_adapters_free(&adapters);
    text_set(&r.options.endpoint, xstrdup("10.9.0.5:6443"));
}
