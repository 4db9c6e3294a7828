"""What grows with a cluster: the cost of each piece of work from few objects to the limits of Kubernetes, the exponent
of its growth, and a picture of it."""
import json
import math
import os
import statistics
import subprocess

import diagnosis
import figures
import full

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.join(ROOT, "build", "native", "growth")
PICTURE = os.path.join(ROOT, "docs", "growth.svg")
STEEPEST = 1.1
LIVES = (1, 3, 10)
SERVICES, NODES = (10, 100, 1000, 10000), (10, 100, 1000, 5000)
# By which word of the program, of what, up to which limit.
WORKS = (("comparison", "HNS compared with so many Services, each of three endpoints", SERVICES),
         ("evidence", "a node's diagnosis reads so many Services, each of three endpoints, of HNS and the API", SERVICES),
         ("followed", "winjoin-network begins with so many Services and their EndpointSlices", SERVICES),
         ("changes", "500 Services come and go among so many, beside winjoin-network", SERVICES),
         ("nodes", "winjoin-network begins with so many Nodes, each of 50 images", NODES),
         ("life", "so many times 2,000 Services and 500 Nodes come and go, beside winjoin-network", LIVES),
         ("routes", "a Node more beside the routes of so many", NODES),
         ("sample", "a diagnosis of a cluster of so many nodes: a sample", NODES),
         ("all-nodes", "a diagnosis of a cluster of so many nodes: all nodes", NODES),
         ("causes", "the causes in a cluster of so many nodes, five of them dead", NODES))
# At the limits, at most: of these works together.
SAMPLE = (("wall", "s", 60), ("peak", "MB", 256))
SERVICE, SERVICE_MB = ("nodes", "comparison"), 48  # the comparison holds what is followed
COMPARED = (("cpu", "s", 0.3), ("peak", "MB", 64))
JOIN, JOIN_SIZES = "join beside so many Nodes, Services, ConfigMaps of others", (10, 100, 1000, 5000)
HTTPS = "a diagnosis of a cluster of so many nodes: a sample, over HTTPS"
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
    seen["https"] = [(n, diagnosis.diagnose(n)) for n in NODES]
    return seen


def rows(seen):
    """A figure for each exponent, for build/bench.json and what fails."""
    made = []
    for work, title, _ in (*WORKS, ("join", JOIN, None), ("https", HTTPS, None)):
        for key, word in (("cpu", "CPU"), ("peak", "peak memory"), ("requests", "requests"), ("calls", "HNS calls"),
                          ("bytes", "bytes")):
            slope = growth_of(seen[work], key) if key in seen[work][0][1] else None
            if slope is not None:
                made.append(figures.row("exponent of %s: %s" % (word, title), "", [round(slope, 2) + 0.0], [],
                                        ("at most", STEEPEST)))
    made += [figures.row("%s at the limit: %s" % (key, title_of(work)), unit, [seen[work][-1][1][key]], [],
                         ("at most", most))
             for work, limits in (("comparison", COMPARED), ("sample", SAMPLE), ("https", SAMPLE)) for key, unit, most in limits]
    made.append(figures.row("peak at the limits: winjoin-network, Nodes and a comparison", "MB",
                            [sum(seen[work][-1][1]["peak"] for work in SERVICE)], [], ("at most", SERVICE_MB)))
    return made


def title_of(work):
    return HTTPS if work == "https" else next(title for name, title, _ in WORKS if name == work)


def cost_table(seen):
    lines = ["| what | count | wall | CPU | peak memory | requests | HNS calls | answered |", "|---|---|---|---|---|---|---|---|"]
    for work, title, _ in WORKS:
        for n, cost in seen[work]:
            lines.append("| %s | %d | %s | %s | %s | %s | %s | |" % (
                title, n, short(cost["wall"]), short(cost["cpu"]), figures.shown(cost["peak"], "MB"),
                "%d" % cost["requests"] if cost["requests"] else "",
                "%d" % cost["calls"] if cost["calls"] else ""))
    for n, cost in seen["join"]:
        lines.append("| %s | %d | | | | %d | | %s |" % (JOIN, n, cost["requests"], figures.shown(cost["bytes"], "bytes")))
    for n, cost in seen["https"]:
        lines.append("| %s | %d | %s | %s | %s | %d | | %s |" % (HTTPS, n, short(cost["wall"]), short(cost["cpu"]),
                     figures.shown(cost["peak"], "MB"), cost["requests"], figures.shown(cost["bytes"], "bytes")))
    return "\n".join(lines)


