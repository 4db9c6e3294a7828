#!/usr/bin/env python3
"""The documents as a static site with search: make.py OUT

Pages are the Markdown files of the repository at their own paths, so that their links stay as they are. mkdocs comes from
the Python package index, held to the digests of requirements.txt, into the cache. A link that leads nowhere is an error.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import kept_files  # noqa: E402


def stage(folder):
    """Every page, and all that is beside the pages of docs/."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md", "docs", "dist/site/site.css"],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in listed:
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)


def build(folder, out):
    """The site of a staged folder; what mkdocs has to say when it refuses, else nothing."""
    mkdocs = kept_files.python_programs("site", HERE / "requirements.txt") / "mkdocs"
    with tempfile.TemporaryDirectory() as work:
        settings = pathlib.Path(work, "mkdocs.yml")
        settings.write_text("INHERIT: %s\ndocs_dir: %s\nsite_dir: %s\nhooks: [%s]\n"
                            % (HERE / "mkdocs.yml", folder, out, HERE / "hooks.py"), encoding="utf-8")
        done = subprocess.run([mkdocs, "build", "--strict", "--config-file", settings], capture_output=True, text=True, check=False)
    return "\n".join(line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("INFO")) if done.returncode else ""


def main():
    with tempfile.TemporaryDirectory() as folder:
        stage(pathlib.Path(folder))
        if said := build(pathlib.Path(folder), pathlib.Path(sys.argv[1]).resolve()):
            sys.exit("error: no site:\n" + said)


if __name__ == "__main__":
    main()
