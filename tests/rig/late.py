"""Passes questions on to a DNS server, and its answers back late, by UDP and TCP.

usage: late.py PORT SERVER SECONDS
"""
import socket
import socketserver
import sys
import threading
import time

PORT, SERVER, SECONDS = int(sys.argv[1]), (sys.argv[2], 53), float(sys.argv[3])


def late(kind, question):
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.connect(SERVER)
        sock.sendall(question)
        answer = sock.recv(65536)
    time.sleep(SECONDS)
    return answer


class Stream(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(late(socket.SOCK_STREAM, self.request.recv(65536)))


class Datagram(socketserver.BaseRequestHandler):
    def handle(self):
        question, sock = self.request
        sock.sendto(late(socket.SOCK_DGRAM, question), self.client_address)


class Tcp(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads, request_queue_size = True, True, 64

    def handle_error(self, request, client_address):
        pass  # who asked is gone


class Udp(socketserver.ThreadingUDPServer):
    daemon_threads = True


def main():
    threading.Thread(target=Udp(("", PORT), Datagram).serve_forever, daemon=True).start()
    Tcp(("", PORT), Stream).serve_forever()


main()
