"""Prints docs/reference/metrics.md: what `winjoin diag -o metrics` prints of two reports that have everything (make docs)."""
import json
import pathlib
import re
import subprocess
import tempfile

WINJOIN = pathlib.Path(__file__).resolve().parents[2] / "build/native/winjoin"
TIME = "2026-11-21T10:00:00Z"
CELL = {"id": "pod-to-pod-ip", "from": "win-1", "to": "10.244.1.2:8080", "toNode": "win-2", "protocol": "TCP", "family": "IPv4",
        "outcome": "pass", "attempts": 4, "succeeded": 4, "lossPercent": 0.0, "evidence": {"probe": "ok", "responder": ""},
        "latencyMs": {"min": 1.0, "median": 1.0, "p95": 1.0, "max": 1.0}}
CAUSED = {**CELL, "protocol": "UDP", "outcome": "fail", "succeeded": 0, "lossPercent": 100.0, "reason": "timeout, 4 attempts"}
COMMON = {"apiVersion": "winjoin.io/v1alpha1", "time": TIME, "durationSeconds": 1.0, "flows": [CELL, CAUSED]}
NODE = {"os": "windows", "build": "20348", "version": "v1.37.1", "ready": True, "podIP": "10.244.1.2",
        "ownReport": {"version": 1, "time": TIME, "drift": {}}}
OF_A_NODE = {**COMMON, "kind": "DiagReport", "node": "win-1", "network": "overlay"}
OF_A_CLUSTER = {**COMMON, "kind": "ClusterDiagReport", "server": "https://10.0.0.10:6443", "domain": "cluster.local",
                "startSeconds": 1.0, "requests": 1, "count": 4, "pairs": 1, "namespaceLeft": False, "namespace": "winjoin-diag-x",
                "nodes": [{**NODE, "name": "win-1"}, {**NODE, "name": "win-2"}]}
HEAD = """# Metrics

What `winjoin diag -o metrics` prints, in Prometheus' text format, for a scheduled run and the textfile collector of node
exporter or windows_exporter. All are gauges. A series that has no value is left out.
"""


def metrics(report):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(report, file)
        file.flush()
        return subprocess.run([WINJOIN, "diag", "--replay", file.name, "-o", "metrics"], capture_output=True, text=True,
                              check=False).stdout


def table(text):
    yield "| metric | labels | what it is |"
    yield "|---|---|---|"
    for name, words in re.findall(r"^# HELP (\S+) (.*)$", text, re.M):
        labels = re.search(r"^%s\{(.*)\} " % name, text, re.M).group(1)
        yield "| `%s` | %s | %s |" % (name, ", ".join("`%s`" % one for one in re.findall(r'(\w+)="', labels)), words)


def main():
    print(HEAD)
    print("## Of a node\n")
    print("\n".join(table(metrics(OF_A_NODE))))
    print("\n## Of a cluster\n")
    print("\n".join(table(metrics(OF_A_CLUSTER))))


if __name__ == "__main__":
    main()
