/* What the tests of preflight share: a fit server, a cluster that may be odd, a look at both, and
 * what several of them break. */
#pragma once

#include "tests/scene/join_scene.h"
#include "tests/scene/program_image.h"

#include "join/preflight/preflight_checks.h"
#include "tests/memory/http_memory.h"

/* ---- the scene: a fit server, and a cluster that may be odd ---- */

static struct run r;
static struct {
    int64_t date;       /* of the server's answers; 0 = none */
    const char *refuse; /* part of a URL that answers 403 */
    const char *node;   /* InternalIP of a Ready Node that has our name, or NULL */
} cluster;

static inline int answer(void *context, const struct http_request *request,
                         struct http_response *ret, struct error *err) {
    if (cluster.refuse && strstr(request->url, cluster.refuse))
        return scene_status(ret, 403, "Forbidden");
    if (cluster.node && strstr(request->url, "/api/v1/nodes/"))
        return scene_json(ret, 200,
                          json_pack("{s:s, s:s, s:{s:s}, s:{s:[{s:s, s:s}], s:[{s:s, s:s}]}}",
                                    "apiVersion", "v1", "kind", "Node", "metadata", "name",
                                    "win-7k2", "status", "addresses", "type", "InternalIP",
                                    "address", cluster.node, "conditions", "type", "Ready",
                                    "status", "True"));
    ret->date = cluster.date;
    return scene_answer(context, request, ret, err);
}

static inline void put(const char *path, const char *content) {
    assert_int_equal(host_write(r.host, path, content, strlen(content), HOST_PUBLIC, NULL), 0);
}

/* A program's file with these lines of Go's build information. */
static inline void put_image(const char *path, const char *build_information) {
    _cleanup_(freep) char *image = image_make(build_information);

    assert_int_equal(host_write(r.host, path, image, IMAGE_SIZE, HOST_PUBLIC, NULL), 0);
}

static inline void put_version(const char *path, const char *version) {
    _cleanup_(freep) char *lines = xasprintf("mod\texample.com/program\t%s\t\n", version);

    put_image(path, lines);
}
#define CONTAINERD "C:\\Program Files\\containerd\\containerd.exe"
#define KUBELET "C:\\k\\kubelet.exe"

static inline void open_fit(void) {
    struct host_service defender = {.name = (char *)"WinDefend", .command = (char *)"MsMpEng.exe"};

    memset(&cluster, 0, sizeof cluster);
    open_run(&r, "overlay");
    answer_with(&r, answer);
    put("C:\\Windows\\System32\\xcopy.exe", "MZ");
    put_version(KUBELET, "v1.37.1");
    put_version("C:\\k\\kube-proxy.exe", "v1.37.1");
    put_version(CONTAINERD, "v2.4.2");
    host_memory_set_program(r.host, "netsh.exe", 0,
                            "\nProtocol tcp Dynamic Port Range\n---------------\n"
                            "Start Port      : 49152\nNumber of Ports : 16384\n\n");
    assert_int_equal(host_service_put(r.host, &defender, NULL), 0);
    host_memory_set_service_state(r.host, "WinDefend", HOST_SERVICE_RUNNING);
    host_memory_set_registry(r.host, "SOFTWARE\\Microsoft\\Windows Defender\\Exclusions\\Paths",
                             "C:\\ProgramData\\containerd", "0");
    r.options.dry_run = true;
    r.options.cri_socket = xstrdup("npipe:////./pipe/other");
    host_memory_set_pipe(r.host, "\\\\.\\pipe\\other");
}

struct look {
    struct join join;
    struct preflight_result *results;
    size_t count;
};

static inline void open_look(struct look *look, bool whole) {
    struct error err = {0};

    *look = (struct look){.join = {.host = r.host, .http = r.http, .asked = &r.options}};
    if (join_open(&look->join, &err) < 0)
        fail_msg("%s", err.message);
    look->results = preflight_run(&look->join, whole, &look->count);
}

static inline void close_look(struct look *look) {
    free(look->results);
    join_close(&look->join);
}

static inline const struct preflight_result *result_of(const struct look *look, const char *id) {
    for (size_t i = 0; i < look->count; i++)
        if (text_equal(look->results[i].id, id))
            return &look->results[i];
    fail_msg("no result of %s", id);
    return NULL;
}

/* ---- what can be wrong ---- */

static inline struct host_facts facts_now(void) {
    struct host_facts facts;

    assert_int_equal(host_facts(r.host, &facts, NULL), 0);
    return facts;
}

#define FACT(name, assignment)                                                                     \
    static inline void name(void) {                                                                \
        struct host_facts facts = facts_now();                                                     \
        assignment;                                                                                \
        host_memory_set_facts(r.host, &facts);                                                     \
    }
#define REGISTRY(name, key, value, data)                                                           \
    static inline void name(void) {                                                                \
        host_memory_set_registry(r.host, key, value, data);                                        \
    }
#define PORT(name, udp, port)                                                                      \
    static inline void name(void) {                                                                \
        host_memory_set_port(r.host, udp, port);                                                   \
    }
#define THERE(name, path)                                                                          \
    static inline void name(void) {                                                                \
        put(path, "x");                                                                            \
    }
#define SERVICE(function, service)                                                                 \
    static inline void function(void) {                                                            \
        struct host_service foreign = {.name = (char *)(service), .command = (char *)"C:\\o.exe"}; \
        assert_int_equal(host_service_put(r.host, &foreign, NULL), 0);                             \
    }
#define OPTION(name, field, value)                                                                 \
    static inline void name(void) {                                                                \
        free(r.options.field);                                                                     \
        r.options.field = xstrdup(value);                                                          \
    }

