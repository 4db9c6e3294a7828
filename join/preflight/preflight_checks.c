/* The table of preflight checks. To add one: a function in the file of its subject and a row here;
 * tests/unit/test_preflight_rows.c wants a case that makes it fail. */
#include "join/preflight/preflight_checks.h"

#include "base/memory.h"
#include "base/vxlan.h"
#include "join/found/need.h"
#include "join/services/rights.h"
#include "join/kubelet/kubelet_files.h"
#include "services/service_table.h"

#define W PREFLIGHT_WARNING
#define E PREFLIGHT_ERROR

#define KEY_SERVICES "SYSTEM\\CurrentControlSet\\Services\\"
#define HINT_UPDATE "install the newest cumulative update of this Windows"
#define HINT_OTHER_TOOL "another tool joined this machine; undo that first: kubeadm reset"

/* Ids and levels are kubeadm's where it has the check (its join/preflight for a worker). */
static const struct preflight_check checks[] = {
    {.id = "IsPrivilegedUser",
     .level = E,
     .run = check_elevated,
     .help = "the process has administrator rights",
     .hint = "powershell Start-Process cmd -Verb RunAs"},
    {.id = "Architecture",
     .level = E,
     .run = check_architecture,
     .help = "the processor is amd64",
     .hint = "use another machine: Kubernetes has no Windows node programs for it"},
    {.id = "SystemVerification",
     .level = E,
     .run = check_server,
     .help = "this is a Windows Server",
     .hint = "use Windows Server 2019, 2022 or 2025"},
    {.id = "WindowsBuild",
     .level = W,
     .run = check_build,
     .help = "container images exist for this build",
     .hint = "winjoin capabilities"},
    {.id = "WindowsPatch",
     .level = W,
     .run = check_patch,
     .help = "the updates that pod networks need are installed",
     .hint = HINT_UPDATE},
    {.id = "HostFixes",
     .level = W,
     .run = check_host_fixes,
     .help = "the registry has the fixes that upstream's images have on this build",
     .hint = "--apply-host-fixes sets them, and reset undoes that"},
    {.id = "ContainersFeature",
     .level = E,
     .run = check_containers_feature,
     .help = "the Windows feature Containers is installed",
     .hint = "dism /online /enable-feature /featurename:Containers /all"},
    {.id = "PendingRestart",
     .level = E,
     .run = check_restart,
     .help = "no restart is pending",
     .hint = "shutdown /r /t 0"},
    {.id = "Service-hns",
     .level = E,
     .run = check_service_enabled,
     .subject = "hns",
     .help = "the Host Network Service is not disabled",
     .hint = "sc.exe config hns start= demand"},
    {.id = "Service-vmcompute",
     .level = E,
     .run = check_service_enabled,
     .subject = "vmcompute",
     .help = "the Host Compute Service is not disabled",
     .hint = "sc.exe config vmcompute start= demand"},
    {.id = "HNS",
     .level = E,
     .run = check_hns,
     .help = "the Host Network Service responds",
     .hint = "sc.exe start hns"},
    {.id = "HNSVersion",
     .level = E,
     .run = check_hns_version,
     .help = "HNS can make Kubernetes networks",
     .hint = HINT_UPDATE},
    {.id = "ServiceLimits",
     .level = W,
     .run = check_service_limits,
     .help = "this HNS can do what Services may ask for",
     .hint = "winjoin capabilities says what to use instead"},
    {.id = "IPv6Stack",
     .level = E,
     .run = check_ipv6,
     .help = "IPv6 is enabled",
     .hint = "reg delete HKLM\\SYSTEM\\CurrentControlSet\\Services\\Tcpip6\\Parameters /v "
             "DisabledComponents /f"},
    {.id = "SystemDrive",
     .level = W,
     .run = check_system_drive,
     .help = "Windows is on C:",
     .hint = "use a server whose system drive is C:"},
    {.id = "PageFile",
     .level = W,
     .run = check_page_file,
     .help = "there is a page file",
     .hint = "powershell \"Get-CimInstance Win32_ComputerSystem | Set-CimInstance -Property "
             "@{AutomaticManagedPagefile=[bool]1}\""},
    {.id = "DiskSpace",
     .level = W,
     .run = check_disk,
     .help = "C: has enough free space for images",
     .hint = "dism /online /cleanup-image /startcomponentcleanup"},
    {.id = "Defender",
     .level = W,
     .run = check_defender,
     .help = "Defender does not scan container files",
     .hint = "powershell Add-MpPreference -ExclusionPath C:\\ProgramData\\containerd"},
    {.id = "FDVDenyWriteAccess",
     .level = W,
     .run = check_policy,
     .subject = "SYSTEM\\CurrentControlSet\\Policies\\Microsoft\\FVE",
     .help = "BitLocker allows container layers to be written",
     .hint = "reg delete HKLM\\SYSTEM\\CurrentControlSet\\Policies\\Microsoft\\FVE /v "
             "FDVDenyWriteAccess /f"},
    {.id = "VSmbDisableOplocks",
     .level = W,
     .run = check_policy,
     .subject = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Virtualization\\Containers",
     .help = "file shares of containers can use oplocks",
     .hint = "reg delete \"HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Virtualization"
             "\\Containers\" /v VSmbDisableOplocks /f"},
    {.id = "FileExisting-xcopy",
     .level = E,
     .run = check_xcopy,
     .help = "xcopy.exe exists",
     .hint = "sfc /scannow"},
    {.id = "Hostname",
     .level = W,
     .run = check_host_name,
     .help = "the host name fits NetBIOS",
     .hint = "powershell Rename-Computer -NewName NAME -Restart"},

    {.id = "NetworkCard",
     .level = E,
     .run = check_card,
     .help = "exactly one adapter has the default route",
     .hint = "choose one with --adapter; to list them: powershell Get-NetAdapter"},
    {.id = NETWORK_MODE_CHECK,
     .level = E,
     .run = check_network_mode,
     .help = "the network mode connects this node's pods to the cluster",
     .hint = NETWORK_MODE_HINT},
    {.id = "VSwitch",
     .level = W,
     .run = check_switch,
     .help = "no other program's virtual switch is on the adapter",
     .hint = "hnsdiag list networks"},
    {.id = "HNSNetworks",
     .level = W,
     .run = check_networks,
     .help = "HNS has no networks of other programs",
     .hint = "hnsdiag list networks"},
    {.id = "MTU",
     .level = W,
     .run = check_mtu,
     .help = "the adapter's MTU leaves room for VXLAN",
     .hint = "netsh interface ipv4 show subinterfaces"},
    {.id = "DNSServers",
     .level = W,
     .run = check_dns,
     .help = "the adapter has DNS servers",
     .hint = "netsh interface ipv4 show dnsservers"},
    {.id = "HTTPProxy",
     .level = W,
     .run = check_proxy,
     .help = "the API server is reached without a proxy",
     .hint = ""},
    {.each = EACH_PORT, .level = E, .run = check_tcp_port},
    {.id = "Port-4789",
     .level = E,
     .run = check_vxlan_port,
     .number = VXLAN_WINDOWS_PORT,
     .help = "the VXLAN port is free",
     .hint = "netstat -ano -p udp | findstr :4789"},
    {.id = "DynamicPorts",
     .level = W,
     .run = check_dynamic_ports,
     .help = "there are enough dynamic ports for load balancers",
     .hint = "netsh int ipv4 set dynamicport tcp start=49152 num=16384"},

    {.id = "FileAvailable--etc-kubernetes-kubelet.conf",
     .level = E,
     .run = check_file_available,
     .subject = KUBELET_KUBECONFIG_FILE,
     .help = "no other kubelet.conf exists",
     .hint = HINT_OTHER_TOOL},
    {.id = "FileAvailable--etc-kubernetes-bootstrap-kubelet.conf",
     .level = E,
     .run = check_file_available,
     .subject = KUBELET_BOOTSTRAP_KUBECONFIG_FILE,
     .help = "no other bootstrap-kubelet.conf exists",
     .hint = HINT_OTHER_TOOL},
    {.id = "FileAvailable-C:-etc-kubernetes-pki-ca.crt",
     .level = E,
     .run = check_file_available,
     .subject = KUBERNETES_CA_FILE,
     .help = "no other ca.crt exists",
     .hint = HINT_OTHER_TOOL},
    {.id = "DirAvailable--etc-kubernetes-manifests",
     .level = W,
     .run = check_manifests,
     .subject = KUBERNETES_MANIFESTS_FOLDER,
     .help = "there are no other static pods",
     .hint = "dir " KUBERNETES_MANIFESTS_FOLDER},
    {.id = "CNIConfiguration",
     .level = W,
     .run = check_cni_files,
     .help = "no other CNI file overrides winjoin's",
     .hint = ""},
    {.id = "Leftovers",
     .level = W,
     .run = check_leftovers,
     .help = "no files of an earlier node are left",
     .hint = ""},
    {.each = EACH_SERVICE, .level = E, .run = check_service_free},
    {.id = "CRI",
     .level = E,
     .run = check_cri,
     .help = "the container runtime can be reached",
     .hint = "sc.exe query containerd"},
    {.id = "ContainerRuntimeVersion",
     .level = W,
     .run = check_runtime_version,
     .help = "containerd is supported by future kubelets",
     .hint = "supply containerd 2.0 or newer with --bundle"},
    {.id = "KubeletVersion",
     .level = E,
     .run = check_kubelet_version,
     .help = "kubelet.exe starts and is not too old",
     .hint = "C:\\k\\kubelet.exe --version"},

    {.id = "Bundle",
     .level = E,
     .ask = check_bundle,
     .whole = true,
     .help = "the bundle is complete and matches its lock",
     .hint = "winjoin bundle verify FILE shows what is wrong; a mirror is an unpacked bundle"},
    {.id = "Discovery",
     .level = E,
     .ask = check_discovery,
     .whole = true,
     .help = "the cluster answers and is trusted",
     .hint = "kubeadm token create --print-join-command"},
    {.id = "CACertificate",
     .level = W,
     .ask = check_ca_file,
     .whole = true,
     .help = "no ca.crt of another cluster exists",
     .hint =
         "nothing to do: winjoin join installs the verified one, winjoin reset restores this one"},
    {.id = "ClockSkew",
     .level = W,
     .ask = check_clock,
     .whole = true,
     .help = "this machine's clock agrees with the API server's",
     .hint = "w32tm /resync /force"},
    {.id = "ClusterConfiguration",
     .level = E,
     .ask = check_configuration,
     .whole = true,
     .help = "the cluster's configuration can be read",
     .hint = "kubectl -n kube-system get configmap kubeadm-config kubelet-config"},
    {.id = "NodeName",
     .level = E,
     .ask = check_node_name,
     .whole = true,
     .help = "the node's name is free in the cluster",
     .hint = ""},
    {.id = "NetworkPlan",
     .level = E,
     .ask = check_plan,
     .whole = true,
     .help = "the pod network can be made for this machine and cluster",
     .hint = "kubectl -n kube-system get configmap kubeadm-config -o yaml"},
    {.id = RIGHTS_CHECK,
     .level = E,
     .ask = check_rights,
     .whole = true,
     .help = "the cluster grants what the join and the node's services need",
     .hint = "winjoin config cluster --kubeconfig admin.conf | kubectl apply -f -"},
    {.id = "HNSClash",
     .level = E,
     .ask = check_clash,
     .whole = true,
     .help = "no HNS network conflicts with the plan",
     .hint = "hnsdiag list networks"},
    {.id = "VersionSkew",
     .level = E,
     .ask = check_skew,
     .whole = true,
     .help = "the control plane supports the kubelet's version",
     .hint = "kubectl version"},
    {.id = "Programs",
     .level = E,
     .ask = check_programs,
     .whole = true,
     .help = "all programs of a node are on this machine or in the bundle",
     .hint = "winjoin bundle create DIR winjoin-bundle.zip"},
};

struct list {
    struct preflight_check *items;
    size_t count;
};

static void add(struct list *list, struct preflight_check row, const char *subject, unsigned number,
                const struct service_check *check) {
    if (check) {
        row.id = check->id;
        row.help = check->help;
        row.hint = check->hint;
        row.subject = subject;
        row.number = number;
    }
    list->items = xrealloc(list->items, (list->count + 1) * sizeof *list->items);
    list->items[list->count++] = row;
}

static void add_of_service(struct list *list, const struct preflight_check *row,
                           const struct service *service) {
    if (row->each == EACH_SERVICE) {
        add(list, *row, service->name, 0, &service->unused);
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(service->ports) && service->ports[i].number; i++)
        add(list, *row, service->name, service->ports[i].number, &service->ports[i].free);
}

struct preflight_check *preflight_checks(size_t *ret_count) {
    struct list list = {0};

    for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
        if (checks[i].each == EACH_NONE)
            add(&list, checks[i], NULL, 0, NULL);
        for (const struct service *const *service = service_table;
             checks[i].each != EACH_NONE && *service; service++)
            add_of_service(&list, &checks[i], *service);
    }
    *ret_count = list.count;
    return list.items;
}
