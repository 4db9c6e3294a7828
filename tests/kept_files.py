"""Files and programs of others that the tree has not: downloaded once, held to their digest, kept in the cache."""
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CACHE = pathlib.Path(os.environ.get("WINJOIN_CACHE", pathlib.Path.home() / ".cache/winjoin"))


class Missing(Exception):
    """It cannot be downloaded on this machine."""


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def kept(name, digest, download):
    """The path of the file; download(folder) brings it into an empty folder and answers where, or raises Missing."""
    target = CACHE / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as work:
            found = pathlib.Path(download(work))
            if digest_of(found) != digest:
                raise AssertionError("%s was downloaded with another digest than %s" % (name, digest))
            found.replace(target)
    if digest_of(target) != digest:
        raise AssertionError("%s is damaged: remove it" % target)
    return target


def python_programs(name, wanted):
    """The folder of the programs of a requirements file from the Python package index; installed once for each content."""
    folder = CACHE / ("%s-%s" % (name, hashlib.sha256(wanted.read_bytes()).hexdigest()[:12]))
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / (name + ".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            for words in ([sys.executable, "-m", "venv", str(folder)],
                          [str(folder / "bin/pip"), "install", "--quiet", "-r", str(wanted)]):
                done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=280)
                if done.returncode:
                    raise Missing("%s: %s" % (words[0], (done.stderr or done.stdout).strip()[-300:]))
            (folder / "complete").touch()
    return folder / "bin"
