"""Who may do what: RBAC over the stored roles and bindings, and the node authorizer."""

import dataclasses

from . import resources, status

ANONYMOUS = ("system:anonymous", ["system:unauthenticated"])
NODE_PREFIX = "system:node:"
ROLE, ROLE_BINDING = resources.named("roles"), resources.named("rolebindings")
CLUSTER_ROLE = resources.named("clusterroles")
CLUSTER_ROLE_BINDING = resources.named("clusterrolebindings")


@dataclasses.dataclass
class Attributes:
    """One request as the authorizer sees it; path is set for what is not a resource."""
    user: str
    groups: list
    verb: str
    resource: resources.Resource = None
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    fields: str = ""

    @property
    def node(self):
        """The node's name when a node asks."""
        mine = self.user.startswith(NODE_PREFIX) and "system:nodes" in self.groups
        return self.user[len(NODE_PREFIX):] if mine else ""


def rule(verbs, group, plurals, names=()):
    made = {"verbs": verbs.split(","), "apiGroups": [group], "resources": plurals.split(",")}
    if names:
        made["resourceNames"] = list(names)
    return made


def _has(values, wanted):
    return "*" in values or wanted in values


def _rule_allows(r, a):
    if not _has(r["verbs"], a.verb):
        return False
    if a.path:
        return any(u == a.path or u.endswith("*") and a.path.startswith(u[:-1])
                   for u in r.get("nonResourceURLs", ()))
    full = a.resource.plural + ("/" + a.subresource if a.subresource else "")
    if not _has(r.get("apiGroups", ()), a.resource.group) or not _has(r.get("resources", ()), full):
        return False
    return not r.get("resourceNames") or a.name in r["resourceNames"]


def _subject_matches(subject, a):
    kind, name = subject.get("kind"), subject.get("name")
    if kind == "ServiceAccount":
        return a.user == "system:serviceaccount:%s:%s" % (subject.get("namespace"), name)
    return kind == "Group" and name in a.groups or kind == "User" and name == a.user


def _bound_rules(store, a):
    """Every rule bound to the user, cluster-wide or in the namespace asked for."""
    bindings = store.list(CLUSTER_ROLE_BINDING)[0]
    if a.namespace:
        bindings += store.list(ROLE_BINDING, a.namespace)[0]
    for binding in bindings:
        if not any(_subject_matches(s, a) for s in binding.get("subjects") or ()):
            continue
        ref = binding["roleRef"]
        if ref["kind"] == "ClusterRole":
            role = store.find(CLUSTER_ROLE, "", ref["name"])
        else:
            role = store.find(ROLE, a.namespace, ref["name"])
        yield from (role or {}).get("rules") or ()


# What every node may do (the node authorizer's rules); own objects are checked below.
NODE_RULES = (
    rule("get,list,watch", "", "services"),
    rule("create,get,list,watch", "", "nodes"),
    rule("update,patch", "", "nodes,nodes/status"),
    rule("create,patch,update", "", "events"),
    rule("create,patch,update", "events.k8s.io", "events"),
    rule("get,list,watch,create,delete", "", "pods"),
    rule("update,patch", "", "pods/status"),
    rule("create,get,list,watch", "certificates.k8s.io", "certificatesigningrequests"),
    rule("create,get,update,patch,delete", "coordination.k8s.io", "leases"),
    rule("get,create,update,patch,delete", "storage.k8s.io", "csinodes"),
    rule("get,list,watch", "storage.k8s.io", "csidrivers"),
    rule("get,list,watch", "node.k8s.io", "runtimeclasses"),
)


def _node_refusal(a):
    """Why the node authorizer does not allow a request of its own rules ('' = it does)."""
    plural, reads = a.resource.plural, a.verb in ("get", "list", "watch")
    own = "node '%s' cannot read " % a.node
    if plural == "nodes" and reads and a.name != a.node:
        if a.verb != "get" and a.fields == "metadata.name=" + a.node:
            return ""
        return own + ("'%s', only its own Node object" % a.name if a.name
                      else "all nodes, only its own Node object")
    if plural == "pods" and a.verb in ("list", "watch") \
            and "spec.nodeName=" + a.node not in a.fields.split(","):
        return "can only list/watch pods with spec.nodeName field selector"
    if plural in ("leases", "csinodes") and a.verb != "create" and a.name != a.node:
        return "can only access %s with the same name as the requesting node" % plural
    if plural == "leases" and a.namespace != "kube-node-lease":
        return "can only access leases in the \"kube-node-lease\" system namespace"
    return ""


def allowed(store, a):
    """(True, '') or (False, the authorizer's extra reason)."""
    if "system:masters" in a.groups:
        return True, ""
    reason = ""
    if a.node and a.resource and any(_rule_allows(r, a) for r in NODE_RULES):
        reason = _node_refusal(a)
        if not reason:
            return True, ""
    return any(_rule_allows(r, a) for r in _bound_rules(store, a)), reason


def rules(store, user, groups, namespace):
    """The answer of a SelfSubjectRulesReview: what RBAC grants; the node authorizer tells none of its rules."""
    bound = list(_bound_rules(store, Attributes(user, groups, "", namespace=namespace)))
    if "system:masters" in groups:
        bound.append({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]})
    return {"resourceRules": [r for r in bound if "resources" in r],
            "nonResourceRules": [r for r in bound if "nonResourceURLs" in r], "incomplete": True,
            "evaluationError": "node authorizer does not support user rule resolution"}


def require(store, a):
    ok, reason = allowed(store, a)
    if not ok:
        raise status.forbidden_access(a, reason)


def may(store, user, groups, verb, plural, subresource=""):
    """A question about another user, as a SubjectAccessReview asks it."""
    resource = resources.named(plural)
    return allowed(store, Attributes(user, groups, verb, resource, subresource))[0]
