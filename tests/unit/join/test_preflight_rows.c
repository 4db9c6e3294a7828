/* Each row of the table of preflight checks fails on a server that lacks what the row asks for. */
#include "tests/scene/preflight_scene.h"

#include "tests/scene/certificate_vectors.h"
#include "tests/scene/preflight_facts.h"
#include "tests/scene/preflight_images.h"

/* ---- what can be wrong, one function a row ---- */

#define DOMAIN_PROFILE "SOFTWARE\\Policies\\Microsoft\\WindowsFirewall\\DomainProfile"
REGISTRY(no_merge, DOMAIN_PROFILE, "AllowLocalPolicyMerge", "0")
PORT(port_4789, true, 4789)
PORT(tcp_port_4789, false, 4789)
THERE(bootstrap_conf, "C:\\etc\\kubernetes\\bootstrap-kubelet.conf")
THERE(ca_crt, "C:\\etc\\kubernetes\\pki\\ca.crt")

static void other_ca(void) {
    put("C:\\etc\\kubernetes\\pki\\ca.crt", OTHER_PEM);
}
THERE(static_pod, "C:\\etc\\kubernetes\\manifests\\other.yaml")
THERE(cni_file, "C:\\etc\\cni\\net.d\\0-containerd-nat.conf")
THERE(file_log, "C:\\var\\log")
THERE(file_etc, "C:\\etc")
THERE(source_vip, "C:\\sourcevip\\10.244.1.2")
THERE(bad_kubelet, "C:\\bad\\kubelet.exe")
SERVICE(other_kubelet, "kubelet")
SERVICE(other_kube_proxy, "kube-proxy")
SERVICE(other_flanneld, "flanneld")
SERVICE(other_hybrid_overlay, "hybrid-overlay-node")
SERVICE(other_network, "winjoin-network")
OPTION(absent_pipe, cri_socket, "npipe:////./pipe/nobody")
static void odd_pods(void) {
    text_list_add(&r.options.pod_cidrs, "10.96.0.0/24");
}
OPTION(no_such_adapter, adapter, "Ethernet 9")
OPTION(alone, network_mode, "nat")
OPTION(name_of_63, node_name, "a1234567890123456789012345678901234567890123456789012345678901z")
OPTION(name_of_64, node_name, "a12345678901234567890123456789012345678901234567890123456789012z")

/* The plugin's name chooses the mode. */
static void alone_by_plugin(void) {
    free(r.options.network_mode);
    r.options.network_mode = NULL;
    r.options.network_plugin = xstrdup("nat");
}

/* Its lock is right, and one of its programs is another. */
static void give_bad_bundle(void) {
    bad_kubelet();
    put("C:\\bad\\winjoin.lock",
        "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{\"name\":"
        "\"kubelet\",\"version\":\"v1.37.1\",\"sha256\":"
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"size\":3,\"path\":"
        "\"kubelet.exe\"}]}");
    r.options.bundle = xstrdup("C:\\bad");
}

static uint32_t silent_hns(void *context, const char *function, const char *const *arguments,
                           size_t count, char **ret_result, char **ret_error_record) {
    (void)context, (void)function, (void)arguments, (void)count;
    *ret_result = *ret_error_record = NULL;
    return 0x800706ba; /* RPC_S_SERVER_UNAVAILABLE */
}

static void no_hns(void) {
    host_memory_set_hns(r.host, silent_hns, NULL);
}

/* `context`: its version. */
static uint32_t answer_version(void *context, const char *function, const char *const *arguments,
                               size_t count, char **ret_result, char **ret_error_record) {
    (void)arguments, (void)count;
    *ret_error_record = NULL;
    *ret_result = text_starts_with(function, "HcnEnumerate")
                      ? xstrdup("[]")
                      : xasprintf("{\"Success\":true,\"Output\":%s}", (const char *)context);
    return 0;
}

static void old_hns(void) {
    static char version[] = "{\"Major\":7,\"Minor\":2}";

    host_memory_set_hns(r.host, answer_version, version);
}

static void hns_of_2019(void) {
    static char version[] = "{\"Major\":9,\"Minor\":5}";

    host_memory_set_hns(r.host, answer_version, version);
}

