"""Ansible and other judges and readers (requirements.txt) from the Python package index, in the cache: tools() gives their folder."""
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("WINJOIN_CACHE", pathlib.Path.home() / ".cache/winjoin"))
WANTED = HERE / "requirements.txt"


class Missing(Exception):
    """It cannot be installed on this machine."""


def tools():
    """Where ansible-playbook is; installed once for each requirements.txt."""
    name = "ansible-" + hashlib.sha256(WANTED.read_bytes()).hexdigest()[:12]
    folder = CACHE / name
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "ansible.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            for words in ([sys.executable, "-m", "venv", str(folder)],
                          [str(folder / "bin/pip"), "install", "--quiet", "-r", str(WANTED)]):
                done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=280)
                if done.returncode:
                    raise Missing("%s: %s" % (words[0], (done.stderr or done.stdout).strip()[-300:]))
            (folder / "complete").touch()
    return folder / "bin"
