"""Answers every port it is given, TCP and UDP, with the bytes it was sent.

usage: echo.py [--name NAME] [--bind ADDRESS] PORT...

With a name each answer begins with it and a blank.
"""
import argparse
import selectors
import socket


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="")
    parser.add_argument("--bind", default="0.0.0.0")
    parser.add_argument("ports", nargs="+", type=int)
    args = parser.parse_args()
    lead = args.name.encode() + b" " if args.name else b""
    poll = selectors.DefaultSelector()
    places = [(args.bind, port) for port in args.ports]
    if args.bind == "0.0.0.0":
        places += [("::", port) for port in args.ports]
    for place in places:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            sock = socket.socket(socket.AF_INET6 if ":" in place[0] else socket.AF_INET, kind)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if ":" in place[0]:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind(place)
            if kind == socket.SOCK_STREAM:
                sock.listen(64)
                poll.register(sock, selectors.EVENT_READ, accept)
            else:
                poll.register(sock, selectors.EVENT_READ, datagram)
    while True:
        for key, _ in poll.select():
            key.data(poll, key.fileobj, lead)


def accept(poll, sock, _lead):
    conn, _ = sock.accept()
    poll.register(conn, selectors.EVENT_READ, stream)


def stream(poll, conn, lead):
    try:
        data = conn.recv(65536)
        if data:
            conn.sendall(lead + data)
            return
    except OSError:
        pass
    poll.unregister(conn)
    conn.close()


def datagram(_poll, sock, lead):
    data, peer = sock.recvfrom(65536)
    try:
        sock.sendto(lead + data, peer)
    except OSError:
        pass


main()