static void overridden(void) {
    bad_2022();
    host_memory_set_registry(r.host, "SYSTEM\\CurrentControlSet\\Services\\hns\\State",
                             "FwPerfImprovementChange", "0");
}

static void to_be_overridden(void) {
    bad_2022();
    r.options.apply_host_fixes = true;
}

static void to_be_fixed(void) {
    patched_2019();
    r.options.apply_host_fixes = true;
}
OPTION(without_dsr, dsr, "off")

/* A profile that the policy turns off lets everything in. */
static void no_merge_off(void) {
    no_merge();
    host_memory_set_registry(r.host, DOMAIN_PROFILE, "EnableFirewall", "0");
}

static void no_approver(void) {
    r.scene.may_not = "\"nodeclient\"";
}

static void no_pod_subnet(void) {
    r.scene.no_pod_subnet = true;
}

static void no_pod_subnet_but_own(void) {
    r.scene.no_pod_subnet = true;
    text_list_add(&r.options.pod_cidrs, "10.244.5.0/24");
}

static void bad_patch(void) {
    put("C:\\patches\\kubeletconfiguration+json.json",
        "[{\"op\":\"remove\",\"path\":\"/nothing\"}]");
    r.options.patches = xstrdup("C:\\patches");
}

static void no_requests(void) {
    r.scene.may_not = "certificatesigningrequests";
}

static void bgp_without_router(void) {
    r.scene.daemon_set = "calico-node-windows";
    r.scene.backend = "windows-bgp";
    freep(&r.options.network_mode);
}

/* OVN-Kubernetes tells nodes apart by their hosts' names; the other Node's is OTHER-7. */
static void same_host_name(void) {
    struct host_facts facts;

    assert_int_equal(host_facts(r.host, &facts, NULL), 0);
    (void)text_format(facts.host_name, sizeof facts.host_name, "other-7");
    host_memory_set_facts(r.host, &facts);
    r.scene.other_node = "10.244.7.0/24 10.0.0.77";
    freep(&r.options.network_mode);
    r.options.network_plugin = xstrdup("ovn-kubernetes");
}

/* The prefix that the call asks for is around the other Node's. */
static void taken_prefix(void) {
    r.scene.other_node = "10.244.7.0/24 10.0.0.77";
    text_list_add(&r.options.pod_cidrs, "10.244.6.0/23");
}

static void no_manifest(void) {
    r.scene.hides = "/kube-system/configmaps/winjoin";
}

static void change_adapter(void (*change)(struct host_adapter *adapter)) {
    struct host_adapters adapters = {0};

    assert_int_equal(host_adapters(r.host, &adapters, NULL), 0);
    change(&adapters.items[0]);
    host_memory_set_adapters(r.host, &adapters);
    host_adapters_free(&adapters);
}

static void make_down(struct host_adapter *adapter) {
    adapter->up = false;
}

static void adapter_down(void) {
    change_adapter(make_down);
}

static void make_small(struct host_adapter *adapter) {
    adapter->mtu = 1400;
}

static void small_mtu(void) {
    change_adapter(make_small);
}

static void lose_dns(struct host_adapter *adapter) {
    text_list_free(&adapter->dns_servers);
}

static void no_dns(void) {
    change_adapter(lose_dns);
}

static void foreign_network(const char *document) {
    _cleanup_(freep) char *made = NULL;
    struct error err = {0};

    if (hcn_create(r.host, HCN_NETWORK, NULL, NULL, document, &made, &err) < 0)
        fail_msg("%s", err.message);
}

static void foreign_switch(void) {
    foreign_network("{\"Name\":\"other\",\"Owner\":\"docker\",\"Type\":\"Overlay\",\"Policies\":[{"
                    "\"Type\":\"NetAdapterName\",\"Settings\":{\"NetworkAdapterName\":"
                    "\"Ethernet\"}}],\"SchemaVersion\":{\"Major\":2,\"Minor\":0}}");
    give_address_back();
}

static void foreign_nat(void) {
    foreign_network("{\"Name\":\"nat\",\"Owner\":\"docker\",\"Type\":\"NAT\",\"Ipams\":[{\"Type\":"
                    "\"Static\",\"Subnets\":[{\"IpAddressPrefix\":\"10.244.0.0/16\",\"Routes\":[{"
                    "\"NextHop\":\"10.244.0.1\",\"DestinationPrefix\":\"0.0.0.0/0\"}]}]}],"
                    "\"SchemaVersion\":{\"Major\":2,\"Minor\":0}}");
}

