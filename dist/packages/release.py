#!/usr/bin/env python3
"""A release: release.py VERSION OUT, or release.py --check VERSION [--notes FILE].

Refuses a version that is not such as 1.2.3, that is not the one of dist/version, that has no section with a date in
CHANGELOG.md, and a checkout with changes that are not committed. Then it makes the packages here and in a fresh clone in
another folder, and puts them into OUT, with notes.md, where both are the same bytes.
"""

import argparse
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Refused(Exception):
    """No release; says why."""


def notes(version, changelog):
    """What CHANGELOG.md says of a version: its section, without the heading."""
    heading = re.search(r"^## %s(.*)$" % re.escape(version), changelog, re.M)
    if not heading:
        raise Refused("CHANGELOG.md has no section '## %s (YYYY-MM-DD)'" % version)
    if not re.fullmatch(r" \(\d{4}-\d\d-\d\d\)", heading[1]):
        raise Refused("CHANGELOG.md says '%s': give it its date, '## %s (YYYY-MM-DD)'" % (heading[0], version))
    text = re.split(r"^## ", changelog[heading.end():], maxsplit=1, flags=re.M)[0].strip()
    if not text:
        raise Refused("CHANGELOG.md says nothing of %s" % version)
    return text + "\n"


def check(version, stated, changelog):
    """The notes of a release that may be made."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise Refused("'%s' is no version such as 1.2.3" % version)
    if version != stated:
        raise Refused("dist/version says %s, not %s: change it, commit, and make the release again" % (stated, version))
    return notes(version, changelog)


def run(*words, cwd):
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}  # else one job at a time
    if subprocess.run(words, cwd=cwd, env=env, check=False).returncode:
        raise Refused("%s failed" % " ".join(map(str, words)))


def differing(one, other):
    """The files that only one has, or that differ."""
    names = {path.relative_to(folder) for folder in (one, other) for path in folder.rglob("*") if path.is_file()}
    return sorted(str(name) for name in names if not ((one / name).is_file() and (other / name).is_file() and
                                                      filecmp.cmp(one / name, other / name, shallow=False)))


def make(version, out, text):
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    if changed:
        raise Refused("the checkout has changes that are not committed:\n" + changed.rstrip())
    run("make", "dist", cwd=ROOT)
    with tempfile.TemporaryDirectory(prefix="winjoin-release-") as work:
        clone = pathlib.Path(work, "again")
        run("git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone), cwd=work)
        run("git", "checkout", "--quiet", subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                                                         check=True).stdout.strip(), cwd=clone)
        run("make", "dist", cwd=clone)
        if differ := differing(ROOT / "build/dist", clone / "build/dist"):
            raise Refused("built twice, these are not the same bytes: " + ", ".join(differ))
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / "build/dist", out)
    (out / "notes.md").write_text(text, encoding="utf-8")
    print("winjoin %s is in %s" % (version, out))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("out", nargs="?", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--notes", type=pathlib.Path)
    given = parser.parse_args()
    try:
        text = check(given.version, (ROOT / "dist/version").read_text().strip(), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
        if given.notes:
            given.notes.write_text(text, encoding="utf-8")
        if not given.check:
            make(given.version, (given.out or ROOT / "build/release" / given.version).resolve(), text)
    except Refused as why:
        sys.exit("error: no release: %s" % why)


if __name__ == "__main__":
    main()
