"""containerd's configuration as winjoin's templates make it, for scenes that no winjoin has joined."""
import json
import os
import re

TEMPLATES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "templates")
DATA = r"C:\ProgramData\containerd"


def containerd_file(template, sandbox_image):
    """A template's text with the values of a bare server. KeyError where it asks for one that is not known here."""
    values = {
        "ROOT": json.dumps(DATA + r"\root"),
        "STATE": json.dumps(DATA + r"\state"),
        "IMPORTS": json.dumps([r"C:\etc\containerd\conf.d\*.toml"]),
        "SANDBOX_IMAGE": json.dumps(sandbox_image),
        "REGISTRIES": json.dumps(r"C:\etc\containerd\certs.d"),
        "CNI_BIN_DIR": r"C:\opt\cni\bin",
        "CNI_CONF_DIR": r"C:\etc\cni\net.d",
    }
    with open(os.path.join(TEMPLATES, template), encoding="utf-8") as f:
        return re.sub("@([A-Z_]+)@", lambda found: values[found[1]], f.read())