static void proxy(void) {
    host_memory_set_environment(r.host, "HTTPS_PROXY", "http://10.9.9.9:3128");
}

static void proxy_of_the_session(void) {
    proxy();
    host_memory_set_environment(r.host, "NO_PROXY", "10.0.0.0/8");
}

static void proxy_with_password(void) {
    proxy_of_the_session();
    host_memory_set_environment(r.host, "HTTPS_PROXY", "http://eve:pw@10.9.9.9:3128");
}

static void linux_images(void) {
    r.scene.image_repository = "registry.example/linux";
}

static void few_ports(void) {
    host_memory_set_program(r.host, "netsh.exe", 0, "Startport : 49152\nAnzahl : 1024\n");
}

static void mute_netsh(void) {
    host_memory_set_program(r.host, "netsh.exe", 0, "");
}

static void no_xcopy(void) {
    assert_int_equal(host_remove(r.host, "C:\\Windows\\System32\\xcopy.exe", NULL), 0);
}

static void no_system32(void) {
    assert_int_equal(host_remove_tree(r.host, "C:\\Windows", NULL), 0);
}

#define COMMIT "build\tvcs.revision=0123456789abcdef0123456789abcdef01234567\n"
#define IMAGE(name, ...)                                                                           \
    static void name(void) {                                                                       \
        __VA_ARGS__;                                                                               \
    }
IMAGE(old_containerd, put_version(CONTAINERD, "v1.7.20"))
IMAGE(untested_containerd, put_version(CONTAINERD, "v2.2.1"), put_version(KUBELET, "v1.37.1"))
IMAGE(odd_containerd, put_image(CONTAINERD, COMMIT))
IMAGE(broken_containerd, put(CONTAINERD, ""))
IMAGE(broken_kubelet, put(KUBELET, ""))
IMAGE(new_kubelet, put_version(KUBELET, "v1.39.0"))
IMAGE(old_kubelet, put_version(KUBELET, "v1.30.0"))
IMAGE(odd_kubelet, put_image(KUBELET, COMMIT))
IMAGE(silent_kubelet, put_image(KUBELET, NULL))

IMAGE(user_made_kubelet, host_memory_give_to_user(r.host, KUBELET))

static void clock_ahead(void) {
    cluster.date = host_now(r.host) - 300;
}

static void no_kube_proxy(void) {
    assert_int_equal(host_remove(r.host, "C:\\k\\kube-proxy.exe", NULL), 0);
}

static void full_disk(void) {
    host_memory_set_free_space(r.host, 5000000000u);
}

