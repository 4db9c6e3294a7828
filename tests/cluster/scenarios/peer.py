"""kubeadm as the peer: both are given the same words, and ask the same server for the same things."""
import subprocess

import netns
import objects
import stages
from scenario import expect, expect_equal, scenario

SYSTEM = "/api/v1/namespaces/kube-system/configmaps/"
# What kubeadm does not ask for and winjoin does: it makes the network, too, looks for the network's agents and compares
# versions.
OURS = {"/version", "/apis/apps/v1/daemonsets", "/api/v1/namespaces/kube-flannel/configmaps/kube-flannel-cfg",
        SYSTEM + "kube-flannel-cfg", SYSTEM + "winjoin"}
# What kubeadm asks for and winjoin does not: it makes kube-proxy's configuration for the node alone.
THEIRS = {SYSTEM + "kube-proxy"}
# What kubeadm asks later in its join, behind the phase that is compared.
LATER = {"/api/v1/nodes/win-p"}


def kubeadm(stage, *words, timeout=60):
    """Upstream's kubeadm for Linux, on the client."""
    return subprocess.run(netns.command(stage.client, [stage.cluster.programs["kubeadm"], *words]),
                          text=True, capture_output=True, check=False, timeout=timeout,
                          stdin=subprocess.DEVNULL, env=stages.plain_environment())


def preflight(stage, *more, **trust):
    return kubeadm(stage, "join", "phase", "preflight", *stage.trust(**trust), "--node-name", "peer",
                   "--cri-socket", "unix:///run/no-such.sock", "--ignore-preflight-errors", "all",
                   *more)


def asked(stage, program):
    """(verb, path) of each request that a program made in this scenario, in order."""
    return [(r["verb"], r["requestURI"].partition("?")[0]) for r in stage.requests(program)]


@scenario("peer-requests", "winjoin makes kubeadm's requests, cluster-info once, and the network's; not kube-proxy's",
          ("ci", "peer"))
def requests(stage):
    done = preflight(stage)
    expect_equal(done.returncode, 0, done.stderr)
    stage.winjoin(*stage.rehearse("win-p", "configuration"), code=0)
    theirs, ours = asked(stage, "kubeadm"), asked(stage, "winjoin")
    expect_equal(theirs.count(("get", objects.CLUSTER_INFO)), 2, "kubeadm's cluster-info")
    theirs.remove(("get", objects.CLUSTER_INFO))  # kubeadm-config is winjoin's proof
    expect_equal(sorted(r for r in ours if r[1] not in OURS | LATER),
                 sorted(r for r in theirs if r[1] not in THEIRS), "other requests")
    expect({path for _, path in ours} & OURS, "no network settings are read", ours)


@scenario("peer-refusals", "what kubeadm does not trust at once, winjoin does not either", ("ci", "peer"))
def refusals(stage):
    for what, trust in (("pin", {"pin": "sha256:" + "3b" * 32}),
                        ("secret", {"token": "abcdef.0123456789abcdef"})):
        done = preflight(stage, **trust)
        expect(done.returncode != 0, "kubeadm trusts a wrong " + what, done.stdout)
        stage.discover(**trust, code=4)
