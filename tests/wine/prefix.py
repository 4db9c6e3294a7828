#!/usr/bin/env python3
"""Wine prefixes that pass for a Windows Server.

    prefix.py make [--build 17763|20348|26100]     prints the folder of the prepared prefix
    prefix.py copy TARGET [--build B] [--dlls DIR] a prefix of one's own, by hard links

The prepared ones stand in ${WINJOIN_CACHE:-${XDG_CACHE_HOME:-~/.cache}/winjoin}/wine-HASH-BUILD and
are made once a machine; the DLLs that fill Wine's gaps are put into each copy.
"""
import argparse
import fcntl
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DLLS = os.path.join(ROOT, "build", "windows", "rig")
WINE, WINESERVER = "/usr/lib/wine/wine64", "/usr/lib/wine/wineserver64"
# Windows' own names and patch levels of the three Servers that can be played.
BUILDS = {"17763": ("Windows Server 2019 Datacenter", "1809", 5329),
          "20348": ("Windows Server 2022 Datacenter", "21H2", 2340),
          "26100": ("Windows Server 2025 Datacenter", "24H2", 2033)}
# What is asked for where: version values by winjoin and kubelet, HardwareConfig and BootId by
# kubelet >= 1.37, ProductOptions by everything that tells a Server from a client.
REGISTRY = r"""REGEDIT4

[HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows NT\CurrentVersion]
"ProductName"="{name}"
"InstallationType"="Server"
"EditionID"="ServerDatacenter"
"DisplayVersion"="{display}"
"CurrentVersion"="10.0"
"CurrentBuild"="{build}"
"CurrentBuildNumber"="{build}"
"CurrentMajorVersionNumber"=dword:0000000a
"CurrentMinorVersionNumber"=dword:00000000
"UBR"=dword:{ubr:08x}

[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\ProductOptions]
"ProductType"="ServerNT"

[HKEY_LOCAL_MACHINE\SYSTEM\HardwareConfig]
"LastConfig"="{{4c4c4544-0042-3510-8052-b4c04f4a4d31}}"

[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters]
"BootId"=dword:00000007

[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\SharedAccess\Parameters\FirewallPolicy\FirewallRules]

[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\hns\State]
"InstanceId"="winjoin-rig"
"""
# The service hns, as Wine writes its registry.
HNS_SERVICE = r"""
[System\\CurrentControlSet\\Services\\hns]
"DisplayName"="Host Network Service"
"ErrorControl"=dword:00000001
"ImagePath"=str(2):"C:\\windows\\system32\\hns.exe"
"ObjectName"="LocalSystem"
"Start"=dword:00000002
"Type"=dword:00000010
"""
FOLDERS = ("ProgramData/Microsoft/Windows/HNS",)


def cache():
    """Wine takes no prefix in a folder of another's: root by way of sudo gets one beside it."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = os.environ.get("WINJOIN_CACHE") or os.path.join(base, "winjoin")
    if os.path.exists(path) and os.stat(path).st_uid != os.getuid():
        path += "-%d" % os.getuid()
    return path


def surroundings(prefix):
    return dict(os.environ, WINEPREFIX=prefix, WINEARCH="win64", DISPLAY="", WINEDEBUG="-all",
                WINEDLLOVERRIDES="mscoree,mshtml=")


def wine(prefix, *argv, timeout=180):
    done = subprocess.run([WINE, *argv], env=surroundings(prefix), timeout=timeout, check=False,
                          capture_output=True, text=True, cwd="/")
    if done.returncode:
        raise RuntimeError("wine %s: exit code %d: %s" % (
            " ".join(argv), done.returncode, done.stderr.strip()))


def settle(prefix):
    """Ends the prefix' programs and waits until its server has written the registry."""
    for flag in ("-k", "-w"):
        subprocess.run([WINESERVER, flag], env=surroundings(prefix), check=False, timeout=60,
                       stderr=subprocess.DEVNULL)