#define W PREFLIGHT_WARNING
#define E PREFLIGHT_ERROR
static const struct {
    const char *id;
    void (*arrange)(void);
    enum preflight_outcome outcome;
    const char *says;
} cases[] = {
    {"IsPrivilegedUser", not_elevated, E, "elevated"},
    {"Architecture", arm, E, "arm64"},
    {"Architecture", no_processor, W, "could not check"},
    {"SystemVerification", client, E, "Client"},
    {"SystemVerification", no_type, W, "could not check"},
    {"WindowsBuild", odd_build, W, "19044"},
    {"WindowsBuild", no_build, W, "could not check"},
    {"WindowsPatch", old_2019, W, "KB4489899"},
    {"WindowsPatch", bad_2022, W, "KB5040437"},
    {"WindowsPatch", no_revision, W, "could not check"},
    {"WindowsPatch", odd_build, PREFLIGHT_NOT_RUN, "19044"},
    {"WindowsPatch", overridden, PREFLIGHT_PASS, ""},
    {"WindowsPatch", to_be_overridden, PREFLIGHT_PASS, ""},
    {"HostFixes", patched_2019, W, "HNSControlFlag (turns on HNS' fixes"},
    {"HostFixes", to_be_fixed, PREFLIGHT_NOT_RUN, "the join sets HNSControlFlag"},
    {"ServiceLimits", hns_of_2019, W,
     "not supported here: IPv6 beside IPv4; Services with session"},
    {"ServiceLimits", without_dsr, W, "TrafficPolicy: Local; the client's address"},
    {"ServiceLimits", no_hns, PREFLIGHT_NOT_RUN, "does not respond"},
    {"ContainersFeature", no_containers, E, "Containers is not installed"},
    {"ContainersFeature", containers_to_be, PREFLIGHT_NOT_RUN, "the join installs the Windows"},
    {"ContainersFeature", no_dism, W, "could not check"},
    {"PendingRestart", restart, E, "restart"},
    {"PendingRestart", no_restart_answer, W, "could not check"},
    {"Service-hns", hns_disabled, E, "\"hns\" is disabled"},
    {"Service-vmcompute", vmcompute_disabled, E, "\"vmcompute\" is disabled"},
    {"HNS", no_hns, E, "does not respond"},
    {"HNSVersion", old_hns, E, "7.2"},
    {"IPv6Stack", ipv6_off, E, "4294967295"},
    {"IPv6Stack", ipv6_odd, W, "could not check"},
    {"SystemDrive", drive_d, W, "D:\\Windows"},
    {"SystemDrive", no_drive, W, "could not check"},
    {"PageFile", no_page_file, W, "page file"},
    {"PageFile", no_memory_answer, W, "could not check"},
    {"DiskSpace", kubelet_on_x, E, "root-dir is X:\\kubelet, on a drive that is not there"},
    {"DiskSpace", images_on_x, E, "containerd's root is X:\\images, on a drive that is not there"},
    {"DiskSpace", full_disk, W, "GB free"},
    {"DiskSpace", full_disk_d, W, "D: has 5.0 GB free"},
    {"Defender", not_excluded, W, "Defender scans"},
    {"Defender", not_excluded_d, W, "Defender scans D:\\images: containers"},
    {"Defender", excluded_program, PREFLIGHT_PASS, ""},
    {"FDVDenyWriteAccess", bitlocker, W, "FDVDenyWriteAccess=1"},
    {"VSmbDisableOplocks", oplocks, W, "VSmbDisableOplocks=1"},
    {"FirewallPolicy", no_merge, W, "DomainProfile has AllowLocalPolicyMerge=0"},
    {"FirewallPolicy", no_merge_off, PREFLIGHT_PASS, ""},
    {"ApplicationControl", applocker, W, "AppLocker decides which programs run here"},
    {"ApplicationControl", wdac, W, "App Control (WDAC) decides"},
    {"FileExisting-xcopy", no_xcopy, E, "xcopy not found"},
    {"FileExisting-xcopy", no_system32, W, "could not check"},
    {"Hostname", long_name, W, "winserver-numbe"},
    {"Hostname", name_of_15, PREFLIGHT_PASS, ""},
    {"HostnameAsNodeName", name_with_underscore, E,
     "the host name \"WIN_SRV01\" cannot be a node's"},
    {"HostnameAsNodeName", name_of_63, PREFLIGHT_PASS, ""},
    {"HostnameAsNodeName", name_of_64, E, "the node's name has 64 characters"},
    {"NetworkCard", adapter_down, E, ""},
    {"NetworkCard", no_such_adapter, E, "Ethernet 9"},
    {"NetworkCard", team, E,
     "'Ethernet' is a team of network adapters (LBFO): Windows Server 2022"},
    {"NetworkCard", team_of_2019, W, "are deprecated, and end with"},
    {"NetworkCard", tunnel, E, "is a tunnel or VPN"},
    {"NetworkCard", way_out_elsewhere, W,
     "is on the network of 'Cluster', and the node would be on 'Ethernet', which has"},
    {"VSwitch", foreign_switch, W, "Ethernet"},
    {"HNSNetworks", foreign_nat, W, "\"nat\" (NAT)"},
    {"NetworkMode", alone, E, "other nodes cannot reach this node's pods"},
    {"NetworkMode", alone_by_plugin, E, "in mode nat"},
    {"MTU", small_mtu, W, "1350"},
    {"DNSServers", no_dns, W, "no DNS server"},
    {"HTTPProxy", proxy, W, "http://10.9.9.9:3128"},
    {"HTTPProxy", proxy_of_the_session, PREFLIGHT_PASS, ""},
    {"HTTPProxy", proxy_script, W, "by the script http://p.example/a.pac, which neither"},
    {"HTTPProxy", proxy_with_password, W,
     "containerd pulls images without the proxy http://10.9.9.9:3128: it has a password"},
    {"Port-10250", port_10250, E, "port 10250 is in use"},
    {"Port-10250", kubelet_runs, PREFLIGHT_NOT_RUN, "\"kubelet\" that exists has port 10250"},
    {"Port-10250", adopted_kubelet_runs, E, "the service \"kubelet\" that exists runs already"},
    {"Port-10248", port_10248, E, "10248"},
    {"Port-10256", port_10256, E, "10256"},
    {"Port-10249", port_10249, E, "10249"},
    {"Port-4789", port_4789, E, "UDP port 4789"},
    {"Port-4789", tcp_port_4789, PREFLIGHT_PASS, ""},
    {"Port-4789", port_4800, E, "UDP port 4800"},
    {"DynamicPorts", few_ports, W, "1024"},
    {"DynamicPorts", mute_netsh, W, "could not check"},
    {"FileAvailable--etc-kubernetes-kubelet.conf", kubelet_conf, E, "already exists"},
    {"FileAvailable--etc-kubernetes-bootstrap-kubelet.conf", bootstrap_conf, E, "already exists"},
    {"FileAvailable-C:-etc-kubernetes-pki-ca.crt", ca_crt, E, "already exists"},
    {"FileAvailable-C:-etc-kubernetes-pki-ca.crt", other_ca, E, OTHER_PIN},
    {"DirAvailable--etc-kubernetes-manifests", static_pod, W, "not empty"},
    {"ContainerdConfig", owners_containerd, PREFLIGHT_PASS, ""},
    {"ContainerdConfig", owners_mirrors, W,
     "which has settings of its own: registry.mirrors, sandbox image 'r.example/pause:3.10.2'"},
    {"ContainerdConfig", owners_odd_file, W, "keeps nothing of it: decode C:\\Program Files\\con"},
    {"ContainerdConfig", adopted_odd_file, E, "config.toml: line 2: in double quotes a backslash"},
    {"ContainerdConfig", other_containerd, PREFLIGHT_NOT_RUN,
     "is another's: see Service-containerd"},
    {"ContainerdConfig", adopted_old_image, W,
     "'mcr.microsoft.com/oss/kubernetes/pause:3.6', is too"},
    {"ContainerdConfig", adopted_other_pipe, E,
     "opens \\\\.\\pipe\\containerd-containerd, and --cri-socket names \\\\.\\pipe\\other"},
    {"ContainerdConfig", users_registry, E, "hosts.toml' belongs to"},
    {"ContainerdConfig", users_import, W, "leaves out its imports: 'C:\\own\\a.toml' belongs to"},
    {"ContainerdConfig", users_cni_file, E, "a.conf' belongs to"},
    {"CNIConfiguration", cni_file, W, "0-containerd-nat.conf"},
    {"Folders", file_log, E, "C:\\var\\log is a file"},
    {"Folders", file_etc, E, "C:\\etc is a file"},
    {"FolderOwners", user_made_kubelet, E, "'C:\\k\\kubelet.exe' belongs to"},
    {"Leftovers", source_vip, W, "C:\\sourcevip"},
    {"Service-Kubelet", other_kubelet, E, "\"kubelet\""},
    {"Service-containerd", other_containerd, E, "\"containerd\""},
    {"Service-kube-proxy", other_kube_proxy, E, "\"kube-proxy\""},
    {"Service-flanneld", other_flanneld, E, "\"flanneld\""},
    {"Service-hybrid-overlay-node", other_hybrid_overlay, E, "\"hybrid-overlay-node\""},
    {"Service-winjoin-network", other_network, E, "\"winjoin-network\""},
    {"ServicesOfOtherNodes", calico_by_zip, E, "CalicoNode (Calico deletes HNS networks when"},
    {"ServicesOfOtherNodes", calico_by_zip_adopted, W, "CalicoNode"},
    {"CRI", absent_pipe, E, "\\\\.\\pipe\\nobody"},
    {"ContainerRuntimeVersion", old_containerd, W, "containerd 1"},
    {"ContainerRuntimeVersion", untested_containerd, W,
     "containerd 2.2.1: use 2.4.0 or newer, 2.3.0 or newer of 2.3 with Kubernetes 1.37 or newer"},
    {"ContainerRuntimeVersion", odd_containerd, W, "could not check"},
    {"ContainerRuntimeVersion", broken_containerd, W, "could not check: read 'C:\\Program"},
    {"KubeletVersion", broken_kubelet, E, "couldn't get kubelet version"},
    {"KubeletVersion", odd_kubelet, E, "couldn't get kubelet version"},
    {"KubeletVersion", silent_kubelet, PREFLIGHT_NOT_RUN, "does not tell its version"},
    {"Bundle", give_bad_bundle, E, "the lock says 3"},
    {"Discovery", wrong_pin, E, "pinned"},
    {"CACertificate", other_ca, W, OTHER_PIN " (CN=other); the cluster's verified CA is sha256:"},
    {"CACertificate", ca_crt, W, "contains no certificate"},
    {"ClockSkew", clock_ahead, W, "300 s ahead of"},
    {"ClusterConfiguration", no_rights, E, "kubeadm-config"},
    {"Patches", bad_patch, E, "/nothing"},
    {"Patches", no_rights, PREFLIGHT_NOT_RUN, "needs ClusterConfiguration"},
    {"NodeName", name_taken, E, "already exists in the cluster"},
    {"NodeName", name_of_old, W, "earlier join of this machine"},
    {"NetworkPlan", odd_pods, E, "10.96.0.0"},
    {"PodPrefix", no_pod_subnet, W, "kubeadm-config has no networking.podSubnet"},
    {"PodPrefix", no_pod_subnet_but_own, PREFLIGHT_NOT_RUN, "does not wait"},
    {"Programs", linux_images, W,
     "the sandbox image comes from the cluster's imageRepository: registry.example/linux/pause:"},
    {"CertificateApproval", no_approver, W, "not approved automatically"},
    {"ClusterRights", no_requests, E,
     "the token is not allowed to create certificatesigningrequests"},
    {"ClusterRights", no_manifest, E, "this cluster has not granted Windows nodes their rights"},
    {"VersionSkew", new_kubelet, E, "v1.39.0"},
    {"VersionSkew", old_kubelet, E, "v1.30.0"},
    {"HNSClash", foreign_nat, E, "overlaps"},
    {"NetworkAgent", bgp_without_router, E, "the Windows service RemoteAccess does not exist"},
    {"NetworkAgent", same_host_name, E, "node 'other' has this machine's host name 'other-7'"},
    {"NetworkAgent", taken_prefix, E,
     "--pod-cidr 10.244.6.0/23 overlaps the pod prefix 10.244.7.0/24 of node 'other'"},
    {"Programs", no_kube_proxy, E, "kube-proxy"},
    {"Images", image_of_2019, W,
     "a.example/x/app:7-ltsc2019 is not for build 20348 of Windows, but for 10.0.17763.1"},
    {"BundleImages", brought_of_2019, E, "is not for build 20348 of Windows"},
};

