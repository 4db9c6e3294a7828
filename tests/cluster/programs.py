"""The upstream programs of versions.ini: pinned by Go modules, built once into a cache.

    programs.ensure(["kubeadm", "kubelet.exe"])   {name: path}, building what is missing
    programs.ensure(["kubelet.exe"], of="kubelet-1.36")

A Windows program's name ends in .exe. A module's programs are kept in one folder of the cache, named
after the module, its version and a hash of how it is built; a program that is there is finished.
"""
import configparser
import contextlib
import fcntl
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
VERSIONS = os.path.join(HERE, "versions.ini")
PINS = os.path.join(HERE, "modules")
SYSTEMS = ("linux", "windows")
RECIPE = "1"  # to be raised when what is built changes by the code below
NO_GO = 77


class Failed(Exception):
    """A program cannot be built; says why."""


class NoGo(Failed):
    """Go is missing or too old; says which version is needed."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(os.environ.get("WINJOIN_CACHE") or os.path.join(home, "winjoin"), "upstream")


def versions():
    """Section name -> its settings, in the order of the file."""
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    with open(VERSIONS, encoding="utf-8") as f:
        parser.read_file(f)
    sections = {name: dict(parser[name]) for name in parser.sections()}
    for name, settings in sections.items():
        version = settings.get("version", "v0.0.0")
        if not re.fullmatch(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", version):
            raise Failed("%s: [%s] version = %s: it must be whole, as v1.2.3" % (VERSIONS, name, version))
    return sections


def table(setting, settings):
    """Program name -> (system, package inside the module) of one section."""
    found = {}
    for system, words in (*((s, settings.get(s, "")) for s in SYSTEMS), ("windows", settings.get("tests", ""))):
        for word in words.split():
            name, _, package = word.rpartition("=")
            name = name or package.rsplit("/", 1)[-1]
            if package == "." and not name:
                name = setting
            found[name + (".exe" if system == "windows" else "")] = (system, package)
    return found


# --- Go ------------------------------------------------------------------------------------------


def environment():
    """Ours where the build depends on it, the machine's own else (proxy, checksum database)."""
    return {**os.environ, "CGO_ENABLED": "0", "GOARCH": "amd64", "GOWORK": "off",
            "GOFLAGS": "-buildvcs=false", "GOCACHE": os.path.join(cache(), "gocache"),
            "GOTOOLCHAIN": os.environ.get("GOTOOLCHAIN", "local")}


def go_version():
    """The machine's Go as numbers, or None."""
    try:
        text = subprocess.run(["go", "env", "GOVERSION"], text=True, capture_output=True, cwd="/",
                              check=False, env=environment()).stdout.strip()
    except OSError:
        return None
    return text.removeprefix("go") or None


def numbers(version):
    return tuple(int(n) for n in re.findall(r"\d+", version)[:3])


def require_go(wanted):
    """The machine's Go; NoGo when it cannot build for a module that wants that version."""
    there = go_version()
    if there is None:
        raise NoGo("Go %s or newer is needed to build the upstream programs: no `go` in PATH" % wanted)
    if numbers(there) < numbers(wanted):
        raise NoGo("Go %s or newer is needed to build the upstream programs: this is %s"
                   % (wanted, there))
    return there


def needed(name, settings):
    """The version of Go that a module of the tree states, without asking Go."""
    folder = os.path.join(HERE, settings["source"]) if "source" in settings else \
        os.path.join(PINS, name)
    try:
        with open(os.path.join(folder, "go.mod"), encoding="utf-8") as f:
            return re.search(r"^go (\S+)$", f.read(), re.M).group(1)
    except FileNotFoundError:
        return "1.24.0"  # the first one that knows tools in go.mod


def check():
    """NoGo unless this machine's Go can build every module of versions.ini."""
    require_go(max((needed(name, settings) for name, settings in versions().items()), key=numbers))


def go(folder, *words, system="linux", log=None, check=True):
    """Runs the go command in a module's folder; answers what it printed."""
    done = subprocess.run(["go", *words], cwd=folder, text=True, capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, env={**environment(), "GOOS": system})
    if log:
        with open(log, "a", encoding="utf-8") as f:
            f.write("$ go %s\n%s%s" % (" ".join(words), done.stdout, done.stderr))
    if check and done.returncode:
        why = "\n".join((done.stderr or done.stdout).strip().splitlines()[-20:])
        raise Failed("go %s %s: %s" % (words[0], words[-1], why))
    return done.stdout


# --- pinning -------------------------------------------------------------------------------------


def edited(path):
    """A go.mod as Go itself reads it."""
    return json.loads(go("/", "mod", "edit", "-json", path))


