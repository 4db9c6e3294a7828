"""Figures of a comparison: medians with their spread, a ratio, a goal, and the table of them."""
import json
import os
import re
import statistics

UNITS = {"wall": "s", "cpu": "s", "peak": "MB", "requests": "", "connections": "", "sent": "bytes",
         "received": "bytes", "": ""}


def row(figure, unit, ours, theirs, goal=None, peer="kubeadm"):
    """One figure; ours and theirs are samples (theirs empty: nothing to compare with). goal: the ratio
    that is wanted at most, or ("at most", N) for a number of our own."""
    a, b = statistics.median(ours), statistics.median(theirs) if theirs else None
    ratio = a / b if b else None
    found = {"figure": figure, "unit": unit, "winjoin": rounded(a), "winjoinSpread": spread(ours),
             "peer": rounded(b), "peerSpread": spread(theirs), "peerName": peer if theirs else None,
             "ratio": rounded(ratio), "goal": None, "met": None, "rounds": len(ours)}
    if isinstance(goal, tuple):
        found.update(goal="<= %g" % goal[1], met=a <= goal[1])
    elif goal is not None and ratio is not None:
        found.update(goal="<= %g of %s" % (goal, peer), met=ratio <= goal)
    return found


def rounded(number):
    return None if number is None else number if isinstance(number, int) else float("%.3g" % number)


def spread(samples):
    return [rounded(min(samples)), rounded(max(samples))] if samples else None


def shown(value, unit):
    """A number as people read it."""
    if value is None:
        return "-"
    if unit == "s":
        return "%.0f ms" % (value * 1000) if value < 1 else "%.2f s" % value
    if unit == "MB":
        return "%.1f MB" % value
    if unit == "bytes":
        return "%.1f KB" % (value / 1000)
    return "%g%s" % (value, " " + unit if unit else "")


def cell(found, who):
    value, ends = found[who], found[who + "Spread"]
    text = shown(value, found["unit"])
    if ends and ends[0] != ends[1]:
        text += " (%s to %s)" % tuple(shown(end, found["unit"]) for end in ends)
    return text


def lines(rows):
    """The cells of the table, its head first."""
    head = ("figure", "winjoin", rows[0]["peerName"] or "peer", "ratio", "goal", "met")
    words = {True: "yes", False: "no", None: ""}
    return [head] + [(r["figure"], cell(r, "winjoin"), cell(r, "peer"), "" if r["ratio"] is None else "%.2f" % r["ratio"], r["goal"] or "",
                      words[r["met"]]) for r in rows]


def text_table(rows):
    cells = lines(rows)
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in cells)


def markdown_table(rows):
    cells = lines(rows)
    out = ["| " + " | ".join(line) + " |" for line in cells]
    out.insert(1, "|" + "---|" * len(cells[0]))
    return "\n".join(out)


def write_json(path, facts, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(json.dumps({**facts, "rows": rows}, indent=1) + "\n")


def replace_section(path, name, text):
    """Puts text between the two comments that name a made section of a document."""
    begin, end = "<!-- made: %s -->" % name, "<!-- end: %s -->" % name
    with open(path, encoding="utf-8") as f:
        old = f.read()
    new, count = re.subn(re.escape(begin) + r".*?" + re.escape(end),
                         lambda _: "%s\n%s\n%s" % (begin, text.strip(), end), old, flags=re.S)
    if count != 1:
        raise ValueError("%s has no section '%s'" % (path, name))
    if new != old:
        with open(path, "w", encoding="utf-8") as f:
            f.write(new)
    return new != old


def section(path, name):
    """What is there now."""
    with open(path, encoding="utf-8") as f:
        found = re.search(r"<!-- made: %s -->\n(.*?)\n?<!-- end: %s -->" % (name, name), f.read(), re.S)
    return found.group(1) if found else None
