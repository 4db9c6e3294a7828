#!/usr/bin/env python3
"""The include graph as docs/design/architecture.md states it: includes.py [ROOT]

Every include is written from the root; the tables below are the whole permission. A third-party or
platform header has one home. No circle: of headers, of files of several rooms, of rooms that call each other.
Prints a line for each that is not allowed; exit code 1 then.
"""

import pathlib
import re
import sys

# Who may include whom, besides itself.
MAY_INCLUDE = {
    "cmd": {"join", "diag", "node", "kube", "netsetup", "services", "pki", "host", "base", "templates"},
    "join": {"node", "kube", "netsetup", "services", "diag", "pki", "host", "base", "templates"},
    "node": {"kube", "netsetup", "services", "host", "base"},
    "diag": {"node", "kube", "netsetup", "services", "pki", "host", "base", "templates"},
    "netsetup": {"kube", "services", "host", "base", "templates"},
    "services": {"pki", "host", "base", "templates"},
    "kube": {"pki", "host", "base"},
    "pki": {"base"},
    "host": {"base"},
    "base": set(),
    "templates": set(),
}

# The rooms inside join/ that stand below the workflow: what each may include of join/, besides itself.
ROOMS = {
    "join/discovery": {"join/configuration"},
    "join/configuration": set(),
    "join/progress": set(),
    "join/kubelet": {"join/configuration", "join/progress"},
}

# Inside host/ the implementations are hidden: only they and the main files see their headers.
HIDDEN = {"host/curl": ("host/curl/",),
          "host/win32": ("host/win32/", "cmd/main_win32.c", "cmd/probe_main_win32.c"),
          "host/posix": ("host/posix/", "cmd/main_posix.c", "cmd/probe_main_posix.c"),
          "host/model": ("host/model/", "host/posix/")}

WIN32_HOMES = ("host/win32/", "cmd/main_win32.c", "cmd/probe_main_win32.c")
POSIX_HOMES = ("host/posix/", "cmd/main_posix.c", "cmd/probe_main_posix.c")

# System and third-party headers with one home each: pattern -> path prefixes that may include it.
HOMES = [
    (r"openssl/", ("pki/", "host/curl/")),
    (r"nghttp2/", ("services/grpc.c",)),
    (r"curl/", ("host/curl/",)),
    (r"(archive(_entry)?|zlib)\.h$", ("services/",)),
    (r"(jansson|yaml)\.h$", ("base/",)),
    (r"(windows|winsock2|ws2tcpip|winerror)\.h$", ("host/win32/win32.h",)),
    (r"(winsvc|winreg|iphlpapi|netioapi|windns|aclapi|sddl|shellapi|shlobj|tlhelp32"
     r"|wincrypt|bcrypt|ntstatus|winternl|objbase|io|conio|process|direct|evntprov|winternl|ws2ipdef|mswsock"
     r"|netfw|setupapi|winioctl|psapi|userenv)\.h$", WIN32_HOMES),
    (r"(unistd|dirent|dlfcn|fcntl|fnmatch|glob|grp|ifaddrs|netdb|poll|pthread|pwd|resolv|syslog|termios"
     r"|ftw|mntent|sched|spawn|strings)\.h$|(sys|net|netinet|arpa|linux)/", POSIX_HOMES),
]

# What the C library has on both platforms, with the few POSIX types that mingw brings too.
LIBC = re.compile(r"^(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal"
                  r"|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|tgmath|threads"
                  r"|time|uchar|wchar|wctype)\.h$|^sys/types\.h$|^sys/stat\.h$")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def check_local(path, folder, target, root):
    """Why "target" may not be included by path, or None."""
    head = target.split("/")[0]
    if "/" not in target or head not in MAY_INCLUDE:
        return "is not written from the root" if head != "tests" else "belongs to the tests"
    if not (root / target).exists():
        return "does not exist"
    if head != folder and head not in MAY_INCLUDE[folder]:
        return f"is not for {folder}/"
    room, other = path.rpartition("/")[0], target.rpartition("/")[0]
    if room in ROOMS and head == folder and other != room and other not in ROOMS[room]:
        return f"is not for {room}/"
    for hidden, homes in HIDDEN.items():
        if target.startswith(hidden + "/") and not path.startswith(homes):
            return f"is hidden in {hidden}/"
    return None


