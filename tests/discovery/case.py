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
    files: dict = dataclasses.field(default_factory=dict)  # name -> function(server) -> content
    environment: dict = dataclasses.field(default_factory=dict)
    secret_may_go: bool = False  # credentials may reach the server: it is proven first
