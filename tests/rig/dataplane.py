#!/usr/bin/env python3
"""The data plane of one Windows node: HNS documents become devices, routes and nftables rules.

    dataplane.py --config FILE

FILE is what winhost.py writes: {"netns","nic","alias","origin","addresses","gateway","dns",
"folder","prefix","podPrefix","port","hnsPort"}. Standard input: one JSON object a line, either the
whole state (the shape of hns_model_state in tests/hns/hns.h) or {"op": ...}; one line is answered
for each, {"ok":true,...} or {"ok":false,"error":...}. The same requests, and "net ..." lines for
the iphlpapi stand-in, are taken on 127.0.0.1:port of the node.

Operations: sandbox {namespace, remove?}; exec {namespace, command[], mounts[{host,container}], env,
hosts[], folder?}; exec-wait {handle, timeoutMs, from?} (output from that byte on, and where it ends);
exec-kill {handle}; net {line}; facts (what exists).
"""
import argparse
import json
import os
import socket
import sys
import threading

import adapters
import documents
import netns
import packets
import sandbox

OPS = {}


def op(name):
    def register(function):
        OPS[name] = function
        return function
    return register


class DataPlane:
    def __init__(self, config):
        self.config = config
        self.path = os.path.join(config["folder"], "dataplane.json")
        self.kept = self._load()
        self.lock = threading.RLock()
        self.adapters = adapters.Adapters(config, self.kept.setdefault("adapters", {}))
        self.sandboxes = sandbox.Sandboxes(config, self.kept)
        self.made = {f["key"]: packets.Fact(f["key"], f["ns"], tuple(f["make"]),
                                            tuple(f["unmake"]), f["tool"])
                     for f in self.kept.get("made", [])}
        self.rules = None
        self.state = documents.parse(self.kept.get("state", {}))
        netns.sysctl(config["netns"], {"net/ipv4/ip_forward": 1, "net/ipv4/conf/all/rp_filter": 0,
                                       "net/ipv4/conf/default/rp_filter": 0})
        if os.path.exists("/proc/sys/net/ipv6"):
            netns.sysctl(config["netns"], {"net/ipv6/conf/all/forwarding": 1})

    def _load(self):
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as f:
                return json.load(f)
        return {}

    def _save(self):
        self.kept["made"] = [vars(f) for f in self.made.values()]
        with open(self.path + ".new", "w", encoding="utf-8") as f:
            json.dump(self.kept, f)
        os.replace(self.path + ".new", self.path)

    # ---- documents -> packets ----------------------------------------------------------------

    def apply(self, state):
        self.kept["state"] = state
        self.state = documents.parse(state)
        return self.reconcile()

    def reconcile(self):
        """Unmakes what is no longer asked for, makes what is new; says what did not work."""
        host = self.adapters.follow(self.state)
        for guid in set(self.sandboxes.pods()) - self.state.namespaces:
            self._leave(guid)
        host.pods = {g: ns for g, ns in self.sandboxes.pods().items()
                     if g in self.state.namespaces}
        wanted = {f.key: f for f in packets.sink(host, self.config["gateway"])
                  + packets.facts(self.state, host)}
        for key in [k for k in reversed(self.made) if self.made[k] != wanted.get(k)]:
            fact = self.made.pop(key)
            self._run(fact, fact.unmake)
        failed = []
        for key, fact in wanted.items():
            if key not in self.made:
                try:
                    self._run(fact, fact.make, check=True)
                    self.made[key] = fact
                except RuntimeError as why:
                    failed.append("%s: %s" % (key, why))
        self._names()
        text = packets.rules(self.state, host)
        if text != self.rules:
            netns.nft(self.config["netns"], text)
            self.rules = text
        self._save()
        return {"ok": not failed, **({"error": "; ".join(failed)} if failed else {})}

    def _run(self, fact, lines, check=False):
        if not lines or not netns.exists(fact.ns):
            return
        try:
            if fact.tool == "sysctl":
                netns.sysctl(fact.ns, dict(line.split("=") for line in lines))
            elif fact.tool == "bridge":
                netns.bridge_batch(fact.ns, lines)
            else:
                netns.ip_batch(fact.ns, lines)
        except RuntimeError:
            if check:
                raise

    def _leave(self, guid):
        """HNS forgot a namespace whose sandbox exists: its endpoints' wires go with the facts."""
        self.sandboxes.names(guid, {"servers": [], "search": []})

    def _names(self):
        for end in self.state.endpoints:
            if end.namespace and not end.remote:
                dns = end.dns or {}
                search = documents.get(dns, "Search", []) or [
                    s for s in str(documents.get(dns, "Domain", "")).split(",") if s]
                self.sandboxes.names(end.namespace, {
                    "servers": documents.get(dns, "ServerList", []), "search": search})

    # ---- requests ------------------------------------------------------------------------------

    def answer(self, request):
        name = request.get("op")
        if name is None or name == "apply":
            with self.lock:
                return self.apply(request.get("state", request))
        if name not in OPS:
            return {"ok": False, "error": "unknown op '%s'" % name}
        try:
            return {"ok": True, **(OPS[name](self, request) or {})}
        except (KeyError, RuntimeError, OSError, ValueError) as why:
            return {"ok": False, "error": "%s: %s: %s" % (name, type(why).__name__, why)}

    @op("sandbox")
    def _sandbox(self, request):
        guid = documents.guid(request["namespace"])
        with self.lock:
            if request.get("remove"):
                for key in [k for k, f in self.made.items()
                            if f.ns == self.sandboxes.pods().get(guid)]:
                    self.made.pop(key)
                self.sandboxes.remove(guid)
                return self.reconcile()
            ns = self.sandboxes.create(guid)
            return {**self.reconcile(), "netns": ns}

    @op("exec")
    def _exec(self, request):
        with self.lock:
            guid = documents.guid(request["namespace"])
            return {"handle": self.sandboxes.execute(
                guid, request["command"], request.get("mounts", ()), request.get("env"),
                request.get("hosts", ()), request.get("folder"))}

    @op("exec-wait")
    def _exec_wait(self, request):
        return self.sandboxes.wait(request["handle"], request.get("timeoutMs", 0),
                                   request.get("from"))

    @op("exec-kill")
    def _exec_kill(self, request):
        self.sandboxes.end(request["handle"])

    @op("net")
    def _net(self, request):
        return {"lines": self.net(request["line"])}

    @op("facts")
    def _facts(self, _request):
        return {"facts": list(self.made), "rules": self.rules, "sandboxes": self.sandboxes.pods()}

    def net(self, line):
        with self.lock:
            lines = self.adapters.call(line)
            if not line.startswith(("adapters", "routes")):
                self.reconcile()
        if line.startswith("address-") and lines[-1] == "ok":
            self._tell_model()
        return lines

    def _tell_model(self):
        """hnsd shows the node's address in its documents; it hears of a change from here."""
        with self.lock:
            now = self.adapters.call("adapters")
        alias = self.config.get("alias", "Ethernet")
        mine = [r.split("|")[1] for r in now if r.startswith("adapter|")
                and r.split("|")[2] in (alias, "vEthernet (%s)" % alias)]
        addresses = ["%s/%s" % tuple(r.split("|")[2:4]) for r in now
                     if r.startswith("address|") and r.split("|")[1] in mine
                     and not r.split("|")[2].startswith("169.254.")]
        try:
            control(self.config.get("hnsPort", 17999),
                    {"op": "adapter", "alias": alias, "addresses": addresses,
                     "staticLost": not addresses})
        except OSError:
            pass  # no hnsd: nobody to tell


