"""What only the owner knows, and where it has its place: registries, the disk for images, the kubelet's own files."""
import os
import shutil
import unittest

import scene
from scene import stage

FILES = {
    r"C:\etc\containerd\certs.d\docker.io\hosts.toml":
        "server = \"https://docker.io\"\r\n\r\n[host.\"https://mirror.example.com\"]\r\n  capabilities = [\"pull\", \"resolve\"]\r\n"
        "  ca = 'C:\\etc\\containerd\\certs.d\\docker.io\\ca.crt'\r\n",
    r"C:\etc\containerd\certs.d\docker.io\ca.crt": "-----BEGIN CERTIFICATE-----\n(the owner's)\n-----END CERTIFICATE-----\n",
    r"C:\etc\containerd\certs.d\registry.local_5000_\hosts.toml": "[host.\"https://registry.local:5000\"]\n  skip_verify = true\n",
    r"C:\etc\containerd\conf.d\disk.toml": "version = 3\nroot = 'C:\\images\\root'\n# the owner's \u00fc\n",
    r"C:\etc\kubernetes\kubelet.conf.d\10-owner.conf":
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 42\n",
}
NEWER = r"C:\newer.zip"


class Owner(scene.Scene):
    """Told in order: each test needs the one before."""

    @classmethod
    def setUpClass(cls):
        if scene.missing():
            raise unittest.SkipTest(scene.missing())
        cls.stage = stage.Stage(cls.mode, options=cls.options)
        cls.enterClassContext(cls.stage)
        for path, text in FILES.items():
            where = cls.stage.host.path(path)
            os.makedirs(os.path.dirname(where), exist_ok=True)
            with open(where, "wb") as f:
                f.write(text.encode())
        cls.stage.host.put(cls.newer(), NEWER)
        cls.bare = cls.stage.snapshot()

    @classmethod
    def newer(cls):
        """A bundle whose containerd and kubelet are other programs of the same names."""
        first = cls.stage.bundle()
        kept = first + ".kept"
        shutil.copy(first, kept)
        source = os.path.join(cls.stage.fabric.folder, "newer")
        os.makedirs(source, exist_ok=True)
        for name in ("containerd.exe", "kubelet.exe"):
            shutil.copy(os.path.join(stage.STANDINS, name), source)
            with open(os.path.join(source, name), "ab") as f:
                f.write(b"newer")
            cls.stage.programs[name] = os.path.join(source, name)
        made = first + ".newer"
        shutil.move(cls.stage.bundle(), made)
        shutil.move(kept, first)
        return made

    def assert_kept(self):
        for path, text in FILES.items():
            with open(self.stage.host.path(path), "rb") as f:
                self.assertEqual(f.read(), text.encode(), path)

    def assert_read(self):
        """By containerd, as its configuration has it."""
        for name in (b"conf.d", b"certs.d"):
            self.assertIn(name, self.program(r"C:\Program Files\containerd\config.toml"))

    def program(self, path):
        with open(self.stage.host.path(path), "rb") as f:
            return f.read()

    def test_1_join(self):
        self.assert_joins(*scene.FAST)
        self.assert_kept()
        self.assert_read()

    def test_2_another_join(self):
        self.assert_joins(*scene.FAST)
        self.assert_kept()
        self.assert_read()

    def test_3_upgrade(self):
        done = self.stage.winjoin("upgrade", "--bundle", NEWER, "--ignore-preflight-errors", self.stage.ignored, timeout=300)
        self.assert_code(done, 0)
        self.assertTrue(self.program(r"C:\k\kubelet.exe").endswith(b"newer"), "the kubelet is the other one")
        self.assert_kept()
        self.assert_read()

    def test_4_reset(self):
        self.reset()
        self.assert_kept()
        self.assert_bare()
