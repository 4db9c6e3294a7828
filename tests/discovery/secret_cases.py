"""What a server says back: the token in every place of an answer, bare and glued to other letters, and characters
that turn a line around. Neither is shown. kubeadm, which shows both, is not asked."""
from cryptography import x509

import odd
from case import TOKEN
from odd_cases import UNTRUSTED, case, leaf

TURN = "x\u202ey\u2066z\u200b\ufeff"


def says(text, hidden):
    """Cases of one text."""
    def row(where, code=1, *words, **more):
        return case("said back: %s: %s" % (where, text.encode("ascii", "backslashreplace").decode()), code, *words,
                    call={"kubeadm": False, "hidden": hidden}, **more)

    def status(code):
        body = '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"%s","reason":"%s","code":%d}'
        return (body % (text, text, code)).encode()

    def head(start):
        return start + text.encode() + b"\r\nContent-Length: 2\r\n\r\nno"
    return [
        row("status text", answer=lambda b, n: head(b"HTTP/1.1 403 ")),
        row("content type", answer=lambda b, n: head(b"HTTP/1.1 200 OK\r\nContent-Type: ")),
        row("plain text", answer=lambda b, n: odd.http(text.encode(), "403 Forbidden", kind="text/plain")),
        row("message", answer=lambda b, n: odd.http(status(403), "403 Forbidden")),
        row("message of a good answer", answer=lambda b, n: odd.http(status(500))),
        row("a busy server's message", answer=lambda b, n: odd.http(status(503), "503 Busy")),
        row("redirect", answer=lambda b, n: head(b"HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/")),
        row("kind", object=lambda o: {**o, "kind": text}),
        row("version", object=lambda o: {**o, "apiVersion": text}),
        row("broken document", body=lambda b: (b[:-1] + ',"%s' % text).encode()),
        row("kubeconfig's server", kubeconfig=lambda t, s: t.replace("https://" + s.endpoint, "https://%s:x" % text)),
        row("kubeconfig's field", kubeconfig=lambda t, s: t + "%s: [\n" % text),
        row("kubeconfig's kind", kubeconfig=lambda t, s: t.replace("kind: Config", "kind: '%s'" % text)),
        row("certificate's issuer", 4, UNTRUSTED, leaf=lambda ca: odd.issue(odd.issue(
            name=text, is_ca=True), name=text, names=odd.NAMES)),
        row("certificate's names", 4, UNTRUSTED, leaf=leaf(name=text, names=(x509.DNSName(
            text if text.isascii() else "other"),))),
    ]


CASES = [*says(TOKEN, ()), *says("x%sx" % TOKEN, ()), *says(TURN, ("\u202e", "\u2066", "\u200b", "\ufeff"))]
