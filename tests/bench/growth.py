"""What grows with a cluster: the cost of each piece of work from few objects to the limits of Kubernetes, the exponent
of its growth, and a picture of it."""
import json
import math
import os
import statistics
import subprocess

import figures
import full

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.join(ROOT, "build", "native", "growth")
PICTURE = os.path.join(ROOT, "docs", "growth.svg")
STEEPEST = 1.1
# By which word of the program, of what, up to which limit.
WORKS = (("comparison", "HNS compared with so many Services, each of three endpoints", (10, 100, 1000, 10000)),
         ("routes", "a Node more beside the routes of so many", (10, 100, 1000, 5000)),
         ("sample", "a diagnosis of a cluster of so many nodes: a sample", (10, 100, 1000, 5000)),
         ("all-nodes", "a diagnosis of a cluster of so many nodes: all nodes", (10, 100, 1000, 5000)),
         ("causes", "the causes in a cluster of so many nodes, five of them dead", (10, 100, 1000, 5000)))
SAMPLE = (("wall", "s", 60), ("peak", "MB", 256))  # of the largest cluster, at most
JOIN, JOIN_SIZES = "join beside so many Nodes, Services, ConfigMaps of others", (10, 100, 1000, 5000)
LEAST = {"cpu": 1e-4, "peak": 1.0}  # what is less is the machine's, not the work's


def measure(work, count, rounds):
    """The least that the program says of several runs: more is the machine's."""
    said = [json.loads(subprocess.run([PROGRAM, work, str(count)], stdout=subprocess.PIPE, check=True).stdout)
            for _ in range(rounds)]
    return {key: min(s[key] for s in said) for key in said[0]}


def exponent(points):
    """The slope of the line through (count, cost) where both scales are logarithms; None: too few points."""
    xs, ys = [math.log(n) for n, _ in points], [math.log(cost) for _, cost in points]
    if len(points) < 2:
        return None
    x, y = statistics.mean(xs), statistics.mean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def growth_of(seen, key):
    """Of those sizes that cost enough to be measured."""
    return exponent([(n, cost[key]) for n, cost in seen if cost[key] >= LEAST.get(key, 1)])


def play(rounds):
    """{work: [(count, {"cpu": seconds, ...})]}"""
    seen = {work: [(n, measure(work, n, rounds)) for n in sizes] for work, _, sizes in WORKS}
    seen["join"] = []
    for n in JOIN_SIZES:
        asked, answered = full.join(n)
        seen["join"].append((n, {"requests": len(asked), "bytes": answered}))
    return seen


def rows(seen):
    """A figure for each exponent, for build/bench.json and what fails."""
    made = []
    for work, title, _ in (*WORKS, ("join", JOIN, None)):
        for key, word in (("cpu", "CPU"), ("peak", "peak memory"), ("requests", "requests"), ("calls", "HNS calls"),
                          ("bytes", "bytes")):
            slope = growth_of(seen[work], key) if key in seen[work][0][1] else None
            if slope is not None:
                made.append(figures.row("exponent of %s: %s" % (word, title), "", [round(slope, 2) + 0.0], [],
                                        ("at most", STEEPEST)))
    n, cost = seen["sample"][-1]
    made += [figures.row("%s of a diagnosis of %d nodes: a sample" % (key, n), unit, [cost[key]], [], ("at most", most))
             for key, unit, most in SAMPLE]
    return made


def cost_table(seen):
    lines = ["| what | count | wall | CPU | peak memory | requests | HNS calls | answered |", "|---|---|---|---|---|---|---|---|"]
    for work, title, _ in WORKS:
        for n, cost in seen[work]:
            lines.append("| %s | %d | %s | %s | %s | %s | %s | |" % (
                title, n, short(cost["wall"]), short(cost["cpu"]), figures.shown(cost["peak"], "MB"),
                "%d" % cost["requests"] if cost["requests"] else "",
                "%d" % cost["calls"] if work == "comparison" else ""))
    for n, cost in seen["join"]:
        lines.append("| %s | %d | | | | %d | | %s |" % (JOIN, n, cost["requests"], figures.shown(cost["bytes"], "bytes")))
    return "\n".join(lines)


def short(seconds):
    return "%.2f ms" % (seconds * 1000) if seconds < 0.01 else figures.shown(seconds, "s")


def exponent_table(made):
    lines = ["| exponent, and at the limit | | goal | met |", "|---|---|---|---|"]
    lines += ["| %s | %.2f | %s | %s |" % (r["figure"].replace("exponent of ", ""), r["winjoin"], r["goal"],
                                           "yes" if r["met"] else "no") for r in made]
    return "\n".join(lines)