static void each_row_fails(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct preflight_result *result;
        struct look look;

        open_fit();
        cases[i].arrange();
        open_look(&look, true);
        result = result_of(&look, cases[i].id);
        if (result->outcome != cases[i].outcome || !strstr(result->message, cases[i].says))
            fail_msg("%s: %s: %s", cases[i].id, preflight_outcome_names[result->outcome],
                     result->message);
        if ((result->outcome == E && !*result->hint) ||
            (cases[i].arrange == port_4800 && !strstr(result->hint, "-LocalPort 4800)")))
            fail_msg("%s: no hint", cases[i].id);
        close_look(&look);
        close_run(&r);
    }
}

static void each_row_has_a_case(void **state) {
    size_t count;
    _cleanup_(freep) struct preflight_check *checks = preflight_checks(&count);

    (void)state;
    assert_true(count >= 30);
    for (size_t i = 0; i < count; i++) {
        bool fails = false;

        for (size_t k = 0; k < ARRAY_SIZE(cases); k++)
            fails |= text_equal(cases[k].id, checks[i].id) && cases[k].outcome == checks[i].level;
        if (!fails)
            fail_msg("%s is never made to fail", checks[i].id);
        assert_true(*checks[i].help);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(checks[k].id, checks[i].id);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_fails),
        cmocka_unit_test(each_row_has_a_case),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
