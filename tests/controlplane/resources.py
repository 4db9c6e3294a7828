"""The table of resource types that the server knows, and how a URL names them."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Resource:
    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    subresources: tuple = ()

    @property
    def api_version(self):
        return self.group + "/" + self.version if self.group else self.version

    @property
    def qualified(self):
        return self.plural + ("." + self.group if self.group else "")

    @property
    def qualified_kind(self):
        return self.kind + ("." + self.group if self.group else "")


RBAC = "rbac.authorization.k8s.io"

TABLE = (
    Resource("", "v1", "namespaces", "Namespace", False, ("status",)),
    Resource("", "v1", "nodes", "Node", False, ("status",)),
    Resource("", "v1", "pods", "Pod", True, ("status",)),
    Resource("", "v1", "services", "Service", True, ("status",)),
    Resource("", "v1", "endpoints", "Endpoints", True),
    Resource("", "v1", "configmaps", "ConfigMap", True),
    Resource("", "v1", "secrets", "Secret", True),
    Resource("", "v1", "serviceaccounts", "ServiceAccount", True),
    Resource("", "v1", "events", "Event", True),
    Resource("events.k8s.io", "v1", "events", "Event", True),
    Resource("coordination.k8s.io", "v1", "leases", "Lease", True),
    Resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", True),
    Resource("certificates.k8s.io", "v1", "certificatesigningrequests",
             "CertificateSigningRequest", False, ("approval", "status")),
    Resource("apps", "v1", "daemonsets", "DaemonSet", True, ("status",)),
    Resource("apps", "v1", "deployments", "Deployment", True, ("status",)),
    Resource("networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", False, ("status",)),
    Resource("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", False),
    Resource("storage.k8s.io", "v1", "csinodes", "CSINode", False),
    Resource("storage.k8s.io", "v1", "csidrivers", "CSIDriver", False),
    Resource("crd.projectcalico.org", "v1", "ipamconfigs", "IPAMConfig", False),
    Resource(RBAC, "v1", "roles", "Role", True),
    Resource(RBAC, "v1", "rolebindings", "RoleBinding", True),
    Resource(RBAC, "v1", "clusterroles", "ClusterRole", False),
    Resource(RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", False),
    Resource("authorization.k8s.io", "v1", "selfsubjectaccessreviews",
             "SelfSubjectAccessReview", False),
    Resource("authorization.k8s.io", "v1", "selfsubjectrulesreviews",
             "SelfSubjectRulesReview", False),
)

BY_PATH = {(r.group, r.version, r.plural): r for r in TABLE}
BY_KIND = {(r.api_version, r.kind): r for r in TABLE}


def named(plural, group=None):
    """The resource of a plural (and group, where two share the plural)."""
    return next(r for r in TABLE if r.plural == plural and group in (None, r.group))


@dataclasses.dataclass
class Target:
    """What a resource URL points at."""
    resource: Resource
    namespace: str
    name: str
    subresource: str


def parse_path(path):
    """The Target of an API path, or None when it names no resource of the table."""
    parts = [p for p in path.split("/") if p]
    if parts[:1] == ["api"] and len(parts) >= 3:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[:1] == ["apis"] and len(parts) >= 4:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) >= 3 and (group, version, rest[2]) in BY_PATH:
        namespace, rest = rest[1], rest[2:]
    resource = BY_PATH.get((group, version, rest[0]))
    if resource is None or len(rest) > 3 or (namespace and not resource.namespaced):
        return None
    rest += ["", ""]
    if rest[2] and rest[2] not in resource.subresources:
        return None
    return Target(resource, namespace, rest[1], rest[2])


def group_versions():
    return sorted({(r.group, r.version) for r in TABLE if r.group})
