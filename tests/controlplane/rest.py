"""The verbs on resources: what a request does to the store, with the checks of admission."""

import base64
import dataclasses
import ipaddress

from . import access, controllers, patches, pki, resources, selection, status

# Resources with a status subresource: a write to one side leaves the other as it is.
REVIEW = ("selfsubjectaccessreviews", "selfsubjectrulesreviews")


@dataclasses.dataclass
class Request:
    """One API request after authentication."""
    verb: str
    target: resources.Target
    user: str
    groups: list
    query: dict
    body: object = None
    content_type: str = ""


def verb_of(method, target, query):
    """The Kubernetes verb of an HTTP method on a target."""
    if method == "GET":
        if query.get("watch") in ("true", "1"):
            return "watch"
        return "get" if target.name else "list"
    if method == "DELETE":
        return "delete" if target.name else "deletecollection"
    return {"POST": "create", "PUT": "update", "PATCH": "patch", "HEAD": "get"}.get(method, "")


def attributes(request):
    t = request.target
    name = t.name
    if not name and request.verb in ("list", "watch"):
        name = selection.name_of(request.query)
    return access.Attributes(request.user, request.groups, request.verb, t.resource,
                             t.subresource, t.namespace, name,
                             fields=request.query.get("fieldSelector") or "")


