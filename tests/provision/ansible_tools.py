"""Ansible and other judges and readers (requirements.txt) from the Python package index, in the cache: tools() gives their folder."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from kept_files import Missing, python_programs  # noqa: E402,F401


def tools():
    """Where ansible-playbook is."""
    return python_programs("ansible", HERE / "requirements.txt")
