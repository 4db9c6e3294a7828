#!/bin/sh
# The test API server against the facts of a kubeadm cluster.
set -eu
cd "$(dirname "$0")/../controlplane"
exec /usr/bin/python3 -B -W ignore::ResourceWarning test_controlplane.py 2>&1
