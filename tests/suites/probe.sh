#!/bin/sh
# Two probes as pods on loopback addresses: they echo, beat, answer what their mailbox asks, and bear
# garbage, a full disk and a folder that is taken away. The same as Windows programs under Wine.
set -eu
cd "$(dirname "$0")/../.."

passed=0 failed=0 skipped=0
work=$(mktemp -d)
pids=
finish() {
    for pid in $pids; do
        kill "$pid" 2>/dev/null || true
    done
    umount "$work/full" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT INT TERM

check() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s: "%s", not "%s"\n' "$1" "$2" "$3"
    fi
}

# wait_for FILE: at most 15 s
wait_for() {
    turns=0
    while [ ! -f "$1" ] && [ "$turns" -lt 150 ]; do
        sleep 0.1
        turns=$((turns + 1))
    done
    [ -f "$1" ]
}

# beats MAILBOX N: so many heartbeats, one a second
beats() {
    until_beat=$(($(beat_of "$1") + $2))
    turns=0
    while [ "$(beat_of "$1")" -lt "$until_beat" ] && [ "$turns" -lt 150 ]; do
        sleep 0.1
        turns=$((turns + 1))
    done
}

beat_of() {
    number=$(sed -n 's/^beat //p' "$1/heartbeat.txt" 2>/dev/null | tr -d '\r')
    echo "${number:-0}"
}

# tries FOLDER: something was written there and taken back, a few times
tries() {
    for _ in 1 2 3; do
        at=$(stat -c %y "$1")
        turns=0
        while [ "$(stat -c %y "$1")" = "$at" ] && [ "$turns" -lt 150 ]; do
            sleep 0.02
            turns=$((turns + 1))
        done
    done
}

# ask MAILBOX GENERATION: the results without their times
ask() {
    : >"$1/go-$2"
    wait_for "$1/results-$2.txt" || true
    awk '$2 == "ok" && NF == 10 { $5 = $6 = $7 = $8 = "T" } { print }' "$1/results-$2.txt" 2>/dev/null | tr -d '\r'
}

# pods PROGRAM...: two of them
pods() {
    mkdir -p "$work/a" "$work/b"
    rm -f "$work/a/"* "$work/b/"*
    "$@" serve --mailbox "$work/a" --name winjoin-probe-a --address "$a_ip" --tcp "$other" --udp "$other" &
    a=$!
    "$@" serve --mailbox "$work/b" --name winjoin-probe-b --run 5eed --address "$b_ip" --tcp "$port" --udp "$port" &
    b=$!
    pids="$pids $a $b"
    wait_for "$work/a/heartbeat.txt" || true
    wait_for "$work/b/heartbeat.txt" || true
}

measures() {
    what=$1
    cat >"$work/a/probes.txt" <<LIST
winjoin-probes 1
pod-to-pod-ip.tcp tcp $b_ip $port 1400 - winjoin-probe-b 2000 3
pod-to-pod-ip.udp udp $b_ip $port 1400 - winjoin-probe-b 2000 3
large.tcp tcp $b_ip $port 2000 - winjoin-probe-b 2000 3
any.udp udp-any $b_ip $port 16 - winjoin-probe-b 2000 3
wrong.udp udp $b_ip $port 16 - winjoin-probe-c 2000 3
closed.tcp tcp $b_ip 1 0 - - 500 3
nobody.tcp tcp 127.0.0.13 $port 16 - winjoin-probe-b 500 3
LIST
    check "$what: a list" "$(ask "$work/a" 1)" "winjoin-results 1
pod-to-pod-ip.tcp ok 3 3 T T T T winjoin-probe-b -
pod-to-pod-ip.udp ok 3 3 T T T T winjoin-probe-b -
large.tcp ok 3 3 T T T T winjoin-probe-b -
any.udp ok 3 3 T T T T winjoin-probe-b -
wrong.udp wrong-responder 2 0 0 0 0 0 winjoin-probe-b -
closed.tcp refused 2 0 0 0 0 0 - -
nobody.tcp refused 2 0 0 0 0 0 - -
end 7"
    check "$what: the heartbeat" "$(tr -d '\r' <"$work/b/heartbeat.txt" | sed '/^beat\|^host/d' | tr '\n' ' ')" \
        "winjoin-heartbeat 1 name winjoin-probe-b run 5eed addresses $b_ip tcp 1 udp 1 end "
    head -c 3000 /dev/urandom >"$work/a/probes.txt"
    check "$what: garbage is answered" "$(ask "$work/a" 2 | sed -n 2p | cut -c1-28)" "error decode winjoin-probes:"
    printf 'winjoin-probes 1\nself.tcp tcp %s %s 16 - - 1000 1\n' "$b_ip" "$port" >"$work/a/probes.txt"
    check "$what: and forgotten" "$(ask "$work/a" 3 | sed -n 2p)" "self.tcp ok 1 1 T T T T winjoin-probe-b -"
    mv "$work/a" "$work/away"
    beats "$work/b" 2
    mv "$work/away" "$work/a"
    check "$what: the folder came back" "$(ask "$work/a" 4 | sed -n 2p)" "self.tcp ok 1 1 T T T T winjoin-probe-b -"
}

