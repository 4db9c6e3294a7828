#!/bin/sh
# Patches of a KubeletConfiguration: the table that winjoin is held to, given to upstream's kubeadm.
set -eu
cd "$(dirname "$0")/../cluster"
exec /usr/bin/python3 -B judge_patches.py 2>&1
