#!/bin/sh
# Discovery by winjoin and by upstream's kubeadm on the same cases: verdicts differ only where
# docs/kubeadm-parity.md says why. Skipped where kubeadm is not built (tests/cluster builds it).
set -eu
cd "$(dirname "$0")/../.."
exec python3 -B tests/discovery/cases.py --compare "$@"