def replaced(upstream, settings):
    """(path, path, version) of what the module replaces, its own folders by published modules."""
    for row in upstream.get("Replace") or []:
        old, new = row["Old"], row["New"]
        if "Version" in new:
            yield old["Path"], new["Path"], new["Version"]
        elif settings.get("staging"):
            yield old["Path"], old["Path"], re.sub(r"^v1\.", "v0.", settings["version"])


def module_text(name, settings):
    """The go.mod of a small module that needs nothing but this one."""
    wanted = "%s@%s" % (settings["module"], settings["version"])
    there = json.loads(go("/", "list", "-m", "-json", wanted))
    if "GoMod" not in there:
        raise Failed("%s cannot be had: %s" % (wanted, there.get("Error", {}).get("Err", "no go.mod")))
    upstream = edited(there["GoMod"])
    lines = ["module winjoin.test/" + name, "", "go " + upstream["Go"], ""]
    lines += ["godebug %s=%s" % (g["Key"], g["Value"]) for g in upstream.get("Godebug") or []]
    swaps = list(replaced(upstream, settings))
    needs = [(settings["module"], settings["version"])]
    needs += [(old, version) for old, new, version in swaps if old == new]
    lines += block("require", ["%s %s" % need for need in needs])
    lines += block("replace", ["%s => %s %s" % swap for swap in swaps])
    lines += block("tool", sorted({package(settings, path) for _, path in
                                   table(name, settings).values()}))
    return "\n".join(lines) + "\n"


def block(word, rows):
    return ["", word + " (", *["\t" + row for row in rows], ")"] if rows else []


def tests_too(settings):
    """What makes the go command look at a package's integration tests, where these are what is built."""
    return ["-test", "-tags=integration"] if "tests" in settings else []


def package(settings, path):
    return settings["module"] if path == "." else settings["module"] + "/" + path


def copied(folder, wanted, line, work):
    """A copy of the module with one package of another in it, whose tests lack a line. Failed where none has it."""
    at = json.loads(go(folder, "list", "-mod=readonly", "-json=Dir,GoFiles,TestGoFiles", wanted, system="windows"))
    place, found = os.path.join(work, "copy", "tested"), 0
    os.makedirs(place)
    for leaf in at["GoFiles"] + at["TestGoFiles"]:
        with open(os.path.join(at["Dir"], leaf), encoding="utf-8") as f:
            lines = f.readlines()
        kept = [one for one in lines if one.strip() != line]
        found += len(lines) - len(kept)
        with open(os.path.join(place, leaf), "w", encoding="utf-8") as f:
            f.writelines(kept)
    if not found:
        raise Failed("no test of %s has the line '%s'" % (wanted, line))
    for leaf in ("go.mod", "go.sum"):
        shutil.copy(os.path.join(folder, leaf), os.path.dirname(place))
    return os.path.dirname(place)


def pin(name, settings, folder):
    """Writes go.mod and go.sum of a module again; the sums are checked by Go's checksum database."""
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(work, "go.mod"), "w", encoding="utf-8") as f:
            f.write(module_text(name, settings))
        for system in SYSTEMS:
            packages = [package(settings, p) for s, p in table(name, settings).values() if s == system]
            if packages:
                go(work, "list", "-mod=mod", "-deps", *tests_too(settings), *packages, system=system)
        if "without" in settings:
            work = copied(work, *packages, settings["without"], work)
            go(work, "list", "-mod=mod", "-deps", *tests_too(settings), "./tested", system="windows")
        go(work, "mod", "edit", "-fmt")
        os.makedirs(folder, exist_ok=True)
        for leaf in ("go.mod", "go.sum"):
            shutil.copyfile(os.path.join(work, leaf), os.path.join(folder, leaf))


def pinned(name, settings):
    """The folder of the module in the tree when it is the wanted version's, else None."""
    folder = os.path.join(PINS, name)
    try:
        with open(os.path.join(folder, "go.mod"), encoding="utf-8") as f:
            text = f.read()
    except FileNotFoundError:
        return None
    if not re.search(r"^(require )?\s*%s %s( //.*)?$" % (re.escape(settings["module"]),
                                                         re.escape(settings["version"])), text, re.M):
        return None
    return folder


# --- building ------------------------------------------------------------------------------------


def home(name, settings):
    """The folder of the cache that holds a section's programs for this very build."""
    if "source" in settings:
        key, version = tree_hash(os.path.join(HERE, settings["source"])), "tree"
    else:
        key = settings["module"] + settings["version"] + settings.get("tells", "") + settings.get("without", "")
        version = settings["version"]
    key = hashlib.sha256("\n".join([RECIPE, key, settings.get("stamp", ""), go_version() or ""])
                         .encode()).hexdigest()[:8]
    return os.path.join(cache(), "%s-%s-%s" % (name, version, key))