def control(port, request):
    """One control call to hnsd, in the frame of its DLLs; answers its text."""
    fields = ["dataplane", "0", "0", "rig", "ctl", "so", json.dumps(request)]
    body = b"".join(len(f.encode()).to_bytes(4, "little") + f.encode() for f in fields)
    with socket.create_connection(("127.0.0.1", port), 5) as conn:
        conn.sendall(len(body).to_bytes(4, "little") + body)
        data = b""
        while chunk := conn.recv(65536):
            data += chunk
    return data[12:].decode(errors="replace")


def serve(plane, port):
    """Takes requests on the node's loopback, a thread each."""
    listener = socket.create_server(("127.0.0.1", port))

    def talk(conn):
        with conn, conn.makefile("rw", encoding="utf-8", newline="\n") as stream:
            for line in stream:
                if line.startswith("net "):
                    answer = "\n".join(plane.net(line[4:].strip())) + "\n\n"
                else:
                    answer = json.dumps(plane.answer(json.loads(line))) + "\n"
                stream.write(answer)
                stream.flush()

    while True:
        conn, _ = listener.accept()
        threading.Thread(target=quiet, args=(talk, conn), daemon=True).start()


def quiet(talk, conn):
    try:
        talk(conn)
    except (OSError, ValueError):
        pass  # the caller went away, or spoke nonsense: its own affair


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True)
    args = parser.parse_args()
    with open(args.config, encoding="utf-8") as f:
        config = json.load(f)
    plane = DataPlane(config)
    # The listener is of the node; this process is started inside it.
    threading.Thread(target=serve, args=(plane, config.get("port", 17998)), daemon=True).start()
    for line in sys.stdin:
        if line.strip():
            try:
                answer = plane.answer(json.loads(line))
            except Exception as why:  # the model must hear of it, whatever it was
                answer = {"ok": False, "error": "%s: %s" % (type(why).__name__, why)}
            print(json.dumps(answer), flush=True)
    plane.sandboxes.close()


if __name__ == "__main__":
    main()