# ---- the picture ----

WIDTH, HEIGHT, LEFT, TOP, SIDE, GAP = 860, 400, 70, 50, 300, 100
STYLE = """\
text { font: 13px sans-serif; fill: #24292f }
.title { font-weight: bold }
.grid { stroke: #d0d7de; stroke-width: 1 }
.guide { stroke: #6e7781; stroke-width: 1.5; stroke-dasharray: 5 4; fill: none }
.comparison { stroke: #0969da; fill: #0969da } .routes { stroke: #bc4c00; fill: #bc4c00 } .sample { stroke: #1a7f37; fill: #1a7f37 }
.all-nodes { stroke: #8250df; fill: #8250df } .causes { stroke: #cf222e; fill: #cf222e }
polyline { stroke-width: 2.5; fill: none !important }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .grid { stroke: #30363d } .guide { stroke: #8b949e }
.comparison { stroke: #58a6ff; fill: #58a6ff } .routes { stroke: #f0883e; fill: #f0883e } .sample { stroke: #3fb950; fill: #3fb950 }
.all-nodes { stroke: #a371f7; fill: #a371f7 } .causes { stroke: #ff7b72; fill: #ff7b72 }
}"""


def panel(seen, key, left, title, ends, unit):
    """One chart of two logarithmic scales; ends: the powers of ten of the vertical one."""
    low, high = ends

    def x(n):
        return left + (math.log10(n) - 1) / 3 * SIDE

    def y(cost):
        return TOP + SIDE - (math.log10(cost) - low) / (high - low) * SIDE

    out = ['<text class="title" x="%d" y="%d">%s</text>' % (left, TOP - 18, title)]
    for power in range(1, 5):
        out.append('<path class="grid" d="M%.1f %dV%d"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>'
                   % (x(10 ** power), TOP, TOP + SIDE, x(10 ** power), TOP + SIDE + 20, format(10 ** power, ",")))
    for power in range(low, high + 1):
        out.append('<path class="grid" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%s</text>'
                   % (left, y(10 ** power), left + SIDE, left - 8, y(10 ** power) + 4, unit(power)))
    begin = 10 ** (high - 3)
    out.append('<path class="guide" d="M%.1f %.1fL%.1f %.1f"/>' % (x(10), y(begin), x(10000), y(begin * 1000)))
    for work, _, _ in WORKS:
        points = [(x(n), y(max(cost[key], 10 ** low))) for n, cost in seen[work]]
        out.append('<polyline class="%s" points="%s"/>' % (work, " ".join("%.1f,%.1f" % p for p in points)))
        out += ['<circle class="%s" cx="%.1f" cy="%.1f" r="4"/>' % (work, *p) for p in points]
    return out


def picture(seen):
    times = {-5: "10 µs", -4: "0.1 ms", -3: "1 ms", -2: "10 ms", -1: "0.1 s", 0: "1 s", 1: "10 s"}
    sizes = {-1: "0.1 MB", 0: "1 MB", 1: "10 MB", 2: "100 MB", 3: "1 GB"}
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" '
           'aria-label="CPU time and memory by the number of objects">' % (WIDTH, HEIGHT + 20),
           "<style>\n%s\n</style>" % STYLE]
    out += panel(seen, "cpu", LEFT, "CPU time", (-5, 1), times.get)
    out += panel(seen, "peak", LEFT + SIDE + GAP, "peak memory", (-1, 3), sizes.get)
    for i, (work, label) in enumerate((("comparison", "comparison (Services)"), ("routes", "routes (Nodes)"),
                                       ("sample", "diagnosis: sample"), ("all-nodes", "all nodes"), ("causes", "causes"))):
        at = (0, 185, 330, 490, 590)[i] + 10
        out.append('<circle class="%s" cx="%d" cy="%d" r="5"/><text x="%d" y="%d">%s</text>'
                   % (work, at, HEIGHT - 2, at + 12, HEIGHT + 3, label))
    out.append('<path class="guide" d="M%d %dh24"/><text x="%d" y="%d">in proportion</text>'
               % (690, HEIGHT - 2, 722, HEIGHT + 3))
    return "\n".join(out) + "\n</svg>\n"


def write_docs(docs, seen, made):
    figures.replace_section(docs, "growth", "%s\n\n%s" % (exponent_table(made), cost_table(seen)))
    with open(PICTURE, "w", encoding="utf-8") as f:
        f.write(picture(seen))
