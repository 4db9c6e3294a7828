"""Packets that a machine passes on later: through a device of a program (tun), since kernels without netem exist.

    with slow_way.delayed(ns, "cni0", "10.244.4.0/24", 0.02): ...
"""
import contextlib
import fcntl
import heapq
import os
import select
import struct
import threading
import time

import netns

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
DEVICE, TABLE = "slow0", "77"


def _open():
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
    return tun


def _pass_on(tun, seconds, over):
    """What comes goes back into the same device, whose packets are routed as any other's."""
    waiting, number = [], 0
    while not over.is_set():
        left = max(0.0, waiting[0][0] - time.monotonic()) if waiting else 0.2
        if select.select([tun], [], [], min(left, 0.2))[0]:
            number += 1
            heapq.heappush(waiting, (time.monotonic() + seconds, number, os.read(tun, 65536)))
        while waiting and waiting[0][0] <= time.monotonic():
            os.write(tun, heapq.heappop(waiting)[2])


@contextlib.contextmanager
def delayed(ns, device, to, seconds):
    """What comes in there by `device` for `to` takes so much longer, one way."""
    tun, over = netns.within(ns, _open), threading.Event()
    rule = "iif %s to %s lookup %s" % (device, to, TABLE)
    thread = threading.Thread(target=_pass_on, args=(tun, seconds, over), daemon=True)
    netns.sysctl(ns, {"net/ipv4/conf/%s/rp_filter" % d: 0 for d in (DEVICE, "all")})
    # Service addresses were translated when it came first.
    netns.nft(ns, "table ip slow {\n chain p {\n  type filter hook prerouting priority raw;\n  iif %s notrack\n }\n}\n" % DEVICE)
    netns.ip_batch(ns, ["link set %s mtu 1500 up" % DEVICE, "route add default dev %s table %s" % (DEVICE, TABLE),
                        "rule add " + rule])
    thread.start()
    try:
        yield
    finally:
        netns.ip(ns, "rule del", rule)
        netns.nft(ns, "delete table ip slow\n")
        over.set()
        thread.join()
        os.close(tun)