class Rest:
    def __init__(self, store):
        self.store, self.node_ports = store, 30000

    def perform(self, request):
        """(HTTP code, object) of everything but a watch."""
        verb = request.verb
        if verb == "create":
            return self._create(request)
        if verb == "delete":
            return self._delete(request)
        return 200, {"get": self._get, "list": self._list, "update": self._update,
                     "patch": self._patch}[verb](request)

    def _get(self, request):
        t = request.target
        return self.store.get(t.resource, t.namespace, t.name)

    def _list(self, request):
        t = request.target
        items, version = self.store.list(t.resource, t.namespace)
        matches = selection.matcher(request.query)
        items = [i for i in items if matches(i)]
        meta = {"resourceVersion": version}
        start, limit = int(request.query.get("continue") or 0), int(request.query.get("limit") or 0)
        if limit and len(items) > start + limit:
            meta["continue"] = str(start + limit)
            meta["remainingItemCount"] = len(items) - start - limit
        items = items[start:start + limit] if limit else items[start:]
        for item in items:
            del item["kind"], item["apiVersion"]
        return {"kind": t.resource.kind + "List", "apiVersion": t.resource.api_version,
                "metadata": meta, "items": items}

    def _create(self, request):
        t, item = request.target, request.body
        if t.resource.plural in REVIEW:
            return 201, self._review(request)
        check_body(t, item)
        meta = item.setdefault("metadata", {})
        if not meta.get("name") and not meta.get("generateName"):
            raise status.invalid(t.resource, "", "metadata.name",
                                 "Required value: name or generateName is required")
        if meta.get("namespace", t.namespace) != t.namespace:
            raise status.bad_request("the namespace of the provided object does not match the "
                                     "namespace sent on the request")
        admit_node(request, meta.get("name", ""), item)
        {"certificatesigningrequests": admit_csr, "services": self._admit_service,
         "pods": admit_pod}.get(t.resource.plural, lambda *_: None)(request, item)
        return 201, self.store.create(t.resource, t.namespace, item)

    def _review(self, request):
        spec = request.body.get("spec", {})
        if request.target.resource.plural == REVIEW[1]:
            if not spec.get("namespace"):
                raise status.bad_request("no namespace on request")
            return {**request.body, "status": access.rules(self.store, request.user, request.groups,
                                                           spec["namespace"])}
        asked = spec.get("resourceAttributes")
        answer = {"allowed": False}
        if asked:
            known = [r for r in resources.TABLE if r.plural == asked.get("resource")
                     and r.group == asked.get("group", "")]
            if known:
                a = access.Attributes(request.user, request.groups, asked.get("verb", ""),
                                      known[0], asked.get("subresource", ""),
                                      asked.get("namespace", ""), asked.get("name", ""))
                answer["allowed"] = access.allowed(self.store, a)[0]
        elif spec.get("nonResourceAttributes"):
            path = spec["nonResourceAttributes"]
            a = access.Attributes(request.user, request.groups, path.get("verb", ""),
                                  path=path.get("path", ""))
            answer["allowed"] = access.allowed(self.store, a)[0]
        return {**request.body, "status": answer}

    def _admit_service(self, request, item):
        """Gives a Service its ClusterIP as the API server's allocator does."""
        spec = item.setdefault("spec", {})
        if not spec.get("clusterIP"):
            services = self.store.list(request.target.resource)[0]
            used = {s["spec"].get("clusterIP") for s in services}
            first = [next(s["spec"]["clusterIP"] for s in services
                          if s["metadata"]["name"] == "kubernetes")]
            if spec.get("ipFamilyPolicy") in ("PreferDualStack", "RequireDualStack"):
                first += next((s["spec"]["clusterIPs"][1:] for s in services
                               if s["spec"].get("clusterIPs", ())[1:]), [])
            n = 99
            while str(ipaddress.ip_address(first[0]) + n) in used:
                n += 1
            spec["clusterIPs"] = [str(ipaddress.ip_address(ip) + n) for ip in first]
            spec["clusterIP"] = spec["clusterIPs"][0]
        spec.setdefault("clusterIPs", [spec["clusterIP"]])
        spec.setdefault("type", "ClusterIP")
        for port in spec.get("ports") or ():
            port.setdefault("protocol", "TCP")
            port.setdefault("targetPort", port.get("port"))
            if spec["type"] == "NodePort":
                self.node_ports += 1
                port.setdefault("nodePort", self.node_ports)

    def _update(self, request):
        t, item = request.target, request.body
        check_body(t, item)
        if (item.get("metadata") or {}).get("name") != t.name:
            raise status.bad_request("the name of the object (%s) does not match the name on the "
                                     "URL (%s)" % ((item.get("metadata") or {}).get("name"), t.name))
        sent = item["metadata"].get("resourceVersion")
        return self._write(request, lambda old: self._checked(t, old, item, sent))

    @staticmethod
    def _checked(target, old, item, version):
        if version and version != old["metadata"]["resourceVersion"]:
            raise status.conflict(target.resource, target.name)
        return item

    def _patch(self, request):
        def change(old):
            new = patches.apply(request.content_type, old, request.body)
            sent = (new.get("metadata") or {}).get("resourceVersion")
            return self._checked(request.target, old, new, sent)
        return self._write(request, change)

    def _write(self, request, change):
        t = request.target

        def keep_other_side(old):
            new = change(old)
            if t.subresource == "status":
                meta = {**old["metadata"], "annotations": new["metadata"].get("annotations"),
                        "labels": new["metadata"].get("labels")}
                meta = {k: v for k, v in meta.items() if v is not None}
                new = {**old, "metadata": meta, "status": new.get("status", {})}
            elif t.subresource == "approval":
                conditions = new.get("status", {}).get("conditions", [])
                new = {**old, "status": {**old.get("status", {}), "conditions": conditions}}
            elif "status" in t.resource.subresources and "status" in old:
                new["status"] = old["status"]
            admit_node(request, t.name, new, old)
            return new
        return self.store.modify(t.resource, t.namespace, t.name, keep_other_side)

    def _delete(self, request):
        t, options = request.target, request.body or {}
        admit_node(request, t.name, self.store.find(t.resource, t.namespace, t.name))
        uid = (options.get("preconditions") or {}).get("uid")
        grace = options.get("gracePeriodSeconds", request.query.get("gracePeriodSeconds"))
        if t.resource.plural == "pods" and self._lingers(t, grace):
            return 200, self.store.modify(t.resource, t.namespace, t.name, terminating)
        gone = self.store.delete(t.resource, t.namespace, t.name, uid)
        return 200, gone if t.resource.plural == "pods" else status.success(t.resource, gone)

    def _lingers(self, target, grace):
        """A pod on a live node stays, marked, until its kubelet has stopped it."""
        pod = self.store.get(target.resource, target.namespace, target.name)
        node = pod.get("spec", {}).get("nodeName")
        return str(grace) != "0" and node and \
            self.store.find(resources.named("nodes"), "", node) is not None


def terminating(pod):
    pod["metadata"].setdefault("deletionTimestamp", controllers.timestamp())
    pod["metadata"]["deletionGracePeriodSeconds"] = 30
    return pod


