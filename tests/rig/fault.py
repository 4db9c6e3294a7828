"""What a fault of the rig is, and what several of them share (faults.py, sampled.py, written_down.py).

Each fault works on a stage (stage.py: .fabric, .cluster, .host); `cause` is the id of the decision
table (diag/causes/causes.c), "" where the table has no row for it and the red cells alone tell.
"""
from dataclasses import dataclass

import break_cluster as cluster
import break_node as node
import fabric as fabrics

BOTH = ("overlay", "l2bridge")
OVERLAY, BRIDGE = BOTH[:1], BOTH[1:]


@dataclass(frozen=True)
class Fault:
    title: str
    cause: str
    apply: object  # function of the stage
    lift: object
    modes: tuple = BOTH
    after_join: bool = False  # undone by the join itself if made before it
    # seen only where no service was started within a minute: what is missing may be on its way
    quiet: bool = False
    also: tuple = ()  # causes that are confirmed rightly, too
    chance: bool = False  # what is met differs each time, and with it the confidence


def after(title, cause, apply, lift, modes=BOTH, quiet=False, also=()):
    """A fault of a node that has joined."""
    return Fault(title, cause, apply, lift, modes, True, quiet, also)


def obeyed(title, rules, modes=BOTH):
    """An agent writes such ACLs on each pod's endpoint."""
    return after(title, "CNI-POLICY", lambda s: node.agent_with(s, rules), node.no_agent, modes)


UDP_4789 = cluster.filtered("fabric", "udp dport 4789 drop", "bridge")
FROM_PODS = 'iifname "ep*" '
DNS, API = fabrics.DNS_VIP, fabrics.API_VIP
POD_NETWORK, KUBE_PROXY = node.phase("pod-network"), node.phase("kube-proxy")
L1_ROUTE = (*fabrics.L1_SUBNET.split("/"), fabrics.L1)
ENDPOINT = cluster.ENDPOINT
