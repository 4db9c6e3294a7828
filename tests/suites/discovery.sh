#!/bin/sh
# Discovery by the real program over real TLS: the right case, every lie of the test API server, odd
# servers, files, proxies; and the verdicts of upstream's kubeadm on the same cases, where it is built
# (tests/cluster builds it): they differ only where docs/design/kubeadm-parity.md says why.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
[ "${KUBEADM:-}" = none ] || set -- --compare "$@"
# Most of a case is waiting: for a server that hangs, for kubeadm to give up.
JOBS="${JOBS:-8}" EVERY="${EVERY:-$(part 7 1)}" PATIENCE="${PATIENCE:-$(python3 -B tests/patience.py)}" \
    exec python3 -B tests/discovery/cases.py "$@"
