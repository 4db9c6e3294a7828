"""What is in a fresh cluster: the objects that `kubeadm init` and its addons create."""

import base64
import ipaddress
import json

from . import resources, tokens
from .access import rule

BOOTSTRAPPERS, NODES = tokens.DEFAULT_GROUP, "system:nodes"

CLUSTER_CONFIGURATION = """\
apiServer: {{}}
apiVersion: kubeadm.k8s.io/v1beta4
caCertificateValidityPeriod: 87600h0m0s
certificateValidityPeriod: 8760h0m0s
certificatesDir: /etc/kubernetes/pki
clusterName: kubernetes
controllerManager: {{}}
dns: {{}}
encryptionAlgorithm: RSA-2048
etcd:
  local:
    dataDir: /var/lib/etcd
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: {version}
networking:
  dnsDomain: {domain}
  podSubnet: {pods}
  serviceSubnet: {services}
proxy: {{}}
scheduler: {{}}
"""

# As kubeadm uploads it, Linux fields and zero durations included.
KUBELET_CONFIGURATION = """\
apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
authorization:
  mode: Webhook
  webhook:
    cacheAuthorizedTTL: 0s
    cacheUnauthorizedTTL: 0s
cgroupDriver: systemd
clusterDNS:
- {dns}
clusterDomain: {domain}
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {{}}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
kind: KubeletConfiguration
logging:
  flushFrequency: 0
  options:
    json:
      infoBufferSize: "0"
    text:
      infoBufferSize: "0"
  verbosity: 0
memorySwap: {{}}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
resolvConf: /run/systemd/resolve/resolv.conf
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
"""

PROXY_CONFIGURATION = """\
apiVersion: kubeproxy.config.k8s.io/v1alpha1
bindAddress: 0.0.0.0
bindAddressHardFail: false
clientConnection:
  acceptContentTypes: ""
  burst: 0
  contentType: ""
  kubeconfig: /var/lib/kube-proxy/kubeconfig.conf
  qps: 0
clusterCIDR: {pods}
configSyncPeriod: 0s
conntrack:
  maxPerCore: null
  min: null
  tcpCloseWaitTimeout: null
  tcpEstablishedTimeout: null
detectLocalMode: ""
enableProfiling: false
healthzBindAddress: ""
hostnameOverride: ""
kind: KubeProxyConfiguration
metricsBindAddress: ""
mode: ""
nodePortAddresses: null
oomScoreAdj: null
portRange: ""
showHiddenMetricsForVersion: ""
winkernel:
  enableDSR: false
  forwardHealthCheckVip: false
  networkName: ""
  rootHnsEndpointName: ""
  sourceVip: ""
"""

PROXY_KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt
    server: {server}
  name: default
contexts:
- context:
    cluster: default
    namespace: default
    user: default
  name: default
current-context: default
users:
- name: default
  user:
    tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
"""

CLUSTER_INFO_KUBECONFIG = """\
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: {ca}
    server: {server}
  name: ""
