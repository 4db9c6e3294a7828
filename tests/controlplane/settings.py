"""The settings of one server: what the command line gives, what tests change."""

import dataclasses
import ipaddress


@dataclasses.dataclass
class Peer:
    """A Linux node that is there already, with what its flannel published."""
    name: str
    address: str
    subnet: str
    mac: str = ""
    address6: str = ""
    subnet6: str = ""

    @classmethod
    def parse(cls, text):
        """NAME=ADDRESS,SUBNET[,MAC[,ADDRESS6,SUBNET6]]"""
        name, _, rest = text.partition("=")
        return cls(name, *rest.split(","))


@dataclasses.dataclass
class Settings:
    host: str = "127.0.0.1"
    port: int = 0
    state: str = "."
    server: str = ""             # URL that cluster-info names
    names: list = dataclasses.field(default_factory=list)  # SANs of the serving certificate
    tokens: list = dataclasses.field(default_factory=lambda: ["abcdef.0123456789abcdef"])
    version: str = "v1.37.1"
    domain: str = "cluster.local"
    pods: str = "10.244.0.0/16"
    services: str = "10.96.0.0/12"
    dns_backend: str = ""        # address of the DNS server behind kube-dns; '' = the host
    node: str = "cp"             # name of the control plane's own Node; '' = none
    peers: list = dataclasses.field(default_factory=list)  # other nodes: see Peer
    flannel: str = "vxlan"       # backend of kube-flannel-cfg; '' = no flannel
    node_configuration: str = ""  # text of the cluster-wide winjoin defaults
    node_services: bool = True   # may nodes read what kube-proxy and flanneld need
    pod_cidrs: bool = True
    csr_mode: str = "auto"
    csr_delay: float = 0.0
    keep_expired: bool = False
    backlog: int = 128           # connections that may wait to be accepted
    rate: float = 0.0            # requests a second that are served, others get 429; 0 = all
    burst: int = 0               # so many at once all the same; 0 = as many as the rate

    @property
    def dns_ip(self):
        """As kubeadm: the tenth address of the first prefix."""
        return str(ipaddress.ip_network(self.services.split(",")[0])[10])
