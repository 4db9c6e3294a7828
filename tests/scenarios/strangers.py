"""A second user on the server, eve, who puts things in the way of a join and races it. She gains nothing:
the join ends well, or refuses and names what is hers."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import scene

EVE = 4711
# What runs on a node, or tells it what to run: nothing here may be hers after a join.
FOLDERS = ("k", "etc/kubernetes", "etc/cni", "opt/cni", "var/lib/kubelet", "var/lib/cni", "var/log/kubelet",
           "run/flannel", "Program Files/containerd", "ProgramData/containerd", "ProgramData/winjoin")
TOPS = {name.partition("/")[0] for name in FOLDERS if not name.startswith("Program")}
# As eve: in each folder she may write to, a folder or file of hers under a name that is used later.
RACE = """
import os, sys
os.setgroups([]); os.setgid({eve}); os.setuid({eve})
wanted = sys.argv[1:]
while True:
    for path in wanted:
        try:
            os.mkdir(path)
            print(path, flush=True)
        except OSError:
            pass
"""


class Meanwhile:
    """Does something again and again while a join runs."""

    def __init__(self):
        self.ended = False
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self.ended:
            try:
                self.once()
            except FileNotFoundError:
                pass
            time.sleep(0.002)  # without one it takes the processor from the join that it shall meet

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        self.thread.join()


class Names(Meanwhile):
    """The names of files beside, as eve sees them."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self.seen = folder, set()

    def once(self):
        self.seen.update(name for name in os.listdir(self.folder) if name.endswith(".new"))


class Opened(Meanwhile):
    """A folder that was made without a list in one that is open to all is open, too, as it is below C:\\ on Windows; a
    file is not. (Wine gives neither anything of its folder; what was given a list has another mode.)"""

    def __init__(self, drive):
        super().__init__()
        self.drive = drive

    def once(self):
        for folder, below, _ in os.walk(self.drive):
            below[:] = [name for name in below if self.is_open(folder, name)]

    def is_open(self, folder, name):
        path = os.path.join(folder, name)
        mode = os.lstat(path).st_mode & 0o7777
        if mode == 0o755 and (folder != self.drive or name in TOPS):
            os.chmod(path, mode := 0o777)
        return mode & 0o002


class Strangers(scene.Scene):
    @classmethod
    def setUpClass(cls):
        before = os.umask(0o022)  # Opened opens what has no list
        cls.addClassCleanup(os.umask, before)
        super().setUpClass()
        for folder in ("C:\\", "C:\\ProgramData"):  # all may add, and nobody moves what others made
            os.chmod(cls.stage.host.path(folder), 0o1777)
        top = os.path.relpath(cls.stage.host.drive, tempfile.gettempdir()).split(os.sep)[0]
        os.chmod(os.path.join(tempfile.gettempdir(), top), 0o711)  # the stage's own folder: so that she comes there

    def plant(self, windows, text=None):
        """A folder of eve's, or a file with that text."""
        path = self.stage.host.path(windows)
        missing = path
        while not os.path.exists(os.path.dirname(missing)):
            missing = os.path.dirname(missing)
        if text is None:
            os.makedirs(path)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        os.chown(path, EVE, EVE)
        self.addCleanup(lambda: shutil.rmtree(missing) if os.path.isdir(missing) else os.remove(missing))
        return path

    def assert_refused(self, windows):
        """The error names what is hers; nothing of the host has changed."""
        before = self.stage.snapshot()
        done = self.stage.join(*scene.FAST)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("'%s' belongs to " % windows, done.stdout + done.stderr)
        self.assertEqual(scene.snapshot.compare(before, self.stage.snapshot()), [])

    def test_own_folder_is_hers(self):
        self.plant("C:\\ProgramData\\winjoin")
        self.assert_refused("C:\\ProgramData\\winjoin")

    def test_a_folder_in_ours_is_hers(self):
        self.plant("C:\\ProgramData\\winjoin\\services")
        self.assert_refused("C:\\ProgramData\\winjoin\\services")

    def test_a_journal_is_hers(self):
        self.plant("C:\\ProgramData\\winjoin\\journal\\journal.jsonl", '{"version":1}\n')
        done = self.stage.winjoin("reset", "--force")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("journal.jsonl' belongs to ", done.stderr)

    def test_she_races_the_first_join(self):
        """In each folder that a join makes, she tries to make what is to come, in every moment of it."""
        wanted = [self.stage.host.path("C:\\" + name.replace("/", "\\") + "\\" + below)
                  for name in FOLDERS for below in ("services", "tmp", "downloads", "plugins", "net.d", "backup", "x")]
        eve = subprocess.Popen([sys.executable, "-c", RACE.format(eve=EVE), *wanted], stdout=subprocess.PIPE)
        try:
            with Opened(self.stage.host.drive), \
                    Names(self.stage.host.path("C:\\ProgramData\\winjoin\\journal")) as names:
                done = self.stage.join(*scene.FAST)
        finally:
            eve.send_signal(signal.SIGKILL)
            eve.wait()
        self.assert_code(done, 0)
        self.assertGreater(len(names.seen), 1)
        for name in names.seen:  # she cannot know one before
            self.assertRegex(name, r"\.[0-9a-f]{16}\.new$")
        hers = [os.path.join(folder, name) for top in FOLDERS
                for folder, folders, files in os.walk(self.stage.host.path("C:\\" + top.replace("/", "\\")))
                for name in ["."] + folders + files
                if os.lstat(os.path.join(folder, name)).st_uid == EVE]
        self.assertEqual(hers, [])
        self.assert_code(self.stage.winjoin("reset", "--force"), 0)