def check_body(target, item):
    if not isinstance(item, dict):
        raise status.bad_request("the object provided is unrecognized (must be of type %s)"
                                 % target.resource.kind)
    kind = item.get("kind", target.resource.kind)
    version = item.get("apiVersion", target.resource.api_version)
    if (kind, version) != (target.resource.kind, target.resource.api_version):
        raise status.bad_request("%s in version \"%s\" cannot be handled as a %s: no kind \"%s\" "
                                 "is registered" % (kind, version, target.resource.kind, kind))


def admit_node(request, name, item, old=None):
    """NodeRestriction: a node writes its own Node, lease and pods."""
    node = access.Attributes(request.user, request.groups, "").node
    t = request.target
    plural = t.resource.plural
    if not node or plural not in ("nodes", "leases", "pods", "csinodes"):
        return
    if plural == "pods":
        owner = ((item or old or {}).get("spec") or {}).get("nodeName", node)
    else:
        owner = name
    if owner != node:
        raise status.forbidden(t.resource, name, 'node "%s" is not allowed to modify %s "%s"'
                               % (node, t.resource.kind.lower(), owner))
    if plural == "nodes" and request.verb == "delete":
        raise status.forbidden(t.resource, name, 'node "%s" is not allowed to delete node' % node)
    if plural == "nodes" and item:
        _admit_labels(t, name, item, old)


# Labels under kubernetes.io and k8s.io that a node may set on itself.
NODE_LABELS = ("kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch",
               "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone",
               "topology.kubernetes.io/region", "node.kubernetes.io/windows-build",
               "beta.kubernetes.io/os", "beta.kubernetes.io/arch")


def _admit_labels(target, name, item, old):
    before = ((old or {}).get("metadata") or {}).get("labels") or {}
    after = (item.get("metadata") or {}).get("labels") or {}
    for label in sorted(k for k, v in after.items() if before.get(k) != v):
        domain = label.split("/")[0] if "/" in label else ""
        ours = domain in ("kubernetes.io", "k8s.io") or domain.endswith((".kubernetes.io",
                                                                         ".k8s.io"))
        free = domain.endswith(("kubelet.kubernetes.io", "node.kubernetes.io"))
        if ours and not free and label not in NODE_LABELS:
            raise status.forbidden(target.resource, name, "is not allowed to set the following "
                                   "labels: " + label)


def admit_pod(request, item):
    """A node may create mirror pods only, bound to itself."""
    node = access.Attributes(request.user, request.groups, "").node
    annotations = (item.get("metadata") or {}).get("annotations") or {}
    name = (item.get("metadata") or {}).get("name", "")
    if node and "kubernetes.io/config.mirror" not in annotations:
        raise status.forbidden(request.target.resource, name,
                               'pod does not have "kubernetes.io/config.mirror" annotation, '
                               'node "%s" can only create mirror pods' % node)
    if node and (item.get("spec") or {}).get("nodeName") != node:
        raise status.forbidden(request.target.resource, name,
                               'node "%s" can only create pods with spec.nodeName set to itself'
                               % node)
    item.setdefault("status", {}).setdefault("phase", "Pending")


def admit_csr(request, item):
    """The server fills in who asks; the request must be a PEM CSR."""
    resource, name = request.target.resource, item["metadata"].get("name", "")
    spec = item.setdefault("spec", {})
    try:
        pki.parse_request(base64.b64decode(spec.get("request") or "", validate=True))
    except ValueError as e:
        raise status.invalid(resource, name, "spec.request",
                             "Invalid value: unable to parse csr: %s" % e) from None
    if not spec.get("signerName"):
        raise status.invalid(resource, name, "spec.signerName", "Required value")
    if not spec.get("usages"):
        raise status.invalid(resource, name, "spec.usages", "Required value")
    if spec.get("expirationSeconds", 600) < 600:
        raise status.invalid(resource, name, "spec.expirationSeconds", "Invalid value: %d: may "
                             "not specify a duration less than 600 seconds (10 minutes)"
                             % spec["expirationSeconds"])
    spec.update(username=request.user, groups=list(request.groups))
    item["status"] = {}
