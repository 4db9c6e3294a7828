#!/bin/sh
# The stand-ins under Wine: a Windows node set up manually becomes Ready, with pods that answer.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/windows/standins/kubelet.exe
exec /usr/bin/python3 -B -W ignore::ResourceWarning tests/standins/test_standins.py 2>&1
