"""Passes frames on between two network devices, each of them late: a very long cable.

usage: delay.py DEVICE DEVICE SECONDS
"""
import heapq
import itertools
import select
import socket
import sys
import time

DEVICES, SECONDS = sys.argv[1:3], float(sys.argv[3])
SOL_PACKET, PACKET_VNET_HDR, ALL = 263, 15, 3


def opened(device):
    """Frames come and go with their header of offloads: what checksum and segments they still lack."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sock.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    sock.bind((device, ALL))
    return sock


def main():
    one, other = (opened(device) for device in DEVICES)
    to, waiting, number = {one: other, other: one}, [], itertools.count()
    while True:
        pause = max(waiting[0][0] - time.monotonic(), 0) if waiting else None
        for sock in select.select([one, other], [], [], pause)[0]:
            try:
                frame, where = sock.recvfrom(70000)
            except OSError:
                continue  # a tunnel's large frame, which has no such header
            if where[2] != socket.PACKET_OUTGOING:
                heapq.heappush(waiting, (time.monotonic() + SECONDS, next(number), to[sock], frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, sock, frame = heapq.heappop(waiting)
            try:
                sock.send(frame)
            except OSError:
                pass  # as a cable loses one


main()
