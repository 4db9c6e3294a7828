"""Microsoft's metadata of Windows' API, Windows.Win32.winmd, from the crate that carries it: path() gives the file.

Cargo downloads the crate once into the cache; the file is held to its digest. Nothing of the crate is built.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

CACHE = pathlib.Path(os.environ.get("WINJOIN_CACHE", pathlib.Path.home() / ".cache/winjoin"))
VERSION, DIGEST = "0.66.0", "97d24cf1a9dc3e50782bbf1dba0952bf6a025fa583d8b3ae6c5ef713b463c869"  # the last version that carries it
PACKAGE = """[package]
name = "metadata"
version = "0.0.0"
edition = "2021"
[lib]
path = "Cargo.toml"
[dependencies]
windows-bindgen = "=%s"
""" % VERSION


class Missing(Exception):
    """It cannot be downloaded on this machine."""


def download(target):
    with tempfile.TemporaryDirectory() as work:
        pathlib.Path(work, "Cargo.toml").write_text(PACKAGE, encoding="utf-8")
        done = subprocess.run(["cargo", "vendor", "crates"], cwd=work, capture_output=True, text=True, check=False, timeout=280)
        if done.returncode:
            raise Missing("cargo vendor: " + done.stderr.strip()[-300:])
        fresh = target.with_suffix(".%d" % os.getpid())
        shutil.copyfile(os.path.join(work, "crates/windows-bindgen/default/Windows.Win32.winmd"), fresh)
        fresh.replace(target)


def path():
    target = CACHE / ("Windows.Win32-%s.winmd" % VERSION)
    if not target.exists():
        if not shutil.which("cargo"):
            raise Missing("no cargo to download windows-bindgen %s" % VERSION)
        CACHE.mkdir(parents=True, exist_ok=True)
        download(target)
    if hashlib.sha256(target.read_bytes()).hexdigest() != DIGEST:
        raise AssertionError("%s is not what windows-bindgen %s carries: remove it" % (target, VERSION))
    return target
