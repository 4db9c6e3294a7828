"""Whole joins of several Windows nodes in the same moment, and packets between their pods."""
import concurrent.futures
import socket

import fabric as fabrics
import netns
from node_stage import NodeStage
from objects import LINUX_NODES
from scenario import expect, expect_equal, scenario

NODES = ("nodes",)
PATIENCE = 600  # s for a join among others, on two cores


def at_once(stage, what):
    """what(node) for every host of the stage in the same moment; what each answered."""
    with concurrent.futures.ThreadPoolExecutor(len(stage.nodes)) as pool:
        return list(pool.map(what, stage.nodes))


@scenario("two-nodes", "two Windows nodes: a pod of each reaches the other's", NODES, count=2,
          on=NodeStage, mode="overlay")
def two_nodes(stage):
    at_once(stage, lambda node: stage.join("--verify", "none", node=node, timeout=PATIENCE))
    talk_around(stage)
    at_once(stage, stage.reset)


@scenario("two-nodes-l2bridge", "the same by routes: host-gw and win-bridge", NODES, count=2,
          on=NodeStage, mode="l2bridge")
def two_nodes_l2bridge(stage):
    two_nodes(stage)


@scenario("four-nodes", "four whole Windows nodes join in the same moment, 9 of 9 flows each; then all "
          "are reset at once", (*NODES, "load"), count=4, on=NodeStage, mode="overlay")
def four_nodes(stage):
    results = at_once(stage, lambda node: stage.join(node=node, timeout=PATIENCE)[0])
    for node, result in zip(stage.nodes, results):
        stage.expect_proved(result, node)
    made = [r["objectRef"]["resource"] for r in stage.made("winjoin")]
    expect_equal(made, ["certificatesigningrequests"] * len(stage.nodes), "winjoin makes other objects")
    expect_own_subnets(stage)
    talk_around(stage)
    at_once(stage, stage.reset)


def expect_own_subnets(stage):
    """Every node of the cluster has a pod subnet that no other has."""
    items = stage.cluster.call("GET", "/api/v1/nodes")["items"]
    expect_equal({n["metadata"]["name"] for n in items},
                 {*LINUX_NODES, *(node.node_name for node in stage.nodes)}, "the cluster's nodes")
    subnets = [n["spec"].get("podCIDR") for n in items]
    expect(all(subnets) and len(set(subnets)) == len(items), "pod subnets: %r" % subnets)


def talk_around(stage):
    """A pod on each node: the next one's answers, and sees the pod's own address. So does another
    node on a bridge, whose network is excepted from translation; of an overlay it sees the node's."""
    pods = [(node, "pod-" + node.node_name) for node in stage.nodes]
    at = [stage.run_pod(*pod) for pod in pods]
    spaces = [stage.pod_netns(node, address) for (node, _), address in zip(pods, at)]
    for here, (_, name) in enumerate(pods):
        there = (here + 1) % len(pods)
        expect_equal(talk(spaces[here], spaces[there], at[there]), at[here],
                     "%s to %s" % (name, pods[there][1]))
        own = at[here] if stage.mode == "l2bridge" else stage.nodes[here].host.address
        expect_equal(talk(spaces[here], stage.fabric.ns("l1"), fabrics.L1), own,
                     "%s to the node l1" % name)
    for pod in pods:
        stage.delete_pods(*pod)


def talk(client, server, address, port=7777):
    """A connection between two namespaces: the client's address as the server sees it."""
    listener = netns.within(server, socket.create_server, (address, port))
    with listener:
        listener.settimeout(10)
        conn = netns.within(client, socket.create_connection, (address, port), 10)
        with conn:
            accepted, peer = listener.accept()
            accepted.close()
    return peer[0]
