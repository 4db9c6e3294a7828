"""Judges of pages from the npm registry: the Nu HTML checker, which Java runs, and axe-core, which a browser runs."""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from kept_files import Missing, kept  # noqa: E402

# Package and version -> its file, and that file's digest.
PUBLISHED = {
    "vnu-jar@26.9.27": ("build/dist/vnu.jar", "22f15dd39a33bed929d2a5c0cddf5946849a647eca9272bf4d5d00bc7e7a4d47"),
    "axe-core@4.14.1": ("axe.min.js", "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c")}


def npm_file(name):
    """The path of the file that the package of this name is for."""
    package = next(package for package in PUBLISHED if package.startswith(name + "@"))
    leaf, digest = PUBLISHED[package]

    def download(folder):
        if not shutil.which("npm"):
            raise Missing("no npm to download " + package)
        done = subprocess.run(["npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", package],
                              capture_output=True, text=True, check=False, timeout=280, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise Missing("npm install %s: %s" % (package, done.stderr.strip()[-300:]))
        return os.path.join(folder, "node_modules", name, leaf)
    return kept("%s-%s" % (package, os.path.basename(leaf)), digest, download)
