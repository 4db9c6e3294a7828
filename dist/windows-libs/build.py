#!/usr/bin/env python3
"""Builds the Windows libraries of libraries.ini and keeps them in a cache outside the tree.

    build.py --link DIR     make DIR a link to the finished prefix (include/, lib/, built.json)
    build.py --print        print the prefix's path

Each library is kept under a hash of what makes it: its section, its recipe, the compiler and the
libraries it needs. What is built already costs nothing, so CI and a second worktree pay once.
The cache is $WINJOIN_CACHE, else $XDG_CACHE_HOME/winjoin, else ~/.cache/winjoin.
"""

import argparse
import configparser
import contextlib
import fcntl
import hashlib
import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TARGET = "x86_64-w64-mingw32"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
CFLAGS = "-Os -ffunction-sections -fdata-sections -D_WIN32_WINNT=0x0A00"


def say(text):
    print(text, file=sys.stderr, flush=True)


def cache_dir():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("WINJOIN_CACHE") or os.path.join(home, "winjoin"))


def run(words, cwd, log, env=None):
    """Runs a build step into the library's log; shows the log's end when it fails."""
    with open(log, "ab") as out:
        out.write(("\n$ " + " ".join(map(str, words)) + "\n").encode())
        out.flush()
        done = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env)
    if done.returncode != 0:
        tail = log.read_text(errors="replace").splitlines()[-40:]
        say("\n".join(tail))
        raise SystemExit(f"error: '{words[0]}' failed ({done.returncode}); its whole log: {log}")


# --- fetching -----------------------------------------------------------------------------------


