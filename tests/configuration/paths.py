"""The forms in which a person names a file: of Windows for winjoin.exe, of Linux for both programs.

{folder} is the folder with the files, which is also the current one; on Windows "Z:\\tmp\\x".
"""
import os

OK = ""
DEVICE, CHARACTER = "it names a device", "a file name cannot contain"
FOLDER, NO_FOLDER = "a folder", "it is a folder"
URL = "is a URL, not a file of this machine"
# Every form of the same file, or why there is none; what Windows' own programs take, winjoin takes.
WINDOWS = [
    ("{file}", OK), (".\\{file}", OK), ("./{file}", OK), ("sub\\..\\{file}", OK), ("sub/.././{file}", OK),
    ("..\\{name}\\{file}", OK), ("{folder}\\{file}", OK), ("{folder}\\sub\\..\\\\{file}", OK),
    ("Z:{file}", OK), ("z:{file}", OK), ("{rooted}\\{file}", OK), ("{slashes}/{file}", OK),
    ("\\\\?\\{folder}\\{file}", OK), ("\\\\.\\{folder}\\{file}", OK), ("\\\\?\\{folder}\\sub\\..\\{file}", OK),
    ("//?/Z:{slashes}/{file}", OK), ("{file}.", OK), ("{file} ", OK), ("{file}...", OK), ("{FILE}", OK),
    ("d\u00fc\u4e2d\U0001f600.{file}", OK), ("{long}{file}", OK), ("\\\\?\\{folder}\\{long}{file}", OK),
    ("a b\\{file}", OK), ("a%b!c^d&e'f\\{file}", OK),
    ("nul", DEVICE), ("NUL:", DEVICE), ("con", DEVICE), ("CONIN$", DEVICE), ("COM1", DEVICE), ("lpt9", DEVICE),
    ("C:\\NUL", DEVICE), ("aux.yaml", DEVICE), ("\\\\.\\pipe\\x", DEVICE), ("\\\\.\\PhysicalDrive0", DEVICE),
    ("\\\\?\\Volume{{1}}\\{file}", DEVICE), ("\\\\?\\GLOBALROOT\\Device\\Null", DEVICE), ("\\\\?\\", DEVICE),
    ("{file}:stream", CHARACTER), ("{file}::$DATA", CHARACTER), ("*.{file}", CHARACTER), ("{file}?", CHARACTER),
    ("{file}\" --token a", CHARACTER), ("\"{file}\"", CHARACTER), ("{file}|more", CHARACTER), ("a<{file}", CHARACTER),
    ("{file}\n", CHARACTER), ("{file}\t", CHARACTER),
    ("sub", FOLDER), ("sub\\", FOLDER), ("{folder}", FOLDER), ("Z:\\", FOLDER), ("Z:", FOLDER), (".", FOLDER),
    ("{file}\\", NO_FOLDER), ("{file}/", NO_FOLDER), ("sub\\..\\", FOLDER),
    ("Q:\\{file}", "Q:\\"), ("Q:{file}", "Q:\\"), ("\\\\server\\share\\{file}", "\\\\server\\share"),
    ("\\\\?\\UNC\\server\\share\\{file}", "read '\\\\server\\share"), ("//server/share/{file}", "\\\\server\\share"),
    ("{file}\\x", "not found"), ("none.{file}", "not found"), ("%CD%\\{file}", "not found"), ("'{file}'", "not found"),
    ("~\\{file}", "not found"), ("file:///{folder}\\{file}", URL), ("\\\\", "not an absolute path"),
    ("https://127.0.0.1/{file}", URL), (" ", "not an absolute path"), ("{folder}\\{many}", "it is longer than 4096 bytes"),
]
# As URLs, for a discovery file alone.
WINDOWS_URLS = [
    ("file:///{folder}\\{file}", OK), ("file:///Z:{slashes}/{file}", OK), ("file:/Z:{slashes}/{file}", OK),
    ("file://Z:{slashes}/{file}", OK), ("FILE://LocalHost/Z:{slashes}/{file}", OK), ("file://{slashes}/{file}", OK),
    ("file:///Z:{slashes}/%{hex}", OK), ("file:///z:{slashes}/sub/../{file}", OK),
    ("file://server/share/{file}", "\"\\\\server\\share"), ("file:////server/share/{file}", "\"\\\\server\\share"),
    ("file:{file}", "on disk"), ("file:\\\\\\{folder}\\{file}", "on disk"),
    ("file:///Q:/{file}", "Q:\\"), ("file:///Z|{slashes}/{file}", "on disk"),
]
LINUX = [
    ("{file}", OK), ("./{file}", OK), ("sub/../{file}", OK), ("../{name}/{file}", OK), ("{folder}/{file}", OK),
    ("{folder}//sub/.././{file}", OK), ("d\u00fc\u4e2d\U0001f600.{file}", OK), ("{long}{file}", OK), ("a b/{file}", OK),
    ("sub", "Is a directory"), ("{file}/", NO_FOLDER), (".", "Is a directory"), ("none.{file}", "No such file"),
    ("{file}/x", "Not a directory"),
]
DISCOVERY = ("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://10.0.0.1:6443'}}]\n"
             "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
             "users: [{name: u, user: {token: a-token}}]\n")
LONG = "f" * 60
OPTIONS = ("--config", "--token-file", "--discovery-file")


def write(folder, file, text):
    """The file in the current folder and in odd ones."""
    places = ["", "sub/", "a b/", "a%b!c^d&e'f/", (LONG + "/") * 5]
    for place in places:
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / place / file).write_text(text)
    (folder / ("d\u00fc\u4e2d\U0001f600." + file)).write_text(text)


class Judge:
    """Names the same files in every form, to each option that takes one."""

    def __init__(self, judge, windows):
        self.judge, self.windows = judge, windows
        self.folder = judge.folder / "named"
        self.folder.mkdir()

    def fill(self, form, file):
        slashes = str(self.folder)
        folder = "Z:" + slashes.replace("/", "\\") if self.windows else slashes
        separator = "\\" if self.windows else "/"
        return form.format(
            file=file, FILE=file.upper(), folder=folder, rooted=folder[2:], slashes=slashes, name=self.folder.name,
            long=(LONG + separator) * 5, hex="%02x%s" % (ord(file[0]), file[1:]), many="x" * 5000)

    def one(self, option, form, says, file, text):
        path = self.fill(form, file)
        words = {"--config": [],
                 "--token-file": ["10.0.0.1:6443", "--discovery-token-unsafe-skip-ca-verification"],
                 "--discovery-file": []}[option]
        if option == "--discovery-file" and says not in (OK, FOLDER, "Is a directory"):
            says = "--discovery-file"
        name = "path %s %r" % (option, form)
        self.judge.winjoin(name, self.judge.winjoin_join([*words, option, path]), says, folder=self.folder)
        if not self.windows and option == "--config":
            self.judge.upstream(name, ["config", "validate", option, path], not says, folder=self.folder)

    def all(self, texts, every):
        forms = WINDOWS if self.windows else LINUX
        number = 0
        for option, text in zip(OPTIONS, texts):
            file = option[2:3] + ".yaml"
            write(self.folder, file, text)
            urls = WINDOWS_URLS if self.windows and option == "--discovery-file" else []
            for form, says in [*forms, *urls]:
                number += 1
                if number % every == 0 and (says != URL or not urls):
                    self.one(option, form, says, file, text)
