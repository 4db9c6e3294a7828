"""One case: what the server answers, which call meets it, and what must come of it."""
import dataclasses

ESC = "\x1b[31mred\x1b]0;title\x07\x9b2J\r\n\u202eend"  # what no terminal may be sent
BAD = -1  # failed or refused: the cluster-wide defaults are winjoin's own configuration


@dataclasses.dataclass
class Case:
    """One call of winjoin before a server whose answers are changed."""
    name: str
    answers: tuple = ()      # rows (verb, regular expression over the path, function(api, request) -> answer)
    code: int = 1            # BAD: 1 or 3; None: 0, too
    says: tuple = ()         # words of the error and its hints
    call: str = "certificate"  # a row of run.CALLS
    timeout: str = "3s"
    seconds: float = 8.0     # the whole call
    memory: int = 48         # MiB that the program may take
    asked: tuple = ()        # (verb, regular expression over the path, least, most): how often it may ask
    never: tuple = ()        # words that stand nowhere in what it says
    again: object = 0        # exit code of the same call once the server is well; None: not called
    services: tuple = ()     # what runs on the host before; winjoin diag measures where nothing is down
    ready: object = None     # function(api): how the server's objects are before
    more: tuple = ()         # further words of the call
    progress: str = "plain"
    environment: dict = dataclasses.field(default_factory=dict)