def make(build="20348"):
    """The prepared prefix of that build; made if it is not there. Answers its folder."""
    if not os.path.exists(WINE):
        raise RuntimeError("'%s' is not installed (dist/packages.txt)" % WINE)
    version = subprocess.run([WINE, "--version"], capture_output=True, text=True,
                             check=True).stdout
    recipe = version + REGISTRY + repr(BUILDS) + repr(FOLDERS)
    mark = hashlib.sha256(recipe.encode()).hexdigest()[:12]
    os.makedirs(cache(), exist_ok=True)
    target = os.path.join(cache(), "wine-%s-%s" % (mark, build))
    with open(os.path.join(cache(), "wine.lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(target):
            base = os.path.join(cache(), "wine-%s-base" % mark)
            if not os.path.exists(base):
                _build(base, lambda p: wine(p, "wineboot", "-i"))
            _build(target, lambda p: _server(base, p, build))
            _forget_old(mark)
        os.utime(target)
    return target


def _forget_old(mark):
    """Prepared prefixes of other recipes that nobody used for three days; they are 700 MB each."""
    for path in glob.glob(os.path.join(cache(), "wine-*")):
        if os.path.isdir(path) and mark not in path \
                and time.time() - os.stat(path).st_mtime > 3 * 86400:
            shutil.rmtree(path, ignore_errors=True)


def _build(target, fill):
    """Fills a folder beside the target and renames it: no half-made prefix is ever used."""
    new = target + ".new"
    shutil.rmtree(new, ignore_errors=True)
    try:
        fill(new)
        settle(new)
        os.rename(new, target)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _server(base, new, build):
    name, display, ubr = BUILDS[build]
    link(base, new)
    path = os.path.join(new, "server.reg")
    with open(path, "w", encoding="ascii") as f:
        f.write(REGISTRY.format(name=name, display=display, ubr=ubr, build=build))
    wine(new, "regedit", "/S", "Z:" + path.replace("/", "\\"))
    os.remove(path)
    for folder in FOLDERS:
        os.makedirs(os.path.join(new, "drive_c", folder), exist_ok=True)


def link(source, target):
    """Hard links for what never changes, real copies of the registry (Wine writes it)."""
    subprocess.run(["cp", "-al", source, target], check=True)
    for reg in glob.glob(os.path.join(target, "*.reg")):
        name = os.path.basename(reg)
        os.remove(reg)
        shutil.copy(os.path.join(source, name), target)


def copy(target, build="20348", dlls=DLLS, names=None):
    """A prefix of one's own: what is prepared, and the gap DLLs (all, or those named)."""
    source = make(build)
    os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    link(source, target)
    system = os.path.join(target, "drive_c", "windows", "system32")
    for path in sorted(glob.glob(os.path.join(dlls or "", "*.dll"))):
        name = os.path.basename(path)
        if names is None or name in names:
            if name == "iphlpapi.dll":
                keep_wines(system, name)
            put(path, os.path.join(system, name))
    powershell = os.path.join(dlls or "", "powershell.exe")
    if names is None and os.path.exists(powershell):
        put(powershell, os.path.join(system, "WindowsPowerShell", "v1.0", "powershell.exe"))
    hns = os.path.join(dlls or "", "hns.exe")
    if names is None and os.path.exists(hns):
        put(hns, os.path.join(system, "hns.exe"))
        with open(os.path.join(target, "system.reg"), "a", encoding="ascii") as f:
            f.write(HNS_SERVICE)
    return target


def keep_wines(system, name):
    """Wine's own library under the name wNAME, to which ours hands on what it does not do. Without
    the builtin's mark Wine loads the file as it loads any program's."""
    with open(os.path.join(system, name), "rb") as f:
        data = f.read()
    with open(os.path.join(system, "w" + name), "wb") as f:
        f.write(data.replace(b"Wine builtin DLL", b"\0" * 16, 1))


def put(source, target):
    """Replaces a file; what was there may be linked to the prepared prefix."""
    if os.path.lexists(target):
        os.remove(target)
    shutil.copy(source, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("make", "copy"))
    parser.add_argument("target", nargs="?")
    parser.add_argument("--build", default="20348", choices=sorted(BUILDS))
    parser.add_argument("--dlls", default=DLLS)
    args = parser.parse_args()
    if args.verb == "copy" and not args.target:
        parser.error("copy needs a TARGET")
    print(make(args.build) if args.verb == "make" else copy(args.target, args.build, args.dlls))
    return 0


if __name__ == "__main__":
    sys.exit(main())
