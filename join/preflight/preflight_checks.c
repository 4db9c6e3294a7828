/* Has the table of preflight checks. A new check needs a function in the file of its subject, a row
 * here, and a case that makes it fail in tests/unit/join/test_preflight_rows.c. */
#include "join/preflight/preflight_checks.h"

#include "base/vxlan.h"
#include "join/found/need.h"
#include "join/programs/programs.h"
#include "join/services/node_rights.h"
#include "join/kubelet/kubelet_files.h"
#include "services/service_table.h"

#define W PREFLIGHT_WARNING
#define E PREFLIGHT_ERROR
/* MACHINE is a check of this machine. WHOLE is a check of the bundle or the cluster, which runs
 * only when all checks are requested. */
#define MACHINE(name, of_failure, function, so_when_fine, to_do, ...)                              \
    {                                                                                              \
        .id = (name), .level = (of_failure), .run = (function), .help = (so_when_fine),            \
        .hint = (to_do), __VA_ARGS__                                                               \
    }
#define WHOLE(name, of_failure, behind, function, so_when_fine, to_do, ...)                        \
    {                                                                                              \
        .id = (name), .level = (of_failure), .after = (behind), .ask = (function), .whole = true,  \
        .help = (so_when_fine), .hint = (to_do), __VA_ARGS__                                       \
    }

#define KEY_SERVICES "SYSTEM\\CurrentControlSet\\Services\\"
#define HINT_UPDATE "install the newest cumulative update of this Windows"
#define HINT_OTHER_TOOL "another tool joined this machine; undo that first: kubeadm reset"