def debian_mirror():
    """The mirror that this machine's own apt uses, so that proxies and policies hold for us too."""
    for path in sorted(pathlib.Path("/etc/apt").glob("sources.list.d/*.sources")):
        for stanza in path.read_text().split("\n\n"):
            uri = re.search(r"^URIs:\s*(\S+/debian)/?\s*$", stanza, re.M)
            if uri and re.search(r"^Types:.*\bdeb\b", stanza, re.M):
                return uri.group(1)
    lists = [pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*.list"))]
    for path in lists:
        text = path.read_text() if path.exists() else ""
        uri = re.search(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+/debian)/?\s", text, re.M)
        if uri:
            return uri.group(1)
    named = os.environ.get("WINJOIN_DEBIAN_MIRROR")
    if named:
        return named
    raise SystemExit("error: apt's sources name no Debian mirror; give one as WINJOIN_DEBIAN_MIRROR=URL")


class SourceArchive:
    """A private deb-src view of the wanted suites; the system's own lists stay as they are."""

    def __init__(self, folder, suites):
        self.folder = folder
        for name in ("sources.d", "lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "sources.d/source.sources").write_text(
            f"Types: deb-src\nURIs: {debian_mirror()}\nSuites: {suites}\nComponents: main\nSigned-By: {KEYRING}\n")
        config = folder / "apt.conf"
        config.write_text(
            'Dir::Etc::sourcelist "/dev/null";\n'
            f'Dir::Etc::sourceparts "{folder}/sources.d";\n'
            f'Dir::State::lists "{folder}/lists";\n'
            f'Dir::Cache "{folder}/cache";\n'
            'Acquire::Retries "3";\n' + ('APT::Sandbox::User "root";\n' if os.geteuid() == 0 else ""))
        self.env = dict(os.environ, APT_CONFIG=str(config), LC_ALL="C.UTF-8")
        run(["apt-get", "update", "-q"], folder, folder / "apt.log", self.env)

    def available(self, source):
        text = subprocess.run(["apt-cache", "showsrc", "--only-source", source], env=self.env, check=True,
                              capture_output=True, text=True).stdout
        found = []
        for stanza in text.split("\n\n"):
            version = re.search(r"^Version: (\S+)$", stanza, re.M)
            if version and f"Package: {source}\n" in stanza:
                found.append(version.group(1))
        return found

    def unpack(self, source, wanted, patches, folder, log):
        """Fetches and unpacks the wanted version, or the newest that can still be had; returns it."""
        only = [] if patches else ["--tar-only"]
        others = [v for v in self.available(source) if v != wanted]
        for version in [wanted, *reversed(others)]:
            done = subprocess.run(["apt-get", "source", "-q", *only, f"{source}={version}"], cwd=folder, env=self.env,
                                  capture_output=True, text=True)
            with open(log, "a") as out:
                out.write(done.stdout + done.stderr)
            for tarball in [] if patches else folder.glob("*.orig.tar.*"):
                shutil.unpack_archive(tarball, folder)
            trees = [p for p in folder.iterdir() if p.is_dir()]
            if done.returncode == 0 and trees:
                if version != wanted:
                    say(f"warning: {source} {wanted} is gone from the mirror; took {version}")
                return trees[0], version
        raise SystemExit(f"error: cannot fetch source '{source}': tried {[wanted, *others]}; log: {log}")


# --- building -----------------------------------------------------------------------------------


def build_openssl(tree, prefix, options, jobs, log, roots):
    # The folders that the library names in itself: nothing is read there (no-autoload-config), and
    # on Windows only administrators could put anything there. Its flags stand in the library too:
    # they name no folder.
    inside = "/Windows/System32/winjoin-none"
    run(["perl", "./Configure", "mingw64", f"--cross-compile-prefix={TARGET}-", "--libdir=lib",
         f"--prefix={inside}", f"--openssldir={inside}", *options, f"CFLAGS={CFLAGS}"], tree, log)
    # Where its scripts find no assembler they write what machines without AVX-512 run: 0.8 MB less, and all others
    # keep AES-NI. Made first, so that the build finds them newer than the scripts.
    made = ("modes/aes-gcm", "aes/aesni-xts", "bn/rsaz-2k", "bn/rsaz-3k", "bn/rsaz-4k")
    run(["make", "CC=false", *(f"crypto/{name}-avx512.s" for name in made)], tree, log)
    run(["make", f"-j{jobs}", "build_libs"], tree, log)
    root = prefix.with_name("root")
    run(["make", "install_dev", f"DESTDIR={root}"], tree, log)
    (root / inside.lstrip("/")).rename(prefix)


def configure_cmake(tree, prefix, options, log, roots):
    cflags = f"{CFLAGS} -ffile-prefix-map={tree}={tree.name}"
    settings = {
        "CMAKE_SYSTEM_NAME": "Windows",
        "CMAKE_SYSTEM_PROCESSOR": "x86_64",
        "CMAKE_C_COMPILER": f"{TARGET}-gcc",
        "CMAKE_RC_COMPILER": f"{TARGET}-windres",
        "CMAKE_FIND_ROOT_PATH": ";".join([*map(str, roots), f"/usr/{TARGET}"]),
        "CMAKE_PREFIX_PATH": ";".join(map(str, roots)),
        "CMAKE_FIND_ROOT_PATH_MODE_PROGRAM": "NEVER",
        "CMAKE_FIND_ROOT_PATH_MODE_LIBRARY": "ONLY",
        "CMAKE_FIND_ROOT_PATH_MODE_INCLUDE": "ONLY",
        "CMAKE_FIND_ROOT_PATH_MODE_PACKAGE": "ONLY",
        "CMAKE_POLICY_VERSION_MINIMUM": "3.5",
        "CMAKE_BUILD_TYPE": "None",
        "CMAKE_C_FLAGS": cflags,
        "CMAKE_INSTALL_PREFIX": str(prefix),
        "CMAKE_INSTALL_LIBDIR": "lib",
        "BUILD_SHARED_LIBS": "OFF",
    }
    words = [f"-D{key}={value}" for key, value in settings.items()] + [f"-D{o}" for o in options]
    run(["cmake", "-G", "Ninja", "-S", str(tree), "-B", str(tree / "obj.windows"), *words], tree, log)


def build_cmake(tree, prefix, options, jobs, log, roots):
    configure_cmake(tree, prefix, options, log, roots)
    run(["ninja", f"-j{jobs}", "-C", str(tree / "obj.windows"), "install"], tree, log)


def build_zlib(tree, prefix, options, jobs, log, roots):
    # Its CMake file always installs a DLL too, whose resource file Debian's source leaves out.
    configure_cmake(tree, prefix, options, log, roots)
    run(["ninja", f"-j{jobs}", "-C", str(tree / "obj.windows"), "zlibstatic"], tree, log)
    for folder in ("include", "lib"):
        (prefix / folder).mkdir(parents=True)
    shutil.copy(tree / "zlib.h", prefix / "include")
    shutil.copy(tree / "obj.windows/zconf.h", prefix / "include")
    shutil.copy(tree / "obj.windows/libzlibstatic.a", prefix / "lib/libz.a")


def build_zstd(tree, prefix, options, jobs, log, roots):
    # Its CMake file cannot leave compression out. From the environment its flags are added to, not replaced.
    run(["env", f"CFLAGS={CFLAGS}", "make", "-C", "lib", f"-j{jobs}", f"CC={TARGET}-gcc", f"AR={TARGET}-ar", *options,
         "libzstd.a"], tree, log)
    for folder, files in (("include", ("zstd.h", "zstd_errors.h")), ("lib", ("libzstd.a",))):
        (prefix / folder).mkdir(parents=True)
        for file in files:
            shutil.copy(tree / "lib" / file, prefix / folder)


# The first function builds; all of them together are what the library's key is made of.
RECIPES = {"openssl": [build_openssl], "cmake": [build_cmake, configure_cmake], "zlib": [build_zlib, configure_cmake],
           "zstd": [build_zstd]}


def keep_static(prefix):
    """Leaves headers, static archives and CMake's descriptions, so that nothing else can be found."""
    for name in ("bin", "share", "lib/pkgconfig"):
        shutil.rmtree(prefix / name, ignore_errors=True)
    for path in (prefix / "lib").glob("*.dll.a"):
        path.unlink()


def library_key(section, keys):
    compiler = subprocess.run([f"{TARGET}-gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout
    recipe = [*RECIPES[section["recipe"]], keep_static]
    parts = [compiler, CFLAGS, *map(inspect.getsource, recipe)]
    parts += [f"{key}={' '.join(section[key].split())}" for key in ("source", "version", "options")]
    parts += [] if section.getboolean("patches") else ["tarball"]
    parts += [keys[need] for need in section["needs"].split()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def build_library(name, section, folder, roots, archive, jobs):
    """Builds one library beside its place and moves it there whole."""
    work = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}.", dir=folder.parent))
    log = work / "log"
    say(f"LIB {name} {section['version']}")
    begin = time.monotonic()
    (work / "source").mkdir()
    tree, version = archive().unpack(section["source"], section["version"], section.getboolean("patches"),
                                     work / "source", log)
    prefix = work / "prefix"
    RECIPES[section["recipe"]][0](tree, prefix, section["options"].split(), jobs, log, roots)
    keep_static(prefix)
    built = {"name": name, "source": section["source"], "version": version, "licence": section["licence"],
             "shipped": section.getboolean("shipped"), "configuration": section["options"].split()}
    (prefix / "built.json").write_text(json.dumps(built, indent=1) + "\n")
    prefix.rename(folder)
    shutil.rmtree(work)
    say(f"LIB {name} built in {time.monotonic() - begin:.0f} s")


def merge(folders, prefix):
    """One prefix of all libraries, by hard links; made beside its place and moved there whole."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="prefix.", dir=prefix.parent))
    for folder in folders:
        for part in ("include", "lib"):
            shutil.copytree(folder / part, work / part, dirs_exist_ok=True, copy_function=os.link)
    built = [json.loads((folder / "built.json").read_text()) for folder in folders]
    (work / "built.json").write_text(json.dumps({"libraries": built}, indent=1) + "\n")
    work.chmod(0o755)
    work.rename(prefix)


def ensure(jobs, kind="windows-libs", shipped_only=False):
    """Returns the prefix with every library, building what is missing; kind: their folder in the cache."""
    libraries = configparser.ConfigParser(interpolation=None, strict=True)
    libraries.read_string((HERE / "libraries.ini").read_text())
    cache = cache_dir() / kind
    cache.mkdir(parents=True, exist_ok=True)
    opened = []

    def archive():
        if not opened:
            opened.append(SourceArchive(cache / "apt", libraries["DEFAULT"]["suites"]))
        return opened[0]

    with open(cache / "lock", "w") as lock, contextlib.ExitStack():
        fcntl.flock(lock, fcntl.LOCK_EX)
        keys, folders = {}, {}
        for name in libraries.sections():
            section = libraries[name]
            if shipped_only and not section.getboolean("shipped"):
                continue
            keys[name] = library_key(section, keys)
            folders[name] = cache / f"{name}-{keys[name]}"
            if not (folders[name] / "built.json").exists():
                roots = [folders[need] for need in section["needs"].split()]
                build_library(name, section, folders[name], roots, archive, jobs)
        whole = hashlib.sha256("".join(keys.values()).encode()).hexdigest()[:16]
        prefix = cache / f"prefix-{whole}"
        if not (prefix / "built.json").exists():
            merge(folders.values(), prefix)
    return prefix


def main(build_all=ensure, about=__doc__):
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--link", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 2, 8))
    args = parser.parse_args()
    prefix = build_all(args.jobs)
    if args.link:
        args.link.parent.mkdir(parents=True, exist_ok=True)
        fresh = args.link.with_name(args.link.name + f".{os.getpid()}")
        fresh.symlink_to(prefix)
        fresh.replace(args.link)
    if args.print:
        print(prefix)


if __name__ == "__main__":
    main()
