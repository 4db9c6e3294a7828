#!/bin/sh
# Installs the Debian packages of packages.txt that are missing: install-packages.sh GROUP...
# Uses sudo when not root, and says what it installs. Does nothing, quickly, when all is there.
set -eu

list=$(dirname "$0")/packages.txt

wanted() {
    for group in "$@"; do
        awk -v group="$group" '$1 == group { print $2 }' "$list"
    done | sort -u
}

installed() {
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | awk '$1 == "installed" { print $2 }' | sort -u
}

missing() {
    wanted "$@" >"$work/wanted"
    installed >"$work/installed"
    comm -23 "$work/wanted" "$work/installed"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        echo "error: cannot install packages: neither root nor sudo; install them manually: $packages" >&2
        exit 1
    fi
}

[ $# -gt 0 ] || { echo "usage: install-packages.sh GROUP...   (groups: see $list)" >&2; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packages=$(missing "$@" | tr '\n' ' ')
[ -n "$packages" ] || exit 0

command -v apt-get >/dev/null || { echo "error: cannot install $packages: this is no Debian" >&2; exit 1; }
echo "installing from Debian: $packages"
as_root apt-get -q -o DPkg::Lock::Timeout=600 update >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; }
# One word a package is wanted here.
# shellcheck disable=SC2086
as_root apt-get -q -y -o DPkg::Lock::Timeout=600 install --no-install-recommends $packages \
    </dev/null >"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; exit 1; }
