#!/bin/sh
# Preflight, phases' names and what a script relies on, by the native program on a played host: exit
# codes, one error line, documents, no question without a terminal, one object a line.
set -eu
cd "$(dirname "$0")/../.."

passed=0 failed=0
host=$(mktemp -d)
trap 'rm -rf "$host" "$host.out" "$host.err"' EXIT
winjoin="${WINJOIN:-build/native/winjoin}"
. tests/suites/need
need "$winjoin"

# check WHAT CODE: the last run ended so.  has WHAT FILE REGEX: a line of it matches.
check() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s: %s, not %s\n' "$1" "$2" "$3"
        cat "$host.out" "$host.err"
    fi
}
has() {
    check "$1" "$(grep -cE -e "$3" "$2" || true)" "${4:-1}"
}
run() {
    code=0
    "$winjoin" "$@" --rootfs "$host" >"$host.out" 2>"$host.err" </dev/null || code=$?
}

run preflight
check "a fit host" "$code" 0
has "a fit host's count" "$host.out" '^[0-9]+ checks: .* 0 errors'
has "what is well is not listed" "$host.out" ' IsPrivilegedUser ' 0
run preflight -v 1
has "-v lists it" "$host.out" ' ok IsPrivilegedUser +the process'
has "-v says why a check was not run" "$host.out" ' -- Discovery +no token'

mkdir -p "$host/etc/kubernetes"
: >"$host/etc/kubernetes/kubelet.conf"
run preflight
check "somebody else's kubelet.conf" "$code" 2
has "one error line" "$host.err" '^error: ' 1
has "the check is named in a hint" "$host.err" '^hint: \[FileAvailable--etc-kubernetes-kubelet.conf\] '
has "the check is listed" "$host.out" ' !! FileAvailable--etc-kubernetes-kubelet.conf '
run preflight --ignore-preflight-errors 'FileAvailable-\etc\kubernetes\kubelet.conf'
check "ignored in Windows' spelling" "$code" 0
has "it is said" "$host.out" ' FileAvailable--etc-kubernetes-kubelet.conf ignored: '
run preflight --ignore-preflight-errors ALL
check "all are ignored" "$code" 0
run preflight --ignore-preflight-errors all,HNS
check "all is alone" "$code" 3
run preflight --ignore-preflight-errors 'all,NoSuchCheck,HNS'
check "all is alone, with any name" "$code" 3
run preflight --ignore-preflight-errors FileAvailable--etc-kubernetes-kubelet.conf,Swop
check "an unknown name is passed over" "$code" 0
has "and told" "$host.err" '^warning: .*"Swop"'

run preflight -o json
check "as a document" "$code" 2
check "its keys" "$(python3 -c '
import json, sys
d = json.load(sys.stdin)
assert (d["apiVersion"], d["kind"]) == ("winjoin.io/v1alpha1", "PreflightReport")
for c in d["checks"]:
    assert set(c) <= {"id", "level", "outcome", "message", "hint"}, c
    assert c["level"] in ("warning", "error"), c
    assert c["outcome"] in ("pass", "warning", "error", "ignored", "not-run"), c
    assert (c["outcome"] == "pass") == ("message" not in c), c
assert d["error"]["kind"] == "preflight", d["error"]
print("right")' <"$host.out")" right
rm -rf "${host:?}/etc"

run join phase list
has "our phases" "$host.out" '^(preflight|verify) '  2
has "kubeadm's" "$host.out" '^kubelet-(start|wait-bootstrap) ' 2
run join phase kubelet-strt
check "an unknown phase" "$code" 3
has "has a neighbour" "$host.err" '^hint: did you mean kubelet-start\?$'
run join phase control-plane-prepare
check "a control plane's phase" "$code" 3
run join 127.0.0.1:1 --token abcdef.0123456789abcdef --skip-phases nothing --discovery-token-unsafe-skip-ca-verification
check "an unknown phase to skip" "$code" 3

for verb in status preflight capabilities certs; do
    rm -rf "$host"
    run "$verb"
    check "$verb makes no rootfs" "$(test -e "$host" && echo there || echo none)" none
done
mkdir "$host"

run reset
check "nobody can be asked" "$code" 3
has "and what then" "$host.err" '^hint: use --force$'

run join 127.0.0.1:1 --token abcdef.0123456789abcdef --discovery-token-unsafe-skip-ca-verification \
    --timeout 1s --dry-run --progress json
check "nobody answers" "$code" 1
check "one object a line" "$(grep -vE '^(error|hint|warning): ' "$host.err" | python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
last = lines.pop()
assert set(last) == {"time", "result", "exitCode"} and last["exitCode"] == 1, last
allowed = {"time", "phase", "state", "message", "hint", "waitedSeconds", "leftSeconds", "durationSeconds"}
assert all(set(line) <= allowed for line in lines), lines
print(lines[0]["phase"], lines[0]["state"], lines[-1]["phase"], lines[-1]["state"])')" \
    "preflight started discovery failed"
has "the token is kept" "$host.err" 0123456789abcdef 0
run preflight 127.0.0.1:1 --token abcdef.0123456789abcdef --timeout 1s -o json \
    --discovery-token-unsafe-skip-ca-verification
check "preflight: nobody answers" "$code" 1
has "the check says so" "$host.out" '"id": "Discovery"'
has "the token is kept in the report" "$host.out" 0123456789abcdef 0

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
