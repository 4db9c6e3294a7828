"""What the server is asked to bear: how much came, how dense, and a limit to it.

The limit is of the kind that a real API server has: what is too much is answered 429 with
Retry-After and asked again later. Health and the watches that stand already are never refused.
"""

import threading
import time

SLOT_SECONDS = 0.25
RETRY_AFTER = 1


class Limit:
    """Requests a second, `burst` of them at once (a token bucket); rate 0: no limit."""

    def __init__(self, rate=0.0, burst=0):
        self.rate, self.burst = rate, burst or max(rate, 1)
        self.left, self.last = float(self.burst), 0.0

    def take(self, now):
        if not self.rate:
            return True
        self.left = min(self.burst, self.left + (now - self.last) * self.rate)
        self.last = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Traffic:
    """Counts; every method may be called from any thread."""

    def __init__(self, limit=None, clock=time.monotonic):
        self.lock, self.clock, self.limit = threading.Lock(), clock, limit or Limit()
        self.connections = self.handshakes = self.requests = self.refused = self.bytes = 0
        self.numbered = self.open = self.peak_open = self.at_once = self.peak_at_once = 0
        self.began, self.slots = clock(), {}

    def opened(self):
        """A connection came; its number, from 1."""
        with self.lock:
            self.connections += 1
            self.numbered += 1
            self.open += 1
            self.peak_open = max(self.peak_open, self.open)
            return self.numbered

    def secured(self):
        with self.lock:
            self.handshakes += 1

    def closed(self):
        with self.lock:
            self.open -= 1

    def begin(self, always=False):
        """A request came: True when it may be served; `always` it may, whatever the limit says."""
        now = self.clock()
        with self.lock:
            self.requests += 1
            self.at_once += 1
            self.peak_at_once = max(self.peak_at_once, self.at_once)
            slot = int((now - self.began) / SLOT_SECONDS)
            self.slots[slot] = self.slots.get(slot, 0) + 1
            served = always or self.limit.take(now)
            self.refused += not served
            return served

    def answered(self, size):
        """An answer's body of so many bytes."""
        with self.lock:
            self.bytes += size

    def end(self):
        with self.lock:
            self.at_once -= 1

    def facts(self):
        with self.lock:
            return {"tcpConnections": self.connections, "tlsConnections": self.handshakes,
                    "requests": self.requests, "refusedRequests": self.refused, "answeredBytes": self.bytes,
                    "peakConnections": self.peak_open, "peakRequestsAtOnce": self.peak_at_once,
                    "peakRequestsPerSecond": round(max(self.slots.values(), default=0) / SLOT_SECONDS),
                    "slotSeconds": SLOT_SECONDS,
                    "slots": [self.slots.get(i, 0) for i in range(max(self.slots, default=-1) + 1)]}

    def clear(self):
        """What is open stays counted; all else begins at zero."""
        with self.lock:
            self.connections = self.handshakes = self.requests = self.refused = self.bytes = 0
            self.peak_open, self.peak_at_once = self.open, self.at_once
            self.began, self.slots = self.clock(), {}
