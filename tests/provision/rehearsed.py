"""A Windows server in a folder that plays as much of a join as a rehearsal can: its state, programs, a healthy kubelet."""
import hashlib
import http.server
import json
import threading

# A node's programs, by their folder on the server.
PROGRAMS = {"flanneld": r"C:\k", "kubelet": r"C:\k", "win-overlay": r"C:\opt\cni\bin", "host-local": r"C:\opt\cni\bin",
            "containerd": r"C:\Program Files\containerd", "containerd-shim-runhcs-v1": r"C:\Program Files\containerd"}
# What a rehearsal cannot play: a virtual switch, a Node that the kubelet registers, flows.
NOT_PLAYED = "vswitch,node,pod-network,flanneld,kube-proxy,ready,verify"
MACHINE = {"services": {name: {"state": "running"} for name in ("hns", "vmcompute")},
           "pipes": [r"\\.\pipe\containerd-containerd"]}


class Healthy(http.server.BaseHTTPRequestHandler):
    """The kubelet's /healthz."""

    def do_GET(self):  # pylint: disable=invalid-name
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_words):  # pylint: disable=arguments-differ
        pass


def server(rootfs, **more):
    """The server in this folder."""
    (rootfs / ".winjoin-host").mkdir(parents=True, exist_ok=True)
    (rootfs / ".winjoin-host/state.json").write_text(json.dumps({**MACHINE, **more}))
    return rootfs


def bundle(folder, programs=tuple(PROGRAMS), **newer):
    """The folder with programs and their lock; `newer` programs have other bytes than in other folders."""
    folder.mkdir()
    rows = []
    for program in programs:
        data = ("MZ %s %s" % (program, newer.get(program.replace("-", "_"), ""))).encode()
        (folder / (program + ".exe")).write_bytes(data)
        rows.append({"name": program, "version": "v1.37.1" if program.startswith("kube") else "v2.4.2", "size": len(data),
                     "sha256": hashlib.sha256(data).hexdigest(), "path": program + ".exe"})
    (folder / "winjoin.lock").write_text(json.dumps({"apiVersion": "winjoin.io/v1alpha1", "kind": "BundleLock",
                                                     "artifacts": rows}))
    return folder


def healthy_kubelet(case, folder):
    """The folder of a patch that sets the port of a kubelet which is healthy."""
    health = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Healthy)
    case.addCleanup(health.server_close)
    case.addCleanup(health.shutdown)
    threading.Thread(target=health.serve_forever, daemon=True).start()
    folder.mkdir()
    (folder / "kubeletconfiguration.json").write_text(json.dumps({"healthzPort": health.server_port}))
    return folder