static inline void port_4800(void) {
    r.options.vxlan_port = 4800;
    host_memory_set_port(r.host, true, 4800);
}

FACT(not_elevated, facts.elevated = false)
PORT(port_10250, false, 10250)
PORT(port_10248, false, 10248)
PORT(port_10256, false, 10256)
PORT(port_10249, false, 10249)
FACT(restart, facts.restart_pending = 1)
FACT(no_page_file, facts.page_file_bytes = 0)
THERE(kubelet_conf, "C:\\etc\\kubernetes\\kubelet.conf")

static inline void wrong_pin(void) {
    text_list_free(&r.options.discovery_token_ca_cert_hash);
    text_list_add(&r.options.discovery_token_ca_cert_hash,
                  "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
}

static inline void no_rights(void) {
    cluster.refuse = "configmaps/kubeadm-config";
}

static inline void name_taken(void) {
    cluster.node = "10.0.0.77";
}

static inline void name_of_old(void) {
    cluster.node = "10.0.0.21";
}
REGISTRY(ipv6_partly, "SYSTEM\\CurrentControlSet\\Services\\Tcpip6\\Parameters",
         "DisabledComponents", "32")

/* ---- adapters and containerds of owners ---- */

static inline void adapter_of(const char *mac, const char *driver, unsigned build) {
    struct host_facts facts = facts_now();
    struct host_adapters adapters = {0};

    facts.build = build;
    host_memory_set_facts(r.host, &facts);
    assert_int_equal(host_adapters(r.host, &adapters, NULL), 0);
    text_set(&adapters.items[0].description, xstrdup(driver));
    (void)text_format(adapters.items[0].mac, sizeof adapters.items[0].mac, "%s", mac);
    host_memory_set_adapters(r.host, &adapters);
    host_adapters_free(&adapters);
}

static inline void team(void) {
    adapter_of("00-15-5D-01-02-03", "Microsoft Network Adapter Multiplexor Driver", 20348);
}

static inline void team_of_2019(void) {
    adapter_of("00-15-5D-01-02-03", "Microsoft Network Adapter Multiplexor Driver", 17763);
}

static inline void tunnel(void) {
    adapter_of("", "WireGuard Tunnel", 20348);
}

FACT(name_with_underscore,
     assert_int_equal(text_format(facts.host_name, sizeof facts.host_name, "%s", "WIN_SRV01"), 0))
SERVICE(calico_by_zip, "CalicoNode")

static inline void calico_by_zip_adopted(void) {
    calico_by_zip();
    r.options.existing_services = xstrdup("adopt");
}

#define OWNERS "C:\\Program Files\\containerd\\config.toml"

static inline void owners_containerd(void) {
    put(OWNERS, "version = 3\nimports = ['C:\\own\\*.toml']\n"
                "[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = 'C:\\certs.d'\n");
}

static inline void owners_mirrors(void) {
    put(OWNERS, "version = 2\n[plugins.'io.containerd.grpc.v1.cri']\n"
                "sandbox_image = 'r.example/pause:3.10.2'\n"
                "[plugins.'io.containerd.grpc.v1.cri'.registry.mirrors.'docker.io']\n"
                "endpoint = ['https://m.example']\n");
}

SERVICE(other_containerd, "containerd")

static inline void owners_odd_file(void) {
    put(OWNERS, "version = 3\nroot = \"C:\\x\"\n");
}

static inline void adopted_odd_file(void) {
    owners_odd_file();
    other_containerd();
    r.options.existing_services = xstrdup("adopt");
}

static inline void adopted_old_image(void) {
    put(OWNERS, "version = 2\n[plugins.'io.containerd.grpc.v1.cri']\n"
                "sandbox_image = 'mcr.microsoft.com/oss/kubernetes/pause:3.6'\n");
    other_containerd();
    r.options.existing_services = xstrdup("adopt");
    freep(&r.options.cri_socket);
}

static inline void adopted_other_pipe(void) {
    other_containerd();
    r.options.existing_services = xstrdup("adopt");
}

static inline void users_registry(void) {
    owners_containerd();
    put("C:\\certs.d\\docker.io\\hosts.toml", "server = 'https://x.example'\n");
    host_memory_give_to_user(r.host, "C:\\certs.d\\docker.io\\hosts.toml");
}

static inline void users_import(void) {
    owners_containerd();
    put("C:\\own\\a.toml", "version = 3\n");
    host_memory_give_to_user(r.host, "C:\\own\\a.toml");
}

static inline void users_cni_file(void) {
    other_containerd();
    r.options.existing_services = xstrdup("adopt");
    freep(&r.options.cri_socket);
    put("C:\\Program Files\\containerd\\cni\\conf\\a.conf", "{}");
    host_memory_give_to_user(r.host, "C:\\Program Files\\containerd\\cni\\conf\\a.conf");
}

/* HNS took the static address when it built the switch; its owner has configured it again. */
static inline void give_address_back(void) {
    struct host_route way_out = {.destination = "0.0.0.0/0", .next_hop = "10.0.0.1"};
    struct host_adapters adapters = {0};

    assert_int_equal(host_adapters(r.host, &adapters, NULL), 0);
    for (size_t i = 0; i < adapters.count; i++)
        if (text_starts_with(adapters.items[i].alias, "vEthernet"))
            way_out.interface_index = adapters.items[i].index;
    host_adapters_free(&adapters);
    assert_int_equal(host_address_add(r.host, way_out.interface_index, "10.0.0.21/24", NULL), 0);
    assert_int_equal(host_route_add(r.host, &way_out, NULL), 0);
}
