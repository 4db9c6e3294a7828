#!/usr/bin/env python3
"""Control calls to hnsd: hnsctl.py '{"op":"dump"}' ... prints each answer that is not empty.

As a module: control({"op": ...}) answers the decoded JSON; call("HcnEnumerateNetworks", "ssoo"...)
makes a call as the DLLs do. The port is $HNS_PORT, 17999 without it.
"""
import json
import os
import socket
import struct
import sys

NONE = 0xffffffff


def _receive(conn):
    data = b""
    while chunk := conn.recv(65536):
        data += chunk
    return data


def call(function, signature, *args, port=None, exe="hnsctl", dll="-", timeout=60):
    """One call: (HRESULT, [outputs]); a None argument is NULL."""
    port = port or int(os.environ.get("HNS_PORT", "17999"))
    fields = [exe, str(os.getpid()), "0", dll, function, signature, *args]
    body = b"".join(struct.pack("<I", NONE) if f is None
                    else struct.pack("<I", len(f.encode())) + f.encode() for f in fields)
    with socket.create_connection(("127.0.0.1", port), timeout) as conn:
        conn.sendall(struct.pack("<I", len(body)) + body)
        data = _receive(conn)
    if len(data) < 8:
        raise OSError("hnsd gave no answer to %s" % function)
    (hresult,) = struct.unpack_from("<I", data, 4)
    outputs, at = [], 8
    while at + 4 <= len(data):
        (size,) = struct.unpack_from("<I", data, at)
        at += 4
        outputs.append(None if size == NONE else data[at:at + size].decode())
        at += 0 if size == NONE else size
    return hresult, outputs


def control(request, port=None, timeout=60):
    """One control operation; RuntimeError when it was refused."""
    _, outputs = call("ctl", "so", json.dumps(request), port=port, timeout=timeout)
    answer = json.loads(outputs[0])
    if isinstance(answer, dict) and "error" in answer and answer.get("ok") is not True:
        raise RuntimeError("%s: %s" % (request.get("op"), answer["error"]))
    return answer


def main():
    for text in sys.argv[1:]:
        try:
            answer = control(json.loads(text))
        except (OSError, RuntimeError, ValueError) as why:
            sys.exit("hnsctl: %s" % why)
        if answer != {}:
            print(json.dumps(answer))


if __name__ == "__main__":
    main()
