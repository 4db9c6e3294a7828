"""Proxies: which one is taken, and those that lie, hang or echo."""
import contextlib
import socket
import threading
import time

from case import Case
from odd import Odd
from odd_cases import LONG, leaf


def pump(source, to):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            to.sendall(data)
        to.shutdown(socket.SHUT_WR)


def joined(client, port):
    with socket.create_connection(("127.0.0.1", port)) as server:
        back = threading.Thread(target=pump, args=(server, client), daemon=True)
        back.start()
        pump(client, server)
        back.join(5)


def through(client, _head, port):
    """A good proxy whose every CONNECT leads to the case's server."""
    client.sendall(b"HTTP/1.1 200 Go\r\n\r\n")
    joined(client, port)


def answers(data, then=None):
    def serve(client, _head, _port):
        client.sendall(data)
        if then:
            then(client)
    return serve


def hangs(client, *_):
    client.settimeout(15)
    with contextlib.suppress(OSError):
        while client.recv(4096):
            pass


def echoes(client, head, _port):
    client.sendall(b"HTTP/1.1 407 No\r\nContent-Length: %d\r\n\r\n%s" % (len(head), head))


def forever(piece, pause=0.0):
    def serve(client, *_):
        client.sendall(b"HTTP/1.1 ")
        while True:
            client.sendall(piece)
            time.sleep(pause)
    return serve


def demands(authorization):
    def serve(client, head, port):
        if b"\r\nProxy-Authorization: " + authorization + b"\r\n" in head:
            return through(client, head, port)
        return echoes(client, head, port)
    return serve


def raw(serve):
    """Serves from the first byte on: it speaks no HTTP."""
    def one(*given):
        serve(*given)
    one.raw = True
    return one


def socks(method, login=None, reply=b"\x05\x00\x00\x01", named=True):
    """SOCKS 5 (RFC 1928); where the host is `named`, the proxy must be asked for that name."""
    def serve(client, _head, port):
        client.recv(512)
        client.sendall(b"\x05" + method)
        if login:
            if client.recv(512) != login:
                return
            client.sendall(b"\x01\x00")
        if client.recv(512)[3:4] == (b"\x03" if named else b"\x01"):
            client.sendall(reply + b"\x7f\x00\x00\x01\x00\x00")
            joined(client, port)
    return raw(serve)


HOST = "api.test"
PROXY = "http://127.0.0.1:{proxy}"
NOT_TAKEN = {"code": 1, "says": ()}  # the name exists behind the proxy alone


def case(name, code, *says, serve=through, host=HOST, **environment):
    more = environment.pop("more", {})
    clean = {"HTTPS_PROXY": "", "https_proxy": "", "NO_PROXY": "", "no_proxy": "",
             "HTTP_PROXY": "", "http_proxy": "", "ALL_PROXY": "", "all_proxy": ""}
    return Case("proxy: " + name, code=code, says=says, odd=Odd(leaf=leaf(names=(HOST, "10.1.2.3",
                                                                                "fd00::5"))),
                proxy=serve, endpoint=host + ":6443", environment={**clean, **environment}, **more)


def excluded(name, value, code=1, host=HOST):
    says = ("through the proxy http://127.0.0.1",) if code == 0 else ()
    return case("NO_PROXY " + name, code, *says, host=host, HTTPS_PROXY=PROXY, NO_PROXY=value)


KINDS = "it must be http, https or socks5"
HIDDEN = {"more": {"hidden": ("pass-word", "bWU6cGFzcy13b3Jk")}}

