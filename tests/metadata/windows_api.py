"""winjoin's Windows programs and sources against Microsoft's metadata of Windows' API (judge_windows.py), which it gets
first, with the reader of such files. Last line: N passed, N failed, N skipped."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/provision"), str(ROOT / "tests/metadata")]
import ansible_tools  # noqa: E402
import windows_metadata  # noqa: E402


def main():
    try:
        python, metadata = ansible_tools.tools() / "python", windows_metadata.path()
    except (ansible_tools.Missing, windows_metadata.Missing, OSError, subprocess.TimeoutExpired) as why:
        print("skipped: %s\n0 passed, 0 failed, 1 skipped" % why)
        return
    os.execv(python, [str(python), "-B", str(ROOT / "tests/metadata/judge_windows.py"), str(metadata)])


main()