/* Ids and levels are kubeadm's where kubeadm has the check (join/preflight for a worker). */
static const struct preflight_check checks[] = {
    MACHINE("IsPrivilegedUser", E, check_elevated, "the process has administrator rights",
            "powershell Start-Process cmd -Verb RunAs"),
    MACHINE("Architecture", E, check_architecture, "the processor is amd64",
            "use another machine: Kubernetes has no Windows node programs for it"),
    MACHINE("SystemVerification", E, check_server, "this is a Windows Server",
            "use Windows Server 2019, 2022 or 2025"),
    MACHINE("WindowsBuild", W, check_build, "container images exist for this build",
            "winjoin capabilities"),
    MACHINE("WindowsPatch", W, check_patch, "the updates that pod networks need are installed",
            HINT_UPDATE),
    MACHINE("HostFixes", W, check_host_fixes,
            "the registry has the fixes that upstream's images have on this build",
            "--apply-host-fixes sets them, and reset undoes that"),
    MACHINE("ContainersFeature", E, check_containers_feature,
            "the Windows feature Containers is installed",
            "dism /online /enable-feature /featurename:Containers /all"),
    MACHINE("PendingRestart", E, check_restart, "no restart is pending", "shutdown /r /t 0"),
    MACHINE("Service-hns", E, check_service_enabled, "the Host Network Service is not disabled",
            "sc.exe config hns start= demand", .subject = "hns"),
    MACHINE("Service-vmcompute", E, check_service_enabled,
            "the Host Compute Service is not disabled", "sc.exe config vmcompute start= demand",
            .subject = "vmcompute"),
    MACHINE("HNS", E, check_hns, "the Host Network Service responds", "sc.exe start hns"),
    MACHINE("HNSVersion", E, check_hns_version, "HNS can make Kubernetes networks", HINT_UPDATE),
    MACHINE("ServiceLimits", W, check_service_limits, "this HNS can do what Services may ask for",
            "winjoin capabilities says what to use instead"),
    MACHINE("IPv6Stack", E, check_ipv6, "IPv6 is enabled",
            "reg delete HKLM\\SYSTEM\\CurrentControlSet\\Services\\Tcpip6\\Parameters /v "
            "DisabledComponents /f"),
    MACHINE("SystemDrive", W, check_system_drive,
            "Windows is on C:", "use a server whose system drive is C:"),
    MACHINE("PageFile", W, check_page_file, "there is a page file",
            "powershell \"Get-CimInstance Win32_ComputerSystem | Set-CimInstance -Property "
            "@{AutomaticManagedPagefile=[bool]1}\""),
    MACHINE("DiskSpace", E, check_disk,
            "C:, or the drive of containerd and the kubelet, is there (else an error) and has "
            "enough free space for images",
            "dism /online /cleanup-image /startcomponentcleanup"),
    MACHINE("Defender", W, check_defender, "Defender does not scan container files",
            "powershell Add-MpPreference -ExclusionPath C:\\ProgramData\\containerd"),
    MACHINE("FDVDenyWriteAccess", W, check_policy,
            "BitLocker allows container layers to be written",
            "reg delete HKLM\\SYSTEM\\CurrentControlSet\\Policies\\Microsoft\\FVE /v "
            "FDVDenyWriteAccess /f",
            .subject = "SYSTEM\\CurrentControlSet\\Policies\\Microsoft\\FVE"),
    MACHINE("VSmbDisableOplocks", W, check_policy, "file shares of containers can use oplocks",
            "reg delete \"HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Virtualization"
            "\\Containers\" /v VSmbDisableOplocks /f",
            .subject =
                "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Virtualization\\Containers"),
    MACHINE("FirewallPolicy", W, check_firewall_policy,
            "no group policy makes Windows' firewall ignore local rules",
            "allow inbound TCP 10250 and the VXLAN port (UDP) in that group policy"),
    MACHINE("ApplicationControl", W, check_application_control,
            "no policy decides which programs run",
            "allow C:\\k, C:\\Program Files\\containerd and "
            "C:\\opt\\cni\\bin with their subfolders in that policy"),
    MACHINE("FileExisting-xcopy", E, check_xcopy, "xcopy.exe exists", "sfc /scannow"),
    MACHINE("Hostname", W, check_host_name, "the host name fits NetBIOS",
            "powershell Rename-Computer -NewName NAME -Restart"),

    MACHINE("HostnameAsNodeName", E, check_node_name_of_host,
            "the host name can be the node's name, or another one is given", "", .firm = true),

    MACHINE("NetworkCard", E, check_adapter, "exactly one adapter has the default route",
            "choose one with --adapter; to list them: powershell Get-NetAdapter"),
    MACHINE(NETWORK_MODE_CHECK, E, check_network_mode,
            "the network mode connects this node's pods to the cluster", NETWORK_MODE_HINT),
    MACHINE("VSwitch", W, check_switch, "no other program's virtual switch is on the adapter",
            "hnsdiag list networks"),
    MACHINE("HNSNetworks", W, check_networks, "HNS has no networks of other programs",
            "hnsdiag list networks"),
    MACHINE("MTU", W, check_mtu, "the adapter's MTU leaves room for VXLAN",
            "netsh interface ipv4 show subinterfaces"),
    MACHINE("DNSServers", W, check_dns, "the adapter has DNS servers",
            "netsh interface ipv4 show dnsservers"),
    MACHINE("HTTPProxy", W, check_proxy, "the API server is reached without a proxy", ""),
    {.each = EACH_PORT, .level = E, .run = check_tcp_port},
    MACHINE("Port-4789", E, check_vxlan_port, "the VXLAN port is free",
            "powershell \"Get-Process -Id (Get-NetUDPEndpoint -LocalPort 4789).OwningProcess\"",
            .number = VXLAN_WINDOWS_PORT),
    MACHINE("DynamicPorts", W, check_dynamic_ports,
            "there are enough dynamic ports for load balancers",
            "netsh int ipv4 set dynamicport tcp start=49152 num=16384"),

    MACHINE("FileAvailable--etc-kubernetes-kubelet.conf", E, check_file_available,
            "no other kubelet.conf exists", HINT_OTHER_TOOL, .subject = KUBELET_KUBECONFIG_FILE),
    MACHINE("FileAvailable--etc-kubernetes-bootstrap-kubelet.conf", E, check_file_available,
            "no other bootstrap-kubelet.conf exists", HINT_OTHER_TOOL,
            .subject = KUBELET_BOOTSTRAP_KUBECONFIG_FILE),
    MACHINE("FileAvailable-C:-etc-kubernetes-pki-ca.crt", E, check_file_available,
            "no other ca.crt exists", HINT_OTHER_TOOL, .subject = KUBERNETES_CA_FILE),
    MACHINE("DirAvailable--etc-kubernetes-manifests", W, check_manifests,
            "there are no other static pods", "dir " KUBERNETES_MANIFESTS_FOLDER,
            .subject = KUBERNETES_MANIFESTS_FOLDER),
    MACHINE("ContainerdConfig", E, check_containerd,
            "containerd's configuration can be read, and fits this node", ""),
    MACHINE("CNIConfiguration", W, check_cni_files, "no other CNI file overrides winjoin's",
            "nothing to do: winjoin join moves it away, winjoin reset moves it back"),
    MACHINE("Folders", E, check_folders, "no file has the name of a folder that the node needs",
            ""),
    MACHINE("FolderOwners", E, check_folder_owners,
            "the node's folders and what is in them belong to administrators", "", .firm = true),
    MACHINE("Leftovers", W, check_leftovers, "no files of an earlier node are left", ""),
    {.each = EACH_SERVICE, .level = E, .run = check_service_free},
    MACHINE("ServicesOfOtherNodes", E, check_other_nodes,
            "no service of another way to set up a node is left", ""),
    MACHINE("CRI", E, check_cri, "the container runtime can be reached", "sc.exe query containerd"),
    MACHINE("ContainerRuntimeVersion", W, check_runtime_version,
            "containerd is supported by future kubelets",
            "supply containerd 2.0 or newer with --bundle"),
    MACHINE("KubeletVersion", E, check_kubelet_version,
            "kubelet.exe is a whole program and not too old", "supply another with --bundle FILE"),

    WHOLE("Bundle", E, AFTER_NONE, check_bundle, "the bundle is complete and matches its lock",
          "winjoin bundle verify FILE shows what is wrong; a mirror is an unpacked bundle"),
    WHOLE("Discovery", E, AFTER_NONE, check_need, "the cluster answers and is trusted",
          "kubeadm token create --print-join-command", .number = NEED_CLIENT),
    WHOLE("CACertificate", W, AFTER_DISCOVERY, check_ca_file, "no ca.crt of another cluster exists",
          "nothing to do: winjoin join installs the verified one, winjoin reset restores this one"),
    WHOLE("ClockSkew", W, AFTER_NONE, check_clock,
          "this machine's clock agrees with the API server's", "w32tm /resync /force"),
    WHOLE("ClusterConfiguration", E, AFTER_DISCOVERY, check_need,
          "the cluster's configuration can be read",
          "kubectl -n kube-system get configmap kubeadm-config kubelet-config",
          .number = NEED_CLUSTER),
    WHOLE("Patches", E, AFTER_CONFIGURATION, check_need,
          "the kubelet's configuration can be made, with the patches of --patches",
          "kubectl -n kube-system get configmap kubelet-config -o yaml",
          .number = NEED_KUBELET_CONFIG),
    WHOLE("NodeName", E, AFTER_DISCOVERY, check_node_name, "the node's name is free in the cluster",
          ""),
    WHOLE("NetworkPlan", E, AFTER_CONFIGURATION, check_need,
          "the pod network can be made for this machine and cluster",
          "kubectl -n kube-system get configmap kubeadm-config -o yaml", .number = NEED_PLAN),
    WHOLE("PodPrefix", W, AFTER_PLAN, check_pod_prefix,
          "the control plane gives Nodes a pod prefix",
          "give this node one with --pod-cidr, or set networking.podSubnet for kubeadm"),
    WHOLE(RIGHTS_CHECK, E, AFTER_PLAN, NULL,
          "the cluster grants what the join and the node's services need",
          "winjoin config cluster --kubeconfig admin.conf | kubectl apply -f -",
          .fits = node_rights_check),
    WHOLE("CertificateApproval", W, AFTER_DISCOVERY, check_approval,
          "the node's certificate request is approved automatically",
          "while the join waits, on a control plane: kubectl certificate approve NAME"),
    WHOLE(HNS_CLASH_CHECK, E, AFTER_PLAN, check_clash, "no HNS network conflicts with the plan",
          "hnsdiag list networks"),
    WHOLE(NETWORK_AGENT_CHECK, E, AFTER_PLAN, check_network_agent,
          "Windows has what the cluster's network agent needs, and nothing in its way",
          "hnsdiag list networks"),
    WHOLE("VersionSkew", E, AFTER_CONFIGURATION, check_skew,
          "the control plane supports the kubelet's version", "kubectl version"),
    WHOLE("Programs", E, AFTER_PLAN, check_programs,
          "all programs of a node are on this machine or in the bundle",
          "winjoin bundle create DIR winjoin-bundle.zip"),
    WHOLE("BundleImages", E, AFTER_NONE, NULL, "the bundle's images are for this build of Windows",
          "winjoin bundle create --windows-build BUILD --image IMAGE DIR",
          .fits = bundle_images_check, .of_images = true),
    WHOLE("Images", W, AFTER_NONE, check_images,
          "the images to be pulled are for this build of Windows, and the disk has room for all",
          "name a tag that is for this build, or leave the image out", .of_images = true),
};

/* Returns the row for one service: its texts come from the service's own check. */
static struct preflight_check row_of(const struct preflight_check *row,
                                     const struct service_check *check,
                                     const struct service *service, unsigned number) {
    struct preflight_check own = *row;

    own.id = check->id;
    own.help = check->help;
    own.hint = check->hint;
    own.subject = service->name;
    own.number = number;
    return own;
}

struct preflight_check *preflight_checks(size_t *ret_count) {
    struct preflight_check *all = NULL;
    size_t count = 0;

    for (const struct preflight_check *row = checks; row < checks + ARRAY_SIZE(checks); row++) {
        if (row->each == EACH_NONE)
            array_add(all, count, *row);
        for (size_t s = 0; row->each != EACH_NONE && service_table[s]; s++) {
            const struct service *service = service_table[s];

            if (row->each == EACH_SERVICE)
                array_add(all, count, row_of(row, &service->unused, service, 0));
            for (size_t i = 0; row->each == EACH_PORT && i < ARRAY_SIZE(service->ports) &&
                               service->ports[i].number;
                 i++)
                array_add(all, count,
                          row_of(row, &service->ports[i].free, service, service->ports[i].number));
        }
    }
    *ret_count = count;
    return all;
}
