"""The whole state of a played Windows host at one moment, and what differs between two.

A snapshot is a dict of dicts: area -> name -> value, all of them text. What changes by itself
(Wine's own bookkeeping, numbers of interfaces, clocks) is left out, and only that."""
import hashlib
import os
import re

SAVEREG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "windows",
                       "rig", "savereg.exe")
# Below drive_c. What Wine or a starting program writes of itself on every host.
FILES_LEFT_OUT = re.compile(r"^(windows/(temp|logs)/|users/[^/]+/(temp|appdata/local/temp)/|"
                            r"windows/system32/winevt/|out-\d+$|tmp/|"
                            # what a reset keeps: the logs and reports of winjoin's runs
                            r"programdata/winjoin/(logs/|reports/|$))", re.I)
KEYS_LEFT_OUT = re.compile(
    # the fonts of the console: Wine writes them at a start, by its caller's locale
    r"\\Hardware Profiles\\Current\\Software\\Fonts\\|"
    # empty stores of certificates, which Wine makes when one is opened and Windows has from the start
    r"^Software\\Microsoft\\SystemCertificates\\|"
    r"^Software\\(Classes|Wine)\\|\\Windows NT\\CurrentVersion\\(Prefetcher|Time Zones)\\|\\Enum\\|"
    r"\\Control\\(DeviceClasses|Video|Class|ServiceCurrent)\\|"
    r"\\Services\\(winebus|winehid|winexinput|winusb|wineusb|nsiproxy|mountmgr|ndis)\\", re.I)
SERVICES = re.compile(r"System\\[^\\]*ControlSet\d*\\Services\\")
VALUES_LEFT_OUT = re.compile(r"^(LastWrite|Timestamp|InstallTime)", re.I)


def take(host):
    """Of a winhost.Host; runs one program on it for the registry."""
    state = host.control({"op": "dump"})
    return {"files": files(host.drive), **registry(host), "adapters": adapters(host),
            "routes": routes(host), "hns": hns(state)}


def files(drive):
    """Path -> kind or hash. What is hard-linked from the prepared prefix is known by its number."""
    out = {}
    for folder, names, leaves in os.walk(drive):
        for name in names + leaves:
            path = os.path.join(folder, name)
            short = os.path.relpath(path, drive)
            if not FILES_LEFT_OUT.match(short + ("/" if name in names else "")):
                out[short.replace("/", "\\")] = _file(path)
    return out


def _file(path):
    if os.path.islink(path):
        return "link to " + os.readlink(path)
    if os.path.isdir(path):
        return "folder"
    status = os.stat(path)
    if status.st_nlink > 1:
        return "prepared %d, %d bytes" % (status.st_ino, status.st_size)
    with open(path, "rb") as f:
        return "sha256:%s, %d bytes" % (hashlib.file_digest(f, "sha256").hexdigest()[:16],
                                        status.st_size)


def registry(host):
    """HKLM, the services by themselves: "key\\value" -> data."""
    out = {"services": {}, "registry": {}}
    name = "C:\\windows\\temp\\snapshot.reg"
    done = host.run([SAVEREG, name])
    if done.returncode:
        raise RuntimeError("savereg: exit code %d %s" % (done.returncode, done.stderr))
    path = host.path(name)
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    os.remove(path)
    for key, value, data in _values(text.replace("\\\n", "")):
        area = "services" if SERVICES.match(key) else "registry"
        out[area][key + ("\\" + value if value else "")] = data
    return out


def _values(text):
    """(key, value, data) of a file in Wine's format; a key by itself has neither."""
    key, wanted = "", False
    for line in text.split("\n"):
        if line.startswith("["):
            key = line[1:line.rindex("]")].replace("\\\\", "\\")
            wanted = not KEYS_LEFT_OUT.search(key + "\\")
            if wanted:
                yield key, "", "key"
        elif wanted and line[:1] in ('"', "@") and "=" in line:
            value, data = line.split("=", 1)
            if not VALUES_LEFT_OUT.match(value.strip('"')):
                yield key, value.strip('"'), data.strip()


def adapters(host):
    out, alias = {}, {}
    for row in host.net("adapters"):
        if row[0] == "adapter":
            alias[row[1]] = row[2]
            out[row[2]] = "mac %s, mtu %s, %s, metric %s, forwarding %s, dhcp %s" % (
                row[3], row[4], "up" if row[5] == "1" else "down", *row[8:11])
        else:
            out["%s %s %s" % (alias[row[1]], row[0], "/".join(row[2:4]))] = " ".join(row[4:])
    return out


def routes(host):
    alias = {r[1]: r[2] for r in host.net("adapters") if r[0] == "adapter"}
    return {"%s/%s via %s on %s" % (r[2], r[3], r[4], alias.get(r[1], r[1])): "metric " + r[5]
            for r in host.net("routes")}


def hns(state):
    out = {}
    for area in ("networks", "endpoints", "namespaces", "loadBalancers"):
        for document in state.get(area, []):
            out["%s %s" % (area[:-1], document.get("Name") or document.get("ID"))] = str(
                document.get("Type", ""))
    return out


def compare(before, after):
    """What differs, a line each, sorted by area: "+" came, "-" went, "~" changed."""
    out = []
    for area in before:
        old, new = before[area], after[area]
        for name in sorted(old.keys() | new.keys()):
            if name not in old:
                out.append("%s: + %s (%s)" % (area, name, new[name][:60]))
            elif name not in new:
                out.append("%s: - %s (%s)" % (area, name, old[name][:60]))
            elif old[name] != new[name]:
                out.append("%s: ~ %s: %s -> %s" % (area, name, old[name][:60], new[name][:60]))
    return out
