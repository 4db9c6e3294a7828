/* Calico: DaemonSet calico-node-windows, installed by Calico's operator, or by its manifests with
 * the ConfigMap calico-windows-config. It uses VXLAN, or BGP with the router of Windows. At its
 * first start after a boot it deletes every HNS network except nat and makes "External" and
 * "Calico". Each time that its Pod starts it writes its CNI programs and configuration. kube-proxy
 * comes as a DaemonSet, whose first step deletes a Windows service of that name. Sources: Calico's
 * node/windows-packaging (config-hpc.ps1, node/node-service.ps1, uninstall-calico-hpc.ps1). */
#include "base/vxlan.h"
#include "netsetup/agents/daemon_set_agent.h"

static const char *const backends[][2] = {{"vxlan", "overlay"}, {"windows-bgp", "l2bridge"}};

static int read(const json_t *variables, struct agent_settings *ret, struct error *err) {
    const char *backend = json_text_at(variables, "CALICO_NETWORKING_BACKEND");
    const char *vni = json_text_at(variables, "VXLAN_VNI");
    unsigned long number = vni && *vni ? strtoul(vni, NULL, 10) : VXLAN_WINDOWS_VNI_MIN;
    static const char *const pools[] = {"CALICO_IPV4POOL_CIDR", "CALICO_IPV6POOL_CIDR"};
    static const char services[] = "KUBERNETES_SERVICE_CIDRS";

    if (text_equal(backend, "none"))
        return 0; /* Calico only enforces policies here, and another agent makes the network. */
    if (!number || number > VXLAN_VNI_MAX)
        return error_set(err, ERROR_MALFORMED, "VXLAN_VNI \"%.40s\" is not a VNI", vni);
    ret->backend = xstrdup(backend && *backend ? backend : "vxlan");
    for (size_t i = 0; i < ARRAY_SIZE(backends); i++)
        if (text_equal(ret->backend, backends[i][0]))
            ret->mode = backends[i][1];
    if (text_equal(ret->backend, "vxlan")) {
        ret->vni = (unsigned)number;
        ret->vxlan_port = VXLAN_WINDOWS_PORT;
    }
    /* The prefixes of IP pools, where variables have them as in Calico's manifests for Linux nodes.
     * The prefixes of Services are serviceCIDRs of Calico's Installation (tigera/operator,
     * pkg/render/windows.go). */
    for (size_t i = 0; i < ARRAY_SIZE(pools); i++)
        if (daemon_set_agent_prefixes(json_text_at(variables, pools[i]), pools[i], &ret->pod_cidrs,
                                      err) < 0)
            return -1;
    return daemon_set_agent_prefixes(json_text_at(variables, services), services,
                                     &ret->service_cidrs, err);
}

static int check(const struct agent_settings *settings, struct error *err) {
    const json_t *object = json_object_get(settings->variables, DAEMON_SET_AGENT_OBJECT);
    const char *ipam = json_text_or(settings->variables, "CNI_IPAM_TYPE", "calico-ipam");

    /* Without strict affinity Calico's IPAM gives Windows nodes no address block, and the operator
     * installs no part for Windows. An IPAMConfig without that setting means off (libcalico-go,
     * lib/ipam: GetIPAMConfig). With an etcd datastore the IPAMConfig is in etcd and cannot be read
     * here. */
    if (object && text_equal(ipam, "calico-ipam") &&
        !text_equal(json_text_at(settings->variables, "DATASTORE_TYPE"), "etcdv3") &&
        !json_bool_at(object, "spec.strictAffinity", false)) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "Calico's strict affinity is off (IPAMConfig default): it gives Windows "
                        "nodes no addresses");
        (void)error_hint(err, "kubectl patch ipamconfig default --type merge -p \"spec: "
                              "{strictAffinity: true}\"");
        return error_hint(err, "where there is no IPAMConfig yet: calicoctl ipam configure "
                               "--strictaffinity=true");
    }
    if (!settings->mode) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "Calico's backend '%.60s' is not supported on Windows (vxlan and "
                        "windows-bgp are)",
                        settings->backend);
        return error_hint(err, "set CALICO_NETWORKING_BACKEND of DaemonSet %s",
                          settings->daemon_set);
    }
    if (settings->vni && settings->vni < VXLAN_WINDOWS_VNI_MIN) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "Calico's VNI %u is not supported on Windows: %d and above are",
                        settings->vni, VXLAN_WINDOWS_VNI_MIN);
        return error_hint(err, "set vxlanVNI of Calico's FelixConfiguration to %d",
                          VXLAN_WINDOWS_VNI_MIN);
    }
    return 0;
}

#define BASE "External"
static const struct daemon_set_network networks[] = {
    {.mode = "overlay", .hns_type = "Overlay", .name = "Calico", .base = BASE},
    {.mode = "l2bridge",
     .hns_type = "L2Bridge",
     .name = "Calico",
     .base = BASE,
     .service = "RemoteAccess",
     .service_reason = "Calico's BGP needs Routing and Remote Access",
     .service_hint = "powershell -Command \"Install-WindowsFeature RemoteAccess, Routing, "
                     "RSAT-RemoteAccess-PowerShell; Install-RemoteAccess -VpnType RoutingOnly\""},
    {0}};

const struct daemon_set_agent daemon_set_agent_calico = {
    .name = "calico",
    .title = "Calico",
    .daemon_set = "calico-node-windows",
    .config_map = "calico-windows-config",
    .object = {"crd.projectcalico.org", "v1", "ipamconfigs", "default"},
    .cni_bin = (const char *const[]){"cni-bin-dir", "CNI_BIN_DIR", NULL},
    .cni_conf = (const char *const[]){"cni-net-dir", "CNI_CONF_DIR", NULL},
    .prefixes_at = "Calico's Installation (calicoNetwork.ipPools, serviceCIDRs)",
    .networks = networks,
    .removal = "Calico's HNS networks External and Calico and the folder C:\\CalicoWindows: "
               "hnsdiag delete networks ID",
    .read = read,
    .check = check,
};
