"""Single-line breaks of C: where one can be made, and what the line becomes.

One row of KINDS a kind of break. A break changes one line and stays C; whether it compiles, and whether
it changes the program at all, is for the compiler to say.
"""
import collections
import pathlib
import random
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lint"))
import house  # noqa: E402

Break = collections.namedtuple("Break", "file line function kind old new")


def blank(text):
    """The text with the insides of comments and strings blank; every character keeps its place."""
    def empty(found):
        kept = found.group(0)
        if kept[0] in "\"'":
            return kept[0] + "~" * (len(kept) - 2) + kept[-1]
        return re.sub(r"[^\n]", " ", kept)
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', empty, text, flags=re.S)
    return re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.M)


def negated(line):
    """if (X) with X whole on the line, and return X with a comparison or a negation in it."""
    for found in re.finditer(r"\bif \(", line):
        depth, at = 1, found.end()
        while at < len(line) and depth:
            depth += {"(": 1, ")": -1}.get(line[at], 0)
            at += 1
        if not depth:
            yield found.end(), at - 1, "!(%s)"
    found = re.match(r"\s*return ([^;?]*(?:==|!=|&&|\|\||[<>]=?|!)[^;?]*);$", line)
    if found and "->" not in found.group(1).replace("->", "", 1) and balanced(found.group(1)):
        yield found.start(1), found.end(1), "!(%s)"


def balanced(words):
    return words.count("(") == words.count(")")


def swapped(pairs):
    def find(line):
        for found in re.finditer("|".join(re.escape(word) for word in sorted(pairs, key=len, reverse=True)), line):
            yield found.start(), found.end(), pairs[found.group(0)]
    return find


def constant(line):
    """A number by one; not -1 and 0 that are returned or chosen as a result, which only have a sign, not the empty
    {0}, not memory for one more, and not a pause or a limit, which nobody sees longer by one or, where it is a
    product, by a thousandth."""
    if re.match(r"\s*return -?\d+;|\s*\w+ = -1;$|\s*(?:static )?(?:const )?char \w+\[", line):
        return
    line = re.sub(r"(?<=alloc\()[^,]* \+ \d+(?=,)", lambda found: "~" * len(found.group(0)), line)
    line = re.sub(r"(?<=[?:] )-1\b|(?<=\berr\) : )0(?=;)|(?<=\? -1 : )0\b|"
                  r"(?:\b[A-Z][A-Z0-9_]*_(?:MS|MAX)|\.timeout_ms) = \d+(?=,| |$)(?! \*)",
                  lambda found: "~" * len(found.group(0)), line)
    if re.search(r"\b[A-Z][A-Z0-9_]*_(?:MS|MAX) = \d+ \*", line):
        line = re.sub(r"(?<=\* )10(?:00|24)\b", lambda found: "~" * len(found.group(0)), line)
    for found in re.finditer(r"(?<![\w.\[])(?!(?<=\{)0\})(?:0x[0-9a-fA-F]+|\d+)(?:[uU]?[lL]{0,2})(?![\w.\]])", line):
        yield found.start(), found.end(), "(%s + 1)"


def comparison(line):
    """One sign for another; not where the two are told apart already: return a < b ? -1 : 1."""
    if not re.match(r"\s*return \S+ [<>] \S+ \? -?1 : -?1;", line):
        yield from swapped({" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "})(line)


def dropped(line):
    """A call that is a statement of its own. What only talks (log_message) or frees stays."""
    found = re.match(r"\s+((?:\(void\))?(\w+)\(.*\);)$", line)
    if found and balanced(found.group(1)) and not re.match(r"log_message|va_|\w*free\w*$|memset$|return$|explicit_", found.group(2)):
        yield found.start(1), found.end(1), ";"


def succeeded(line):
    """A failure that is returned as success."""
    found = re.match(r"\s*(return -1);$", line)
    if found:
        yield found.start(1), found.end(1), "return 0"
    found = re.match(r"\s*return (error_(?:set|set_os|prefix|hint)|refuse|fail|failed|failure)\(", line)
    if found:
        yield found.start(1), found.end(1), "0 & %s"


def flipped(line):
    if re.search(r"\b(?:bool|enum) .*\b(?:true|false)\b", line) and not line.startswith(" "):
        return
    for found in re.finditer(r"\b(?:true|false)\b", line):
        yield found.start(), found.end(), {"true": "false", "false": "true"}[found.group(0)]


KINDS = {
    "condition negated": negated,
    "comparison by one": comparison,
    "and for or": swapped({" && ": " || ", " || ": " && "}),
    "call dropped": dropped,
    "constant by one": constant,
    "success for failure": succeeded,
    "true for false": flipped,
}


def of_file(path, name):
    """All breaks of one file, by kind."""
    text = path.read_text(encoding="utf-8")
    code = blank(text)
    inside = {}
    for function, start, length in house.functions(code):
        inside.update(dict.fromkeys(range(start + 1, start + length), function))
    found = collections.defaultdict(list)
    originals = text.split("\n")
    for number, line in enumerate(code.split("\n"), 1):
        for kind, find in KINDS.items():
            # Outside of functions stand tables, whose numbers and truths are the program, too.
            if number not in inside and kind not in ("constant by one", "true for false"):
                continue
            for start, end, new in find(line):
                old = originals[number - 1]
                words = new % old[start:end] if "%s" in new else new
                found[kind].append(Break(name, number, inside.get(number), kind, old, old[:start] + words + old[end:]))
    return found


def endless(root, folder, seed):
    """Breaks of a folder's own files, in an order that the seed gives; the kinds take turns."""
    dice = random.Random("%s %s" % (seed, folder))
    found = collections.defaultdict(list)
    for path in sorted((root / folder).glob("*.c")):
        for kind, some in of_file(path, path.relative_to(root).as_posix()).items():
            found[kind] += some
    for some in found.values():
        dice.shuffle(some)
    while any(found.values()):
        for kind in dice.sample(sorted(found), len(found)):
            if found[kind]:
                yield found[kind].pop()
