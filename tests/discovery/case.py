"""One case of discovery: what the server does, how the program is called, what must come of it."""
import dataclasses

TOKEN, SECRET = "abcdef.0123456789abcdef", "0123456789abcdef"


@dataclasses.dataclass
class Case:
    """One call of the program."""
    name: str
    fault: str = ""            # of the test API server; the case's name when it is one of those
    code: int = 0
    says: tuple = ()           # words on stderr
    token: str = TOKEN
    pins: tuple = ("{pin}",)
    endpoint: str = "{endpoint}"
    more: tuple = ()           # further arguments
    timeout: str = "1s"
    seconds: float = 10.0      # the whole call
    plain: object = None       # a function that serves one plain TCP connection instead
    odd: object = None         # an odd.Odd: a TLS server of this case alone
    proxy: object = None       # function(client, head, port): a proxy's one connection, "{proxy}"
    files: dict = dataclasses.field(default_factory=dict)  # name -> function(server) -> content
    environment: dict = dataclasses.field(default_factory=dict)
    change: tuple = ()         # (file, text, other text): once the ports are known
    prepare: object = None     # function(folder): what a file's content cannot tell
    hidden: tuple = ()         # more words that no output may show
    stdin: bytes = b""
    memory: int = 48           # MiB that the program may take
    library: bool = False      # libcurl's or OpenSSL's version decides: played by winjoin.exe, whatever EVERY says
    posix: bool = False        # of this machine alone: no case for winjoin.exe
    windows: bool = False      # of winjoin.exe alone, which plays it whatever EVERY says
    kubeadm: bool = True       # its verdict is asked
    secret_may_go: bool = False  # credentials may reach the server: it is proven first