def check_system(path, target):
    """Why <target> may not be included by path, or None."""
    if LIBC.match(target):
        return None
    for pattern, homes in HOMES:
        if re.match(pattern, target):
            return None if path.startswith(homes) else f"has its home in {', '.join(homes)}"
    if path.startswith(WIN32_HOMES + POSIX_HOMES):
        return None
    return "has no home: add it to tests/lint/includes.py"


def check_file(path, text, root):
    """Yields (line, include, reason) for each include of one file that is not allowed."""
    folder = path.split("/")[0]
    for found in INCLUDE.finditer(text):
        bracket, target = found.groups()
        reason = check_local(path, folder, target, root) if bracket == '"' else check_system(path, target)
        if reason:
            line = text.count("\n", 0, found.start(2)) + 1
            yield line, target, reason


def check_tree(root):
    for folder in MAY_INCLUDE:
        for source in sorted((root / folder).rglob("*.[ch]")):
            path = source.relative_to(root).as_posix()
            for line, target, reason in check_file(path, source.read_text(errors="replace"), root):
                yield f"{path}:{line}: '{target}' {reason}"


# ---- circles ----

FUNCTION = re.compile(r"^(static )?(?!typedef|static|else|return)[a-z][\w \*]*?\b(\w+)\((?:[^;{}()]|\([^()]*\))*\)\s*\{", re.M)
CALL = re.compile(r"(?<![.>\w])([a-z]\w+)\s*\(")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


# Each holds rooms that it calls and that call it: its own files are no room beside them.
HUBS = {"cmd", "diag", "diag/cluster", "netsetup"}


def room_of(path):
    """The folder of a file; None where that is a hub."""
    room = path.rpartition("/")[0]
    return None if room in HUBS else room


def top_of(path):
    """join/ has rooms whose files never know each other; every other folder is one with all that is in it."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "join" and len(parts) > 2 else parts[0]


def circles(graph):
    """The strongly connected parts of more than one node, each sorted."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            part = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


def include_graph(texts, name):
    """Which file includes which, each under what `name` makes of its path."""
    graph = {}
    for path, text in texts.items():
        for _, target in INCLUDE.findall(text):
            if target in texts and name(target) != name(path):
                graph.setdefault(name(path), set()).add(name(target))
    return graph


def call_graph(texts):
    """Which room calls functions of which; a name that two rooms define tells nothing."""
    homes, graph, code = {}, {}, {}
    for path, text in texts.items():
        if path.endswith(".c"):
            code[path] = COMMENT.sub("", text)
            for static, name in FUNCTION.findall(code[path]):
                if not static:
                    homes.setdefault(name, set()).add(room_of(path))
    for path, text in code.items():
        own = {name for static, name in FUNCTION.findall(text) if static}
        for name in set(CALL.findall(text)) - own:
            for home in homes.get(name, ()):
                if len(homes[name]) == 1 and home != room_of(path) and home and room_of(path):
                    graph.setdefault(room_of(path), set()).add(home)
    return graph


def check_circles(root):
    texts = {source.relative_to(root).as_posix(): source.read_text(errors="replace")
             for folder in MAY_INCLUDE for source in sorted((root / folder).rglob("*.[ch]"))}
    headers = {path: text for path, text in texts.items() if path.endswith(".h")}
    for circle in circles(include_graph(headers, str)):
        yield f"headers include each other: {' '.join(circle)}"
    # A.c and A.h are one; inside a room a file and its private header may know each other
    for circle in circles(include_graph(texts, lambda path: path[:-2])):
        if len({top_of(name) for name in circle}) > 1:
            yield f"files of several rooms include each other: {' '.join(circle)}"
    for circle in circles(call_graph(texts)):
        yield f"rooms call each other: {' '.join(circle)}"


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    found = [*check_tree(root), *check_circles(root)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