# A probe that was restarted does not answer what is answered already.
restarts() {
    kill "$a"
    wait "$a" 2>/dev/null || true
    "$@" serve --mailbox "$work/a" --name winjoin-probe-a --address "$a_ip" --tcp "$other" --udp "$other" &
    a=$!
    pids="$pids $a"
    check "restarted: the next question" "$(ask "$work/a" 5 | sed -n 2p)" "self.tcp ok 1 1 T T T T winjoin-probe-b -"
    check "restarted: old answers stay" "$(sed -n 2p "$work/a/results-2.txt" | cut -c1-12)" "error decode"
}

ends() {
    : >"$work/a/stop"
    : >"$work/b/stop"
    code=0
    wait "$a" || code=$?
    check "$1: ends when told" "$code" 0
    wait "$b" || true
    check "$1: its heartbeat ends with it" "$(find "$work/a" -name heartbeat.txt)" ""
}

full_disk() {
    mkdir "$work/full"
    if ! mount -t tmpfs -o size=16k none "$work/full" 2>/dev/null; then
        skipped=$((skipped + 1))
        echo "full disk: skipped, mounting needs root"
        return
    fi
    printf 'winjoin-probes 1\nself.tcp tcp 127.0.0.14 %s 16 - - 1000 1\n' "$port" >"$work/full/probes.txt"
    build/native/winjoin-probe serve --mailbox "$work/full" --name p --address 127.0.0.14 --tcp "$port" &
    p=$!
    pids="$pids $p"
    wait_for "$work/full/heartbeat.txt" || true
    dd if=/dev/zero of="$work/full/ballast" bs=1k count=64 2>/dev/null || true
    : >"$work/full/go-1" 2>/dev/null || true
    tries "$work/full"
    check "full disk: no half answer" "$(find "$work/full" -name 'results*' | wc -l)" 0
    rm "$work/full/ballast"
    : >"$work/full/go-1"
    wait_for "$work/full/results-1.txt" || true
    check "full disk: answered once there is room" "$(sed -n 3p "$work/full/results-1.txt")" "end 1"
    : >"$work/full/stop"
    wait "$p" || true
}

a_ip=127.0.0.11 b_ip=127.0.0.12 port=18080 other=18080
pods build/native/winjoin-probe
measures native
restarts build/native/winjoin-probe
ends native
full_disk

wine=/usr/lib/wine/wine64
if [ -x "$wine" ] && [ -f build/windows/winjoin-probe.exe ]; then
    export WINEPREFIX="$PWD/build/wine-unit" WINEDEBUG=-all HOME="$PWD/build/wine-unit" WINEARCH=win64
    mkdir -p "$WINEPREFIX"
    "$wine" wineboot -i >/dev/null 2>&1
    # Wine binds UDP to 127.0.0.1 as asked, to any other address as to all; and TIME_WAIT holds a port.
    a_ip=127.0.0.1 b_ip=127.0.0.1 port=18090 other=18091
    pods "$wine" build/windows/winjoin-probe.exe
    measures Wine
    ends Wine
else
    skipped=$((skipped + 1))
    echo "Wine: skipped, there is no Wine or no winjoin-probe.exe"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
