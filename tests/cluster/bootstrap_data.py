"""A small interpreter of Cluster API's bootstrap data on a played Windows host: what cloudbase-init does with a
cloud-config's template, write_files and runcmd. cloudbase-init itself (PyPI, 1.1.9) runs under Python for Windows with
pywin32 and WMI alone, which Wine has not; its rules are kept: a first line "## template: jinja", an unknown variable
becomes CI_MISSING_JINJA_VAR/name (utils/template_engine), paths are relative to the system drive (write_files), and all
commands are cmd scripts that begin with "rem cmd" (runcmd, osutils/windows.py; there one script for all). Two things
are Wine's: it takes /run for the folder of this machine, where Windows takes it for \\run of the current drive, and
its cmd goes on behind && whatever the exit code, so that && is decided here."""
import json
import os
import re
import subprocess

import programs

HEADER = "## template: jinja\n"
SCRIPT = r"C:\cloudbase-init\runcmd.cmd"


def render(text, what):
    """A KubeadmConfig for a version of Kubernetes, by the provider's own packages (capi/main.go); "json": any YAML."""
    done = subprocess.run([programs.ensure(["capi"])["capi"], what], input=text, text=True,
                          capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError("capi: " + done.stderr)
    return done.stdout


def filled(data, metadata):
    """{{ ds.meta_data["name"] }} and {{ ds.meta_data.name }}, when the data says that it is a template."""
    if not data.startswith(HEADER):
        return data

    def value(match):
        return metadata.get(match.group(1), "CI_MISSING_JINJA_VAR/" + match.group(1))
    return re.sub(r"""\{\{\s*ds\.meta_data(?:\.|\[["'])(\w+)(?:["']\])?\s*\}\}""", value, data[len(HEADER):])


def windows_path(path):
    path = path.replace("/", "\\")
    return path if re.match(r"[A-Za-z]:", path) else "C:" + path


class BootstrapData:
    """Of one machine; data as render() answers it."""

    def __init__(self, host, data, metadata):
        self.host, self.config = host, json.loads(render(filled(data, metadata), "json"))

    def write(self, windows, text, mode="w"):
        target = self.host.path(windows)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, mode, encoding="utf-8", newline="") as f:
            f.write(text)

    def write_files(self):
        for row in self.config["write_files"]:
            self.write(windows_path(row["path"]), row["content"], "a" if row.get("append") else "w")
    def run(self, timeout=240):
        """The commands; the host's PATH has C:\\k, as images have it. Answers what they said, and the codes."""
        said, codes = "", []
        for command in self.config["runcmd"]:
            line = command if isinstance(command, str) else " ".join(command)
            for part in line.split(" && "):
                part = part.replace("/run/", "\\run\\").replace("cluster-api/", "cluster-api\\")
                self.write(SCRIPT, "rem cmd\r\n" + part + "\r\n")
                done = self.host.run(["cmd", "/c", SCRIPT], env={"WINEPATH": r"C:\k"}, timeout=timeout)
                said += done.stdout + done.stderr
                codes.append(done.returncode)
                if done.returncode:
                    break
        return said, codes
