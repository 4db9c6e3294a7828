"""How much longer than on an idle machine something may take here: the one place where limits of tests are stretched.

    patience.py [SECONDS]    the factor, or that many seconds times the factor
WINJOIN_PATIENCE gives the factor; else it follows the load: with a load of 12 on two cores it is 6.
"""
import os
import subprocess
import sys
import time


def factor():
    given = os.environ.get("WINJOIN_PATIENCE")
    return float(given) if given else max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def wait(process, seconds):
    """Waits for a process. Its time counts less while the machine is busy; TimeoutExpired when it is over."""
    left, last = float(seconds), time.monotonic()
    while left > 0:
        try:
            return process.wait(min(left, 2.0))
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            left, last = left - (now - last) / factor(), now
    raise subprocess.TimeoutExpired(process.args, seconds)


if __name__ == "__main__":
    print("%.1f" % (factor() * float(sys.argv[1] if len(sys.argv) > 1 else 1)))
