"""HNS documents as the data plane needs them: networks, endpoints, load balancers. Pure."""
import ipaddress
from dataclasses import dataclass, field

EXTERNAL = ("L2Bridge", "L2Tunnel", "Overlay", "Transparent")
PROTOCOLS = {6: "tcp", 17: "udp"}


def get(doc, name, default=None):
    """A member by its name, whatever its case; absent and null are the same."""
    for key, value in (doc or {}).items():
        if key.lower() == name.lower() and value is not None:
            return value
    return default


def policies(doc, kind):
    """The Settings of every policy of that type."""
    return [get(p, "Settings", {}) for p in get(doc, "Policies", [])
            if get(p, "Type", "").lower() == kind.lower()]


@dataclass
class Network:
    id: str
    name: str
    kind: str
    adapter: str
    subnets: list  # of ip_network
    gateways: list  # what the subnets' default routes name
    vni: int
    port: int
    mac: str  # DrMacAddress
    host_route: bool
    automatic_dns: bool  # OVN-Kubernetes' networks have it
    remotes: list  # of Remote


@dataclass
class Remote:
    subnet: str
    vni: int
    host: str
    mac: str


@dataclass
class Endpoint:
    id: str
    name: str
    network: Network
    namespace: str  # GUID, lower case; "" = in none
    addresses: list  # of (address, prefix length)
    mac: str
    remote: bool
    on_host: bool  # attached to the host's own compartment
    routes: list  # of (destination, next hop)
    dns: dict
    provider: str
    nat: list  # of Nat
    sdn: list  # destination prefixes with NeedEncap
    acls: list
    ports: list  # of PortMapping settings
    mtu: int


@dataclass
class Nat:
    exceptions: list
    destinations: list
    virtual: str = ""  # the address that packets get, in the place of the node's


@dataclass
class Balancer:
    id: str
    vips: list  # empty = the node's own address
    source: str
    protocol: str
    port: int
    inner: int
    affinity: bool
    backends: list  # of Endpoint


@dataclass
class State:
    networks: list = field(default_factory=list)
    endpoints: list = field(default_factory=list)
    balancers: list = field(default_factory=list)
    namespaces: set = field(default_factory=set)
    adapters: list = field(default_factory=list)


def parse(state):
    """The whole state that hnsd hands over (hns_model_state) as a State."""
    got = State(adapters=get(state, "adapters", []))
    got.networks = [_network(n) for n in get(state, "networks", [])]
    nets = {n.id: n for n in got.networks}
    homes = {}
    for space in get(state, "namespaces", []):
        got.namespaces.add(guid(get(space, "ID", "")))
        for res in get(space, "Resources", []):
            if get(res, "Type", "").lower() == "endpoint":
                homes[guid(get(get(res, "Data", {}), "Id", ""))] = guid(get(space, "ID", ""))
    for doc in get(state, "endpoints", []):
        net = nets.get(guid(get(doc, "HostComputeNetwork", "")))
        if net:
            got.endpoints.append(_endpoint(doc, net, homes))
    ends = {e.id: e for e in got.endpoints}
    for doc in get(state, "loadBalancers", []):
        got.balancers += _balancers(doc, ends)
    return got


def guid(text):
    return str(text).strip("{}").lower()


def colons(mac):
    return str(mac or "").replace("-", ":").lower()


def _network(doc):
    subnets, gateways, vni = [], [], 0
    for ipam in get(doc, "Ipams", []):
        for sub in get(ipam, "Subnets", []):
            prefix = get(sub, "IpAddressPrefix", "")
            if prefix:
                subnets.append(ipaddress.ip_network(prefix, strict=False))
            gateways += [get(r, "NextHop", "") for r in get(sub, "Routes", [])]
            for iso in policies(sub, "VSID"):
                vni = vni or int(get(iso, "IsolationId", 0))
    remotes = [Remote(get(p, "DestinationPrefix", ""), int(get(p, "IsolationId", 0)),
                      get(p, "ProviderAddress", ""),
                      colons(get(p, "DistributedRouterMacAddress", "")))
               for p in policies(doc, "RemoteSubnetRoute")]
    port = [int(get(p, "Port", 4789)) for p in policies(doc, "VxlanPort")] or [4789]
    mac = [colons(get(p, "Address", "")) for p in policies(doc, "DrMacAddress")] or [""]
    named = [get(p, "NetworkAdapterName", "") for p in policies(doc, "NetAdapterName")] or [""]
    return Network(guid(get(doc, "ID", "")), get(doc, "Name", ""), get(doc, "Type", "NAT"),
                   get(doc, "Adapter", named[0]), subnets, [g for g in gateways if g], vni,
                   port[0], mac[0], bool(policies(doc, "HostRoute")),
                   any(get(p, "Enable", False) for p in policies(doc, "AutomaticDNS")), remotes)


def _endpoint(doc, net, homes):
    eid = guid(get(doc, "ID", ""))
    attached = get(doc, "Attached", {})
    addresses = []
    for conf in get(doc, "IpConfigurations", []):
        if get(conf, "IpAddress"):
            addresses.append((get(conf, "IpAddress"),
                              int(get(conf, "PrefixLength", 0)) or _length(net, conf)))
    nats = [Nat(_list(get(p, "Exceptions", [])), _list(get(p, "Destinations", [])), get(p, "VirtualIP", ""))
            for p in policies(doc, "OutBoundNAT")]
    return Endpoint(
        eid, get(doc, "Name", ""), net,
        homes.get(eid) or guid(get(doc, "HostComputeNamespace", "")), addresses,
        colons(get(doc, "MacAddress", "")), bool(_number(get(doc, "Flags", 0)) & 1),
        get(attached, "SystemType", "") == "Host" and get(attached, "State") in (2, 3),
        [(get(r, "DestinationPrefix", ""), get(r, "NextHop", "")) for r in get(doc, "Routes", [])],
        get(doc, "Dns", {}),
        "".join(get(p, "ProviderAddress", "") for p in policies(doc, "ProviderAddress")[:1]), nats,
        [get(p, "DestinationPrefix", "") for p in policies(doc, "SDNRoute")
         if get(p, "NeedEncap", False)],
        policies(doc, "ACL"), policies(doc, "PortMapping"),
        max([int(get(p, "Mtu", 0)) for p in policies(doc, "InterfaceParameters")] or [0]))


def _list(value):
    return value.split(",") if isinstance(value, str) else list(value)


def _number(value):
    try:
        return int(value)
    except ValueError:
        return 0


def _length(net, conf):
    address = ipaddress.ip_address(get(conf, "IpAddress"))
    for sub in net.subnets:
        if address in sub:
            return sub.prefixlen
    return address.max_prefixlen


def _balancers(doc, ends):
    backends = [ends[e] for e in map(guid, get(doc, "HostComputeEndpoints", [])) if e in ends]
    out = []
    for m in get(doc, "PortMappings", []):
        proto = PROTOCOLS.get(int(get(m, "Protocol", 0)))
        if proto:
            out.append(Balancer(guid(get(doc, "ID", "")), list(get(doc, "FrontendVIPs", [])),
                                get(doc, "SourceVIP", ""), proto, int(get(m, "ExternalPort", 0)),
                                int(get(m, "InternalPort", 0)),
                                int(get(m, "DistributionType", 0)) != 0, backends[:64]))
    return out