contexts: null
current-context: ""
kind: Config
users: null
"""

COREFILE = """\
.:53 {{
    errors
    health {{
       lameduck 5s
    }}
    ready
    kubernetes {domain} in-addr.arpa ip6.arpa {{
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }}
    prometheus :9153
    forward . /etc/resolv.conf {{
       max_concurrent 1000
    }}
    cache 30 {{
       disable success {domain}
       disable denial {domain}
    }}
    loop
    reload
    loadbalance
}}
"""

# Roles: (namespace or '', name, rules)
ROLES = (
    ("kube-public", "kubeadm:bootstrap-signer-clusterinfo",
     [rule("get", "", "configmaps", ["cluster-info"])]),
    ("kube-system", "kubeadm:nodes-kubeadm-config",
     [rule("get", "", "configmaps", ["kubeadm-config"])]),
    ("kube-system", "kubeadm:kubelet-config",
     [rule("get", "", "configmaps", ["kubelet-config"])]),
    ("kube-system", "kube-proxy", [rule("get", "", "configmaps", ["kube-proxy"])]),
    ("kube-system", "windows-defaults", [rule("get", "", "configmaps", ["winjoin"])]),
    ("", "kubeadm:get-nodes", [rule("get", "", "nodes")]),
    ("", "cluster-admin", [rule("*", "*", "*"), {"verbs": ["*"], "nonResourceURLs": ["*"]}]),
    ("", "system:node-bootstrapper",
     [rule("create,get,list,watch", "certificates.k8s.io", "certificatesigningrequests")]),
    ("", "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
     [rule("create", "certificates.k8s.io", "certificatesigningrequests/nodeclient")]),
    ("", "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
     [rule("create", "certificates.k8s.io", "certificatesigningrequests/selfnodeclient")]),
    ("", "system:node-proxier",
     [rule("list,watch", "", "services,endpoints"), rule("get,list,watch", "", "nodes"),
      rule("create,patch,update", "", "events"),
      rule("create,patch,update", "events.k8s.io", "events"),
      rule("list,watch", "discovery.k8s.io", "endpointslices"),
      rule("list,watch", "networking.k8s.io", "servicecidrs")]),
    ("", "system:basic-user",
     [rule("create", "authorization.k8s.io", "selfsubjectaccessreviews,selfsubjectrulesreviews")]),
    ("", "system:discovery",
     [{"verbs": ["get"], "nonResourceURLs": ["/api", "/api/*", "/apis", "/apis/*", "/healthz",
                                             "/livez", "/readyz", "/version", "/version/"]}]),
    ("", "system:public-info-viewer",
     [{"verbs": ["get"], "nonResourceURLs": ["/healthz", "/livez", "/readyz", "/version",
                                             "/version/"]}]),
    ("", "windows-network-agents",
     [rule("list", "apps", "daemonsets"),
      rule("get", "", "configmaps", ["calico-windows-config", "antrea-windows-config", "antrea-config",
                                     "kube-flannel-cfg"]),
      rule("list", "", "services"),
      rule("get", "crd.projectcalico.org", "ipamconfigs", ["default"])]),
    ("", "flannel", [rule("list,watch", "", "nodes")]),
)

GROUP, USER = "Group", "User"

# Bindings: (namespace or '', name, role kind, role, subjects)
BINDINGS = (
    ("kube-public", "kubeadm:bootstrap-signer-clusterinfo", "Role",
     "kubeadm:bootstrap-signer-clusterinfo", [(USER, "system:anonymous")]),
    ("kube-system", "kubeadm:nodes-kubeadm-config", "Role", "kubeadm:nodes-kubeadm-config",
     [(GROUP, BOOTSTRAPPERS), (GROUP, NODES)]),
    ("kube-system", "kubeadm:kubelet-config", "Role", "kubeadm:kubelet-config",
     [(GROUP, NODES), (GROUP, BOOTSTRAPPERS)]),
    ("kube-system", "kube-proxy", "Role", "kube-proxy", [(GROUP, BOOTSTRAPPERS)]),
    ("", "kubeadm:get-nodes", "ClusterRole", "kubeadm:get-nodes", [(GROUP, BOOTSTRAPPERS)]),
    ("", "cluster-admin", "ClusterRole", "cluster-admin", [(GROUP, "system:masters")]),
    ("", "kubeadm:kubelet-bootstrap", "ClusterRole", "system:node-bootstrapper",
     [(GROUP, BOOTSTRAPPERS)]),
    ("", "kubeadm:node-autoapprove-bootstrap", "ClusterRole",
     "system:certificates.k8s.io:certificatesigningrequests:nodeclient", [(GROUP, BOOTSTRAPPERS)]),
    ("", "kubeadm:node-autoapprove-certificate-rotation", "ClusterRole",
     "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", [(GROUP, NODES)]),
    ("", "system:node-proxier", "ClusterRole", "system:node-proxier",
     [(USER, "system:kube-proxy")]),
    ("", "system:basic-user", "ClusterRole", "system:basic-user",
     [(GROUP, "system:authenticated")]),
    ("", "system:discovery", "ClusterRole", "system:discovery", [(GROUP, "system:authenticated")]),
    ("", "system:public-info-viewer", "ClusterRole", "system:public-info-viewer",
     [(GROUP, "system:authenticated"), (GROUP, "system:unauthenticated")]),
)

# What an administrator adds so that the agents may run under the node's identity.
NODE_SERVICE_BINDINGS = (
    ("", "nodes-run-kube-proxy", "ClusterRole", "system:node-proxier", [(GROUP, NODES)]),
    ("", "nodes-run-flannel", "ClusterRole", "flannel", [(GROUP, NODES)]),
    ("kube-system", "windows-defaults", "Role", "windows-defaults", [(GROUP, BOOTSTRAPPERS), (GROUP, NODES)]),
    ("", "windows-network-agents", "ClusterRole", "windows-network-agents", [(GROUP, BOOTSTRAPPERS), (GROUP, NODES)]),
)


def _create(store, plural, namespace, name, **fields):
    store.create(resources.named(plural), namespace, {"metadata": {"name": name}, **fields})


def _configmap(store, namespace, name, **data):
    _create(store, "configmaps", namespace, name,
            data={k.replace("__", ".").replace("_", "-"): v for k, v in data.items()})


def _roles(store):
    for namespace, name, rules in ROLES:
        _create(store, "roles" if namespace else "clusterroles", namespace, name, rules=rules)


def bind(store, bindings):
    for namespace, name, kind, role, subjects in bindings:
        group = resources.RBAC
        _create(store, "rolebindings" if namespace else "clusterrolebindings", namespace, name,
                roleRef={"apiGroup": group, "kind": kind, "name": role},
                subjects=[{"apiGroup": group, "kind": k, "name": n} for k, n in subjects])


def _configmaps(store, setup, ca_pem):
    values = {"version": setup.version, "domain": setup.domain, "pods": setup.pods,
              "services": setup.services, "dns": setup.dns_ip, "server": setup.server,
              "ca": base64.b64encode(ca_pem).decode()}
    _configmap(store, "kube-public", "cluster-info",
               kubeconfig=CLUSTER_INFO_KUBECONFIG.format(**values))
    _configmap(store, "kube-system", "kubeadm-config",
               ClusterConfiguration=CLUSTER_CONFIGURATION.format(**values))
    _configmap(store, "kube-system", "kubelet-config",
               kubelet=KUBELET_CONFIGURATION.format(**values))
    _configmap(store, "kube-system", "kube-proxy", config__conf=PROXY_CONFIGURATION.format(**values),
               kubeconfig__conf=PROXY_KUBECONFIG.format(**values))
    _configmap(store, "kube-system", "coredns", Corefile=COREFILE.format(**values))
    _configmap(store, "kube-system", "kube-root-ca.crt", ca__crt=ca_pem.decode())
    _flannel(store, setup)
    if setup.node_configuration:
        _configmap(store, "kube-system", "winjoin", NodeConfiguration=setup.node_configuration)
        _create(store, "roles", "kube-system", "winjoin",
                rules=[rule("get", "", "configmaps", ["winjoin"])])
        bind(store, [("kube-system", "winjoin", "Role", "winjoin",
                      [(GROUP, BOOTSTRAPPERS), (GROUP, NODES)])])


def _flannel(store, setup):
    backend = {"host-gw": {"Type": "host-gw"},
               "vxlan": {"Type": "vxlan", "VNI": 4096, "Port": 4789}}.get(setup.flannel)
    if backend:
        _create(store, "namespaces", "", "kube-flannel")
        conf = {"Network": next((p for p in setup.pods.split(",") if ":" not in p), ""), "EnableNFTables": False, "Backend": backend}
        _configmap(store, "kube-flannel", "kube-flannel-cfg",
                   net_conf__json=json.dumps(conf, indent=2) + "\n")


def _service(store, namespace, name, cluster_ips, ports, addresses, node=None):
    """With a cluster IP, and so a slice, of each family that there is; its pods are on that node."""
    families = ["IPv6" if ":" in ip else "IPv4" for ip in cluster_ips]
    store.create(resources.named("services"), namespace, {
        "metadata": {"name": name},
        "spec": {"clusterIP": cluster_ips[0], "clusterIPs": cluster_ips, "type": "ClusterIP",
                 "ipFamilies": families,
                 "ipFamilyPolicy": "RequireDualStack" if families[1:] else "SingleStack",
                 "internalTrafficPolicy": "Cluster", "sessionAffinity": "None", "ports": ports},
        "status": {"loadBalancer": {}}})
    for family in families:
        store.create(resources.named("endpointslices"), namespace, {
            "metadata": {"name": name + ("-6" if family == "IPv6" else ""),
                         "labels": {"kubernetes.io/service-name": name}},
            "addressType": family,
            "endpoints": [{"addresses": [a], **({"nodeName": node} if node else {}),
                           "conditions": {"ready": True, "serving": True, "terminating": False}}
                          for a in addresses if (":" in a) == (family == "IPv6")],
            "ports": [{"name": p["name"], "port": p["targetPort"], "protocol": p["protocol"]}
                      for p in ports]})


def _services(store, setup):
    prefixes = [ipaddress.ip_network(p) for p in setup.services.split(",")]
    _service(store, "default", "kubernetes", [str(prefixes[0][1])],
             [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": setup.port}],
             [setup.host])
    _service(store, "kube-system", "kube-dns",
             [str(prefix[10]) for prefix in prefixes],
             [{"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
              {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53}],
             (setup.dns_backend or setup.host).split(","), setup.peers[0].name if setup.dns_backend and setup.peers else None)


def linux_node(setup, name, address):
    """A Ready Linux node."""
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady",
             "message": "kubelet is posting ready status"}
    return {"metadata": {"name": name, "labels": {
                "kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64"}},
            "spec": {},
            "status": {"addresses": [{"type": "InternalIP", "address": address},
                                     {"type": "Hostname", "address": name}],
                       "conditions": [ready],
                       "nodeInfo": {"kubeletVersion": setup.version, "operatingSystem": "linux",
                                    "architecture": "amd64", "osImage": "Debian GNU/Linux 12",
                                    "kubeProxyVersion": "", "kernelVersion": "6.1.0",
                                    "containerRuntimeVersion": "containerd://2.4.2"}}}


def control_plane_node(setup):
    node = linux_node(setup, setup.node, setup.host)
    node["metadata"]["labels"]["node-role.kubernetes.io/control-plane"] = ""
    node["spec"]["taints"] = [{"key": "node-role.kubernetes.io/control-plane",
                               "effect": "NoSchedule"}]
    return node


def peer_node(setup, peer):
    """A node whose flannel has published its way in."""
    node, prefix = linux_node(setup, peer.name, peer.address), "flannel.alpha.coreos.com/"
    node["spec"].update(podCIDR=peer.subnet,
                        podCIDRs=[peer.subnet] + ([peer.subnet6] if peer.subnet6 else []))
    if peer.address6:
        node["status"]["addresses"].insert(1, {"type": "InternalIP", "address": peer.address6})
    if setup.flannel:
        data = {"VNI": 4096, "VtepMAC": peer.mac} if setup.flannel == "vxlan" else None
        node["metadata"]["annotations"] = {
            prefix + "backend-data": json.dumps(data), prefix + "backend-type": setup.flannel,
            prefix + "kube-subnet-manager": "true", prefix + "public-ip": peer.address}
    return node


def fill(store, setup, ca_pem):
    """Lays everything into an empty store."""
    for namespace in ("default", "kube-system", "kube-public", "kube-node-lease"):
        _create(store, "namespaces", "", namespace, status={"phase": "Active"})
    _roles(store)
    bind(store, BINDINGS)
    if setup.node_services:
        bind(store, NODE_SERVICE_BINDINGS)
    for token in setup.tokens:
        store.create(resources.named("secrets"), "kube-system", tokens.secret_of(token))
    _configmaps(store, setup, ca_pem)
    _services(store, setup)
    for peer in setup.peers:
        store.create(resources.named("nodes"), "", peer_node(setup, peer))
    if setup.node:
        store.create(resources.named("nodes"), "", control_plane_node(setup))
