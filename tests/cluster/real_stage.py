"""The scene of a join that upstream judges: a real control plane, a played Windows host whose
programs are upstream's own.

    with real_stage.Stage("overlay") as s:
        s.join(); s.cluster.kubectl("get", "nodes"); s.reset()
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path += [HERE, os.path.join(TESTS, "rig")]
import control_plane  # noqa: E402
import programs  # noqa: E402
import stage  # noqa: E402

# What a node runs; containerd's place is taken by the CRI server of this folder.
NODE_PROGRAMS = ("kubelet.exe", "kube-proxy.exe", "flanneld.exe", "win-overlay.exe", "win-bridge.exe",
                 "host-local.exe")


class Stage(stage.Stage):
    """control: further arguments of the control plane, by name."""

    def __init__(self, mode="overlay", build="20348", programs=None, control=None, **host):
        super().__init__(mode, build, programs=programs or upstream(), **host)
        self.control = dict(control or {})

    def control_plane(self):
        return control_plane.ControlPlane(self.fabric, defaults=stage.DEFAULTS, **self.control)


def upstream(kubelet=None):
    """Program -> file; kubelet: the section of versions.ini that it is taken from."""
    found = programs.ensure(NODE_PROGRAMS)
    if kubelet:
        found.update(programs.ensure(["kubelet.exe"], of=kubelet))
    return found