def tree_hash(folder):
    """Of everything that a module of this tree consists of."""
    whole = hashlib.sha256()
    for at, folders, leaves in os.walk(folder):
        folders.sort()
        for leaf in sorted(leaves):
            path = os.path.join(at, leaf)
            whole.update(os.path.relpath(path, folder).encode() + b"\0")
            with open(path, "rb") as f:
                whole.update(f.read() + b"\0")
    return whole.hexdigest()


def linker_flags(settings):
    """-s -w and the version that the program tells (Kubernetes' names, or containerd's)."""
    flags, version = ["-s", "-w"], settings.get("tells") or settings.get("version", "")
    for at in settings.get("stamp", "").split():
        if settings.get("staging"):
            minor = numbers(version)[1]
            values = {"gitVersion": version, "gitMajor": "1", "gitMinor": str(minor),
                      "gitTreeState": "clean", "gitCommit": "0" * 40,
                      "buildDate": "2026-01-01T00:00:00Z"}
        else:
            values = {"Version": version}
        flags += ["-X %s.%s=%s" % (at, key, value) for key, value in values.items()]
    return " ".join(flags)


def module_folder(name, settings, place):
    """Where the go command runs: the tree's module, or one made in the cache for another version."""
    if "source" in settings:
        return os.path.join(HERE, settings["source"])
    there = pinned(name, settings)
    if there:
        return there
    folder = os.path.join(place, "module")
    if not os.path.exists(os.path.join(folder, "go.sum")):
        say("upstream: %s %s has no pinned sums in the tree: resolving it now (to keep this version: "
            "tests/cluster/build.py --pin %s)" % (name, settings["version"], name))
        work = tempfile.mkdtemp(prefix="module.", dir=place)
        pin(name, settings, work)
        os.rename(work, folder)
    return folder


def processor_seconds():
    """What the programs that were run so far cost, on all cores together."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build(name, settings, program, place):
    """Builds one program beside its place and moves it there whole."""
    system, path = table(name, settings)[program]
    folder = module_folder(name, settings, place)
    require_go(edited(os.path.join(folder, "go.mod"))["Go"])
    wanted = "./" + path.removeprefix("./") if "source" in settings else package(settings, path)
    begin, before = time.monotonic(), processor_seconds()
    say("upstream: building %s (%s %s, %s) ..." % (program, name, settings.get("version", "of the tree"),
                                                   system))
    work = tempfile.mkdtemp(prefix="build.", dir=place)
    try:
        verb = ["test", "-c", "-tags=integration"] if "tests" in settings else ["build"]
        if "without" in settings:
            folder, wanted = copied(folder, wanted, settings["without"], work), "./tested"
        go(folder, *verb, "-mod=readonly", "-trimpath", "-ldflags", linker_flags(settings), "-o",
           os.path.join(work, program), wanted, system=system, log=os.path.join(place, "build.log"))
        os.makedirs(os.path.join(place, "bin", system), exist_ok=True)
        os.rename(os.path.join(work, program), os.path.join(place, "bin", system, program))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    say("upstream: built    %s in %.1f s (%.0f s of processor time)"
        % (program, time.monotonic() - begin, processor_seconds() - before))


@contextlib.contextmanager
def alone(place):
    """One build of a module at a time; a second one waits and finds what the first has built."""
    os.makedirs(place, exist_ok=True)
    with open(os.path.join(place, "lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("upstream: another build in %s is running; waiting for it" % place)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def owner(program, sections, of=None):
    """The section that a program belongs to; of names one of several."""
    for name, settings in sections.items():
        if (of == name if of else not settings.get("demand")) and program in table(name, settings):
            return name
    for name, settings in sections.items():
        if not of and program in table(name, settings):
            return name
    raise Failed("no upstream program '%s'%s in %s" % (program, " of " + of if of else "", VERSIONS))


def everything(sections):
    return [p for name, settings in sections.items() if not settings.get("demand")
            for p in table(name, settings)]


def place_of(program, name, settings):
    system = table(name, settings)[program][0]
    return os.path.join(home(name, settings), "bin", system, program)


def ensure(wanted=None, of=None):
    """Program name -> path of each wanted program (None: all that are not on demand)."""
    sections, found, missing = versions(), {}, []
    for program in wanted if wanted is not None else everything(sections):
        name = owner(program, sections, of)
        found[program] = place_of(program, name, sections[name])
        if not os.path.exists(found[program]):
            missing.append((program, name))
    if missing:
        require_go(max((needed(name, sections[name]) for _, name in missing), key=numbers))
    for program, name in missing:
        place = home(name, sections[name])
        with alone(place):
            if not os.path.exists(found[program]):
                build(name, sections[name], program, place)
    return found
