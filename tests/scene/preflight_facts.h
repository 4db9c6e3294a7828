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

/* SHA-256 of "{}". */
#define EMPTY_SHA256 "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

/* A registry with an image of 2019 alone, one of 2022 under another tag, and one of 20 GB. */
static int answer_index(void *context, const struct http_request *request,
                        struct http_response *ret, struct error *err) {
    static const char manifest[] = "{\"layers\":[{\"size\":1000},{\"size\":20000000000}]}";
    const char *build = strstr(request->url, "ltsc2022") ? "20348" : "17763";
    char sha256[DIGEST_TEXT_MAX];

    if (!strstr(request->url, "/v2/"))
        return scene_answer(context, request, ret, err);
    digest_sha256(manifest, strlen(manifest), sha256);
    ret->status = strstr(request->url, "/none/") ? 404 : 200;
    if (strstr(request->url, sha256))
        ret->body = xstrdup(manifest);
    else if (strstr(request->url, "large"))
        ret->body = xasprintf("{\"manifests\":[{\"digest\":\"sha256:%s\",\"size\":%zu,"
                              "\"platform\":{\"os\":\"windows\",\"architecture\":\"amd64\","
                              "\"os.version\":\"10.0.20348.1\"}}]}",
                              sha256, strlen(manifest));
    else if (strstr(request->url, "single"))
        ret->body = xstrdup(manifest);
    else
        ret->body = xasprintf("{\"manifests\":[{\"digest\":\"sha256:%s\",\"size\":2,\"platform\":{"
                              "\"os\":\"windows\",\"architecture\":\"amd64\","
                              "\"os.version\":\"10.0.%s.1\"}}]}",
                              EMPTY_SHA256, build);
    if (strstr(request->url, EMPTY_SHA256))
        text_set(&ret->body, xstrdup("{}"));
    ret->body_len = strlen(ret->body);
    return 0;
}

static void image(const char *name) {
    answer_with(&r, answer_index);
    freep(&r.options.source_base);
    text_list_add(&r.options.images, name);
}

static void image_of_2019(void) {
    image("a.example/x/app:7-ltsc2019");
}

static void image_of_2022(void) {
    image("a.example/x/app:ltsc2022");
}

static void large_image(void) {
    host_memory_set_free_space(r.host, 60000000000);
    image("a.example/x/large:1");
}

static void large_image_alone(void) {
    host_memory_set_free_space(r.host, 60000000000);
    image("a.example/x/single:1");
}

static void large_image_that_fits(void) {
    host_memory_set_free_space(r.host, 80000000000);
    image("a.example/x/large:1");
}

static void image_of_docker(void) {
    image("docker.io/none/app");
}

static void image_of_nobody(void) {
    image("a.example/none/app");
}

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