def short(seconds):
    return "%.2f ms" % (seconds * 1000) if seconds < 0.01 else figures.shown(seconds, "s")


def exponent_table(made):
    lines = ["| exponent, and at the limit | | goal | met |", "|---|---|---|---|"]
    lines += ["| %s | %s | %s | %s |" % (
        r["figure"].replace("exponent of ", ""), figures.shown(r["winjoin"], r["unit"]) if r["unit"] else "%.2f" % r["winjoin"],
        r["goal"], "yes" if r["met"] else "no") for r in made]
    return "\n".join(lines)


# ---- the picture ----

WIDTH, HEIGHT, LEFT, TOP, SIDE, GAP = 860, 400, 70, 50, 300, 100
# What is drawn: its name there, its colors in light and dark.
DRAWN = {"comparison": ("comparison (Services)", "#0969da", "#58a6ff"),
         "followed": ("winjoin-network: Services", "#1b7c83", "#39c5cf"), "nodes": ("winjoin-network: Nodes", "#bf3989", "#ff80c8"),
         "routes": ("routes (Nodes)", "#bc4c00", "#f0883e"), "sample": ("diagnosis: sample", "#1a7f37", "#3fb950"),
         "all-nodes": ("diagnosis: all nodes", "#8250df", "#a371f7"), "causes": ("causes (nodes)", "#cf222e", "#ff7b72")}
STYLE = """\
text { font: 13px sans-serif; fill: #24292f }
.title { font-weight: bold }
.grid { stroke: #d0d7de; stroke-width: 1 }
.guide { stroke: #6e7781; stroke-width: 1.5; stroke-dasharray: 5 4; fill: none }
%s
polyline { stroke-width: 2.5; fill: none !important }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .grid { stroke: #30363d } .guide { stroke: #8b949e }
%s
}"""


def colors(of):
    return "\n".join(".%s { stroke: %s; fill: %s }" % (work, row[of], row[of]) for work, row in DRAWN.items())


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
    for work in DRAWN:
        points = [(x(n), y(max(cost[key], 10 ** low))) for n, cost in seen[work]]
        out.append('<polyline class="%s" points="%s"/>' % (work, " ".join("%.1f,%.1f" % p for p in points)))
        out += ['<circle class="%s" cx="%.1f" cy="%.1f" r="4"/>' % (work, *p) for p in points]
    return out


def picture(seen):
    times = {-5: "10 µs", -4: "0.1 ms", -3: "1 ms", -2: "10 ms", -1: "0.1 s", 0: "1 s", 1: "10 s"}
    sizes = {-1: "0.1 MB", 0: "1 MB", 1: "10 MB", 2: "100 MB", 3: "1 GB"}
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" '
           'aria-label="CPU time and memory by the number of objects">' % (WIDTH, HEIGHT + 40),
           "<style>\n%s\n</style>" % (STYLE % (colors(1), colors(2)))]
    out += panel(seen, "cpu", LEFT, "CPU time", (-5, 1), times.get)
    out += panel(seen, "peak", LEFT + SIDE + GAP, "peak memory", (-1, 3), sizes.get)
    for i, (work, (label, _, _)) in enumerate([*DRAWN.items(), (None, ("in proportion", "", ""))]):
        x, y = 20 + i % 4 * 205, HEIGHT + i // 4 * 24
        out.append('<circle class="%s" cx="%d" cy="%d" r="5"/>' % (work, x, y) if work else
                   '<path class="guide" d="M%d %dh24"/>' % (x - 6, y))
        out.append('<text x="%d" y="%d">%s</text>' % (x + (12 if work else 26), y + 5, label))
    return "\n".join(out) + "\n</svg>\n"


def write_docs(docs, seen, made):
    figures.replace_section(docs, "growth", "%s\n\n%s" % (exponent_table(made), cost_table(seen)))
    with open(PICTURE, "w", encoding="utf-8") as f:
        f.write(picture(seen))