CASES = [
    case("by HTTPS_PROXY", 0, "through the proxy http://127.0.0.1", HTTPS_PROXY=PROXY),
    # Windows' variables have no case, and Wine takes HTTP_PROXY for the machine's proxy.
    case("by https_proxy", 0, https_proxy=PROXY, more={"posix": True}),
    case("by HTTPS_PROXY before https_proxy", 0, HTTPS_PROXY=PROXY, https_proxy="http://127.0.0.1:1"),
    case("by HTTP_PROXY alone", 1, HTTP_PROXY=PROXY, more={"posix": True}),
    case("by ALL_PROXY alone", 1, ALL_PROXY=PROXY, all_proxy=PROXY),
    case("without a scheme", 0, HTTPS_PROXY="127.0.0.1:{proxy}"),
    case("with a path", 0, HTTPS_PROXY=PROXY + "/x?y#z"),
    case("with a scheme in capitals", 0, HTTPS_PROXY="HTTP://127.0.0.1:{proxy}"),
    case("with blanks around", 3, KINDS, HTTPS_PROXY=" " + PROXY + " "),
    case("with a scheme that is none", 3, KINDS, HTTPS_PROXY="ftp://127.0.0.1:{proxy}"),
    case("that is not a URL", 3, KINDS, HTTPS_PROXY="http://127.0.0.1:port"),
    case("with a port too great", 3, KINDS, HTTPS_PROXY="http://127.0.0.1:99999"),
    case("with a line break", 3, KINDS, HTTPS_PROXY=PROXY + "\r\nX: y"),
    case("that nobody runs", 1, "went through the proxy", HTTPS_PROXY="http://127.0.0.1:1"),
    case("whose name is not known", 1, HTTPS_PROXY="http://no-such-proxy.invalid:1"),
    case("with a password", 0, serve=demands(b"Basic bWU6cGFzcy13b3Jk"),
         HTTPS_PROXY="http://me:pass-word@127.0.0.1:{proxy}", **HIDDEN),
    case("with a password in percent", 0, serve=demands(b"Basic bWU6cGFzcy13b3Jk"),
         HTTPS_PROXY="http://m%65:pass%2Dword@127.0.0.1:{proxy}", more={
             "hidden": ("pass-word", "bWU6cGFzcy13b3Jk", "pass%2Dword")}),
    case("with a password that holds an at sign", 0, serve=demands(b"Basic bWU6cGFAcy13b3Jk"),
         HTTPS_PROXY="http://me:pa%40s-word@127.0.0.1:{proxy}", more={
             "hidden": ("s-word",), "library": True}),
    case("with a user alone", 0, serve=demands(b"Basic bWU6"),
         HTTPS_PROXY="http://me@127.0.0.1:{proxy}"),
    case("with a password that is refused", 1, "407", serve=echoes,
         HTTPS_PROXY="http://me:pass-word@127.0.0.1:{proxy}", **HIDDEN),
    case("that cannot be read, with a password", 3,
         HTTPS_PROXY="http://me:pass-word@127.0.0.1:port", **HIDDEN),
    case("of another kind, with a password", 3,
         HTTPS_PROXY="gopher://me:pass-word@127.0.0.1:{proxy}", **HIDDEN),
    case("407", 1, "407", serve=answers(b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\n"
                                        b"Content-Length: 0\r\n\r\n"), HTTPS_PROXY=PROXY),
    case("407 with Negotiate", 1, "407", serve=answers(
        b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\n"
        b"Content-Length: 0\r\n\r\n"), HTTPS_PROXY=PROXY),
    case("502 with a page", 1, "502", serve=answers(
        b"HTTP/1.1 502 Bad\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n<p>no"),
         HTTPS_PROXY=PROXY),
    case("a redirect", 1, "302", serve=answers(
        b"HTTP/1.1 302 Go\r\nLocation: https://portal.example/\r\nContent-Length: 0\r\n\r\n"),
         HTTPS_PROXY=PROXY),
    case("204", 1, serve=answers(b"HTTP/1.1 204 None\r\n\r\n", hangs), HTTPS_PROXY=PROXY),
    case("garbage", 1, serve=answers(b"SSH-2.0-x\r\n"), HTTPS_PROXY=PROXY),
    case("closes", 1, serve=answers(b""), HTTPS_PROXY=PROXY),
    case("hangs", 1, "no complete answer", serve=hangs, HTTPS_PROXY=PROXY),
    case("connects and hangs", 1, "no complete answer", HTTPS_PROXY=PROXY,
         serve=answers(b"HTTP/1.1 200 Go\r\n\r\n", hangs)),
    case("connects and answers by itself", 1, HTTPS_PROXY=PROXY, serve=answers(
        b"HTTP/1.1 200 Go\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}")),
    case("headers without end", 1, serve=forever(b"200 OK\r\nX-Y: " + b"z" * 4000 + b"\r\n"),
         HTTPS_PROXY=PROXY, more=LONG),
    case("a byte now and then", 1, "no complete answer", serve=forever(b"2", 0.2),
         HTTPS_PROXY=PROXY, more=LONG),
    case("an answer of 407 without end", 1, serve=lambda c, *_: endlessly(
        c, b"HTTP/1.1 407 No\r\nContent-Length: 99999999999\r\n\r\n"), HTTPS_PROXY=PROXY, more=LONG),
    case("a body with its yes", 0, serve=lambda c, head, port: (
        c.sendall(b"HTTP/1.1 200 Go\r\nX: y\r\nVia: z\r\n\r\n"), joined(c, port)),
         HTTPS_PROXY=PROXY),
    case("by TLS, a stranger", 1, serve=hangs, HTTPS_PROXY="https://127.0.0.1:{proxy}"),
    case("SOCKS 5", 0, "through the proxy socks5h://127", serve=socks(b"\x00"),
         HTTPS_PROXY="socks5://127.0.0.1:{proxy}"),
    case("SOCKS 5 that looks names up", 0, serve=socks(b"\x00"),
         HTTPS_PROXY="socks5h://127.0.0.1:{proxy}"),
    case("SOCKS 5 with a password", 0, serve=socks(b"\x02", b"\x01\x02me\x09pass-word"),
         HTTPS_PROXY="socks5://me:pass-word@127.0.0.1:{proxy}", **HIDDEN),
    case("SOCKS 5 that refuses everything", 1, serve=socks(b"\xff"),
         HTTPS_PROXY="socks5://me:pass-word@127.0.0.1:{proxy}", **HIDDEN),
    case("SOCKS 5 that does not connect", 1, serve=socks(b"\x00", reply=b"\x05\x05\x00\x01"),
         HTTPS_PROXY="socks5://127.0.0.1:{proxy}"),
    case("SOCKS 5 that hangs", 1, "no complete answer", serve=raw(hangs),
         HTTPS_PROXY="socks5://127.0.0.1:{proxy}"),
    case("SOCKS 5 that speaks HTTP", 1, serve=raw(answers(b"HTTP/1.1 400 No\r\n\r\n")),
         HTTPS_PROXY="socks5://127.0.0.1:{proxy}"),
    case("with an at sign in its password", 0, serve=demands(b"Basic bWU6cGFAcy13b3Jk"),
         HTTPS_PROXY="http://me:pa@s-word@127.0.0.1:{proxy}", more={"hidden": ("s-word",)}),
    case("with two colons", 3, KINDS, HTTPS_PROXY=PROXY + ":"),
    case("SOCKS 4", 3, KINDS, HTTPS_PROXY="socks4://127.0.0.1:{proxy}"),
    case("with a password that holds a slash", 3,
         HTTPS_PROXY="http://me:pass-word/x@127.0.0.1:{proxy}", **HIDDEN),
    excluded("the name", HOST),
    excluded("the name in capitals", "API.TEST"),
    excluded("the domain", "test"),
    excluded("the domain with a dot", ".test"),
    excluded("a part of the name", "pi.test", 0),
    excluded("a star and the domain", "*.test"),
    excluded("a star alone", "*"),
    excluded("a star among others", "x, * ,y"),
    excluded("the port", "api.test:6443"),
    excluded("another port", "api.test:443", 0),
    excluded("blanks and commas", " , ,\tapi.test ,,"),
    excluded("a URL", "https://api.test", 0),
    excluded("a dot behind", "api.test.", 0),
    excluded("a range without the address", "10.9.0.0/16", 0, "10.1.2.3"),
    excluded("a range of an odd base", "10.9.9.9/8", 1, "10.1.2.3"),
    excluded("every IPv6 address, for IPv4", "::/0", 0, "10.1.2.3"),
    excluded("a range in brackets", "[fd00::]/8", 0, "[fd00::5]"),
    excluded("a range with a zone", "fd00::%eth0/8", 0, "[fd00::5]"),
    excluded("a port of eight digits", "api.test:64430000", 0),
    excluded("a range of 33 bits", "10.1.2.3/33", 0, "10.1.2.3"),
    excluded("a range with its mask", "10.0.0.0/255.0.0.0", 0, "10.1.2.3"),
    excluded("the beginning of an address", "10.1.", 0, "10.1.2.3"),
    excluded("the end of an address", ".2.3", 0, "10.1.2.3"),
    excluded("an address written otherwise", "10.001.002.003", 0, "10.1.2.3"),
    excluded("a range of IPv6", "fd00::/8", 1, "[fd00::5]"),
    excluded("another range of IPv6", "fe80::/10", 0, "[fd00::5]"),
    excluded("an IPv6 address", "fd00:0::5", 1, "[fd00::5]"),
    excluded("an IPv6 address with its port", "[fd00::5]:6443", 1, "[fd00::5]"),
]


def endlessly(client, first):
    client.sendall(first)
    while True:
        client.sendall(b" " * 65536)
