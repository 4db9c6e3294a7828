"""`winjoin diag --kubeconfig` beside `kubectl exec` in a loop, for the cells of few and of more nodes of a real control plane."""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(os.path.dirname(HERE), "cluster")]
import beside_kubectl  # noqa: E402
import figures  # noqa: E402
import played_nodes  # noqa: E402

GOAL, PEER = 1 / 20, "kubectl exec in a loop"
MORE = (0, 8)  # Windows nodes beside the four that are asked


def rows_of(rounds, more):
    with tempfile.TemporaryDirectory() as folder, played_nodes.PlayedStage(folder, more) as stage:
        stage.begin()
        reports, cells = beside_kubectl.measured(stage, rounds)
    count = len(reports[0]["flows"])
    title = "%d cells of %d nodes: " % (count, len(reports[0]["nodes"]))
    return [figures.row(title + "asked", "s", [r["durationSeconds"] for r in reports],
                        [seconds * count for seconds, _ in cells], GOAL, PEER),
            figures.row(title + "with the start of the pods", "s",
                        [r["startSeconds"] + r["durationSeconds"] for r in reports], []),
            figures.row(title + "requests", "", [r["requests"] for r in reports], [])]


def play(rounds):
    return [row for more in MORE for row in rows_of(rounds, more)]
