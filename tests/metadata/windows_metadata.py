"""Microsoft's metadata of Windows' API, Windows.Win32.winmd, from the crate that carries it; nothing of that is built."""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from kept_files import Missing, kept  # noqa: E402

VERSION = "0.66.0"  # the last one that carries it
DIGEST = "97d24cf1a9dc3e50782bbf1dba0952bf6a025fa583d8b3ae6c5ef713b463c869"
PACKAGE = """[package]
name = "metadata"
version = "0.0.0"
edition = "2021"
[lib]
path = "Cargo.toml"
[dependencies]
windows-bindgen = "=%s"
""" % VERSION


def download(folder):
    if not shutil.which("cargo"):
        raise Missing("no cargo to download windows-bindgen %s" % VERSION)
    pathlib.Path(folder, "Cargo.toml").write_text(PACKAGE, encoding="utf-8")
    done = subprocess.run(["cargo", "vendor", "crates"], cwd=folder, capture_output=True, text=True, check=False, timeout=280)
    if done.returncode:
        raise Missing("cargo vendor: " + done.stderr.strip()[-300:])
    return os.path.join(folder, "crates/windows-bindgen/default/Windows.Win32.winmd")


def path():
    return kept("Windows.Win32-%s.winmd" % VERSION, DIGEST, download)
