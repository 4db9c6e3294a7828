"""The metrics of a DNS server as CoreDNS has them: some kilobytes; no other page is there.

usage: metrics.py ADDRESS PORT
"""
import http.server
import sys


class Metrics(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path != "/metrics":
            self.send_error(404)
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"# HELP coredns_build_info A metric with a constant '1' value.\n" * 180)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass  # who asked has what it wanted


Server((sys.argv[1], int(sys.argv[2])), Metrics).serve_forever()
