#!/usr/bin/env python3
"""The recordings in other words: vary.py IN OUT [KIND...] writes each recording as other programs, clusters and
versions would have sent it. What the answers say is changed alike, so that hns-replay judges them the same way.
"""
import json
import pathlib
import re
import sys

DOCUMENTS = ("Document", "Request", "Query")
GUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


def in_documents(line, change, kinds=DOCUMENTS):
    """change(value) of each JSON document of a call, and of the filter inside of a query."""
    call = json.loads(line)
    for name in kinds:
        text = call.get("args", {}).get(name)
        if not text:
            continue
        try:
            document = json.loads(text)
        except ValueError:
            continue  # sent broken on purpose
        if isinstance(document, dict) and "Filter" in document:
            document["Filter"] = json.dumps(change(json.loads(document["Filter"])))
        call["args"][name] = json.dumps(change(document))
    return json.dumps(call)


def each(value, change):
    """change(object) of each object, the inner ones first."""
    if isinstance(value, list):
        return [each(item, change) for item in value]
    if isinstance(value, dict):
        return change({key: each(item, change) for key, item in value.items()})
    return value


# ---- kinds: each takes a line and answers another one ----

def names(line):
    for old, new in (("flannel.4096", "vxlan0"), ("cbr0", "pods-a"), ("OVNKubernetesHybridOverlayNetwork", "HybridNet"),
                     ("sandbox", "s"), ("eth0", "Ethernet")):
        line = line.replace(old, new)
    return line


def prefixes(line):
    for old, new in (("10.244.", "172.20."), ("10.96.", "192.168."), ("10.200.0.", "10.7.9."), ("10.132.", "10.8.")):
        line = line.replace(old, new)
    return line


def vnis(line):
    return re.sub(r'((?:IsolationId|VSID)\\*":\s*)(\d+)', lambda m: m[1] + str(16700000 + int(m[2]) % 10000), line)


def order(line):
    return in_documents(line, lambda value: each(value, lambda o: dict(reversed(o.items()))))


def case(line):
    return in_documents(line, lambda value: each(value, lambda o: {k[0].lower() + k[1:]: v for k, v in o.items()}))


def spaces(line):
    call = json.loads(line)
    for name in DOCUMENTS:
        text = call.get("args", {}).get(name)
        if text and text[0] == "{" and text[-1] == "}":
            call["args"][name] = json.dumps(json.loads(text), indent="\t")
    return json.dumps(call)


def unknown(line):
    """Members that HNS does not know, in the settings of policies: WMCO's nodes send some."""
    def change(o):
        if isinstance(o.get("Settings"), dict) and "Type" in o:
            o["Settings"]["LaterMember"] = {"A": [1, None]}
        return o
    return in_documents(line, lambda value: each(value, change))


EMPTY = ("Health", "MacPool", "Dns", "Policies", "Search", "ServerList", "Options", "Routes", "Owner")


def missing(line):
    """Optional members that say nothing are left out, as `omitempty` does."""
    def change(o):
        return {k: v for k, v in o.items() if not (k in EMPTY and not v) and k != "Health"}
    return in_documents(line, lambda value: each(value, change), ("Document", "Request"))


def nulls(line):
    """The same as null, as Go's nil slices and pointers."""
    def change(o):
        return {k: None if k in EMPTY and not v else v for k, v in o.items()}
    return in_documents(line, lambda value: each(value, change), ("Document", "Request"))


def guids(line):
    """As Windows writes them: in capitals and braces, inside of documents."""
    call = json.loads(line)
    for name in ("Document", "Request"):
        if call.get("args", {}).get(name):
            call["args"][name] = GUID.sub(lambda m: "{" + m[0].upper() + "}", call["args"][name])
    return json.dumps(call)


def words(line):
    """Flags by their names (the HCN JSON schema has them as an enumeration)."""
    call = json.loads(line)
    fn, text = call.get("fn", ""), call.get("args", {}).get("Document")
    known = {"HcnCreateNetwork": {8: "EnableNonPersistent"}, "HcnCreateEndpoint": {1: "RemoteEndpoint"}}.get(fn)
    if not known or not text:
        return line
    document = json.loads(text)
    if document.get("Flags") in known:
        document["Flags"] = known[document["Flags"]]
    call["args"]["Document"] = json.dumps(document)
    return json.dumps(call)


def schema(line):
    """What later versions of hcsshim say of themselves."""
    def change(o):
        if o.get("SchemaVersion") == {"Major": 2, "Minor": 0}:
            o["SchemaVersion"] = {"Major": 2, "Minor": 16}
        return o
    return in_documents(line, lambda value: each(value, change))


def later(line):
    """A newer Windows: what worked on Server 2022 goes on to work."""
    return re.sub(r'(\\"Major\\": )13(, \\"Minor\\": )2\b', r"\g<1>15\g<2>5", line)


V4 = re.compile(r"^10\.244\.(\d+)\.(\d+)$")


def v6(address, prefix=None):
    """fd00:10:244:1::7 for 10.244.1.7 (or its subnet); None for an address of no pod."""
    found = V4.match(address or "")
    return found and "fd00:10:244:%x::%s" % (int(found[1]), "%x" % int(found[2]) if prefix is None else prefix)


def dual(line):
    """Bridges of both families: each subnet, address and default route gets an IPv6 one beside it."""
    def change(o):
        subnets, addresses, routes = o.get("Subnets"), o.get("IpConfigurations"), o.get("Routes")
        if isinstance(subnets, list):
            for s in list(subnets):
                base = s.get("IpAddressPrefix", "").partition("/")[0]
                if v6(base):
                    subnets.append({"IpAddressPrefix": v6(base, "/64"), "Routes": [
                        {"NextHop": v6(base, "1"), "DestinationPrefix": "::/0"}]})
        if isinstance(addresses, list) and "HostComputeNetwork" in o:
            addresses += [{"IpAddress": v6(a["IpAddress"])} | ({"PrefixLength": 64} if "PrefixLength" in a else {})
                          for a in list(addresses) if v6(a.get("IpAddress"))]
            if isinstance(routes, list):
                routes += [{"NextHop": v6(r["NextHop"]), "DestinationPrefix": "::/0"}
                           for r in list(routes) if v6(r.get("NextHop"))]
        return o
    call = json.loads(in_documents(line, lambda value: each(value, change), ("Document",)))
    call["out"] = [json.dumps(each(json.loads(o), change)) if o and o[0] == "{" else o for o in call.get("out", ())]
    return json.dumps(call)


def has_families(text):
    """No Overlay, no older Windows, and not yet IPv6."""
    return not re.search(r'Overlay|fd00:|\\"Major\\": 9\b|/endpoints/', text)


KINDS = {f.__name__: f for f in (names, prefixes, vnis, order, case, spaces, unknown, missing, nulls, guids, words,
                                 schema, later, dual)}


def main(folder, out, *kinds):
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.jsonl"):
        old.unlink()
    for kind in kinds or KINDS:
        for path in sorted(folder.glob("*.jsonl")):
            text = path.read_text()
            if kind == "dual" and not has_families(text):
                continue
            name = "%s+%s" % (kind, path.name.replace("13.2", "15.5") if kind == "later" else path.name)
            (out / name).write_text("".join(KINDS[kind](line) + "\n" for line in text.splitlines()))


if __name__ == "__main__":
    if len(sys.argv) < 3 or set(sys.argv[3:]) - set(KINDS):
        sys.exit(__doc__ + "KIND: " + ", ".join(KINDS))
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), *sys.argv[3:])
