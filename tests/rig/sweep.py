"""Every single change of a healthy joined node (changes.py), instead of faults that somebody thought of. diag must
name of a kind of change what an expert would (EXPECTED, written before any of the kind was played), and confirm nothing
else; where nothing turns red, it must confirm nothing that the change is not.

    sweep.py [--mode overlay|l2bridge] [--seed N] [--count N] [--only REGEX] [--list] [--keep FOLDER] [--jobs N]

The changes come in an order by chance (--seed), each kind about as often; --only plays those with such a name.
--keep: each report, for diag --replay.
"""
import argparse
import collections
import concurrent.futures
import random
import re
import sys
import time

import causes
import changes
import fault
import stage as stages

# What an expert names of a change that is matched, the first that does; more where what can be seen fits several.
DNS_WAY = "SVC-EP0 UDP-LOST DNS-PROTO"
FAR = "OVL-UDP L2-ROUTE PEER-DOWN " + DNS_WAY
EXPECTED = [
    # HNS: what is changed in which object
    (r"hns network gone", "HNS-NET SVC-DOWN"),
    (r"hns network Type", "HNS-NET"),
    (r"hns network Ipams.*IpAddressPrefix", "HNS-CIDR"),
    (r"hns network Ipams.*NextHop", "POD-GW"),
    (r"hns network Ipams.*IsolationId", "OVL-VNI"),
    (r"hns network .*RemoteSubnetRoute.*IsolationId", "OVL-VNI OVL-PEER"),
    (r"hns network .*RemoteSubnetRoute", "OVL-PEER ROUTE-STALE"),
    (r"hns network .*(ProviderAddress)", "HNS-MGMT"),
    (r"hns network .*DrMacAddress", "FLANNEL-NODE OVL-MAC"),
    (r"hns network .*HostRoute", "FW-OWN"),
    (r"hns network .*VxlanPort", "OVL-UDP"),
    (r"hns (network|host-endpoint)", "POD-GW HNS-NET HNS-CIDR L2-FWD"),
    (r"hns source-vip", "SVC-VIP"),
    (r"hns behind-dns .*ProviderAddress", "OVL-PEER SVC-STALE SVC-EP0"),
    (r"hns behind-dns", "SVC-STALE OVL-PEER SVC-EP0"),
    (r"hns behind-api", "SVC-STALE API-ADDR API-PODS"),
    (r"hns lb-\S+ .*(SourceVIP)", "SVC-VIP"),
    (r"hns lb-\S+ .*InternalPort", "SVC-PORT"),
    (r"hns lb-\S+ .*HostComputeEndpoints", "SVC-STALE"),
    (r"hns lb-dns", "SVC-LOST DNS-LB HNS-ORPHAN SVC-ALL"),
    (r"hns lb-api", "SVC-LOST SVC-LB HNS-ORPHAN SVC-ALL"),
    # what new pods get of the CNI configuration, or by another program
    (r"cni .*(type|Type|name|DestinationPrefix|dataDir|cniVersion)=.* gone", "POD-SBX HNS-NET NODE-CHANGED POD-GW"),
    (r"cni .*OutBoundNAT.*Exceptions", "NAT-EXC"),
    (r"cni .*OutBoundNAT", "NAT-NONE NAT-EXC"),
    (r"cni .*SDNRoute.*10\.96", "SVC-ROUTE"),
    (r"cni .*SDNRoute", "L2-NODE SVC-ROUTE"),
    (r"cni .*ProviderAddress", "HNS-MGMT"),
    (r"cni .*(gateway|NextHop|routes)", "POD-GW"),
    (r"cni .*(subnet|range)", "HNS-CIDR POD-SBX POD-GW NODE-CHANGED"),
    (r"cni .*[Dd]ns.*(search|Search|suffix)", "DNS-SFX"),
    (r"cni .*[Dd]ns", "DNS-SRV DNS-SFX"),
    (r"cni ", "POD-SBX HNS-NET HNS-EP NODE-CHANGED"),
    (r"pod .*ServerList", "DNS-SRV"),
    (r"pod .*(Domain|Search)", "DNS-SFX"),
    (r"pod .*(NextHop|DestinationPrefix.*0\.0\.0\.0)", "POD-GW"),
    (r"pod .*(OutBoundNAT|Exceptions)", "NAT-NONE NAT-EXC"),
    (r"pod .*(SDNRoute|NeedEncap|DestinationPrefix)", "SVC-ROUTE L2-NODE"),
    (r"pod .*ProviderAddress", "HNS-MGMT"),
    (r"pod .*(IpAddress|PrefixLength)", "HNS-EP HNS-CIDR POD-SBX HNS-EPSTALE"),
    (r"pod .*", "HNS-EP POD-SBX HNS-NET"),
    # the node's own network
    (r"route 0\.0\.0\.0", "EXT-NODE"),
    (r"route 10\.244\.0\.0", "L2-ROUTE OVL-PEER"),
    (r"route 10\.0\.0\.", "API-DOWN PEER-DOWN L2-ROUTE"),
    (r"route .*", "EXT-NODE L2-ROUTE POD-GW FW-OWN"),
    (r"mac w1 of cp", "API-DOWN"), (r"mac cp of w1", "API-DOWN"),
    (r"mac w1 of l1", "PEER-DOWN"), (r"mac l1 of w1", "PEER-DOWN"),
    (r"mac (w1 of fabric|fabric of w1)", "EXT-NODE"),
    (r"adapter .*forwarding", "L2-FWD"),
    (r"adapter .*mtu", "MTU MTU-NODES"),
    (r"adapter .*address gone", "HNS-MGMT API-DOWN NIC-WRONG POD-GW"),
    (r"adapter .*address", "HNS-MGMT NIC-WRONG API-DOWN"),
    (r"adapter .*dns", "EXT-DNS API-DOWN"),
    (r"service (\S+) stopped", "SVC-DOWN"),
    (r"file .*kubelet.*cluster(DNS|Domain)", "DNS-SRV DNS-SFX"),
    (r"file .*config\.yaml", "SVC-DOWN NODE-CHANGED POD-SBX POD-IMG API-REFUSED KUBELET-PORT"),
    (r"file .*kube-proxy", "SVC-DOWN NODE-CHANGED SVC-ALL SVC-VIP SVC-LOST"),
    (r"file .*(kubelet\.conf|pem)", "SVC-DOWN API-DOWN API-REFUSED CERT-EXPIRED NODE-CHANGED"),
    (r"file .*containerd", "SVC-DOWN NODE-CHANGED POD-SBX POD-IMG"),
    (r"file .*flannel", "SVC-DOWN NODE-CHANGED OVL-VNI OVL-PEER FLANNEL-NODE FLANNEL-TYPE L2-ROUTE OVL-UDP"),
    # what the cluster says
    (r"object l1 .*annotations.*public-ip", "NIC-WRONG OVL-PEER L2-ROUTE"),
    (r"object l1 .*annotations.*backend-data.*VNI", "OVL-VNI"),
    (r"object l1 .*annotations.*backend-type", "FLANNEL-TYPE OVL-PEER L2-ROUTE"),
    (r"object l1", "OVL-PEER L2-ROUTE PEER-DOWN NODE-CIDR NODE-TWICE NIC-WRONG"),
    (r"object w1 .*(podCIDR)", "HNS-CIDR"),
    (r"object w1 .*annotations", "FLANNEL-NODE FLANNEL-TYPE NIC-WRONG OVL-VNI OVL-MAC"),
    (r"object w1 .*status.addresses", "HNS-MGMT NIC-WRONG API-DOWN"),
    (r"object w1 gone", "NODE-GONE FLANNEL-NODE"),
    (r"object w1", "API-REFUSED NOTREADY HNS-CIDR FLANNEL-NODE"),
    (r"object slice-dns", "SVC-EP0 SVC-LOST DNS-LB"),
    (r"object slice-api", "SVC-EP0 API-ADDR SVC-LOST SVC-LB API-PODS"),
    (r"object service-dns .*targetPort", "SVC-EP0 SVC-PORT"),
    (r"object service-dns", "DNS-NONE DNS-LB SVC-LOST SVC-EP0 DNS-SRV"),
    (r"object service-api", "SVC-LB SVC-LOST SVC-EP0 API-ADDR DNS-WRONG"),
    # packets: between whom, on whose machine, which
    (r"packets pod-pod .*tcp", "POD-LOCAL TCP-LOST"),
    (r"packets pod-pod", "POD-LOCAL"),
    (r"packets pod-node .*(input|answers)", "FW-IN FW-OWN KUBELET-PORT"),
    (r"packets pod-node", "FW-OWN FW-IN KUBELET-PORT"),
    (r"packets node-pod", "FW-OWN"),
    (r"packets pod-dnspods .*udp", "UDP-LOST DNS-PROTO SVC-EP0"),
    (r"packets pod-dnspods .*tcp", "TCP-LOST DNS-PROTO"),
    (r"packets pod-dnspods", FAR),
    (r"packets pod-api", "API-PODS"),
    (r"packets pod-outside", "EXT-PODS"),
    (r"packets nodes .*tcp", "PEER-DOWN TCP-LOST DNS-PROTO"),
    (r"packets nodes", "OVL-UDP PEER-DOWN L2-ROUTE UDP-LOST"),
    (r"packets node-api .*udp", "-"),
    (r"packets node-api", "API-DOWN"),
    (r"packets node-outside", "EXT-NODE"),
]


def expected(name):
    return next((named.split() for pattern, named in EXPECTED if re.match(pattern, name)), [])


# ---- played -----------------------------------------------------------------------------------

def judged(name, code, named):
    """(what came of it: right, missed or quiet, wrongly confirmed causes)"""
    want = expected(name)
    wrong = [c[0] for c in named if c[1] == "confirmed" and c[0] not in want]
    if code == 0 and not named:
        return "quiet", wrong
    if not named or named[0][0] not in want:
        return "missed" if code else "beside", wrong
    return "right", wrong


def play(args, part):
    """Plays one part of the changes, one after another: [(verdict, wrongly confirmed)]."""
    causes.keep, out, names = args.keep, [], None
    while names is None or names:
        with stages.Stage(args.mode, outage_ms=500) as s:
            there = listed(s)
            if names is None:
                names = sample([n for n in there if re.search(args.only, n)], args.seed)[:args.count][part::args.jobs]
            while names:
                if not one(s, names.pop(0), there, out):
                    break  # what is left of it would be taken for the next one's: another node
    return out


def one(s, name, there, out):
    """Plays a change; false: it does not go away again."""
    begin = time.monotonic()
    apply, lift = there[name]
    try:
        apply(s)
        code, named, failed = causes.seen(s, re.sub(r"[^\w.=-]", "_", name)[:150])
    except Exception as why:  # whatever refuses it: the next one may be made
        print("cannot be made: %s %s: %s" % (s.mode, name, str(why)[:200]), flush=True)
        code = None
    if code is not None:
        verdict, wrong = judged(name, code, named)
        out.append((verdict, wrong))
        print("%-7s%s %-8s %s: %s, wants %s; %d cells red  (%.0f s)" % (
            verdict, " WRONG " + ",".join(wrong) if wrong else "", s.mode, name,
            ", ".join("%s %s" % c[:2] for c in named) or "-", "/".join(expected(name)), len(failed),
            time.monotonic() - begin), flush=True)
    try:
        lift(s)
        return causes.well(s, name, 15).code == 0
    except Exception:
        return False


def listed(s):
    """The changes of a node that has joined, and started pods once."""
    joined = s.join()
    if joined.returncode:
        raise RuntimeError("join: exit code %d\n%s%s" % (joined.returncode, joined.stdout, joined.stderr))
    causes.seen(s, "healthy", kept=False)
    return changes.of(s)


def sample(names, seed):
    """In an order by chance, in which each kind of change comes about as often."""
    kinds, order = {}, random.Random(seed)
    for name in names:
        kinds.setdefault(next((p for p, _ in EXPECTED if re.match(p, name)), ""), []).append(name)
    for group in kinds.values():
        order.shuffle(group)
    rounds = [[g[n] for g in kinds.values() if n < len(g)] for n in range(max(map(len, kinds.values())))]
    for group in rounds:
        order.shuffle(group)
    return [name for group in rounds for name in group]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=fault.BOTH, default="overlay")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--only", default="", help="changes whose name has this (a regular expression)")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.list:
        with stages.Stage(args.mode) as s:
            print("\n".join("%s  [%s]" % (n, " ".join(expected(n))) for n in listed(s) if re.search(args.only, n)))
        return 0
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        played = [pool.submit(play, args, part) for part in range(args.jobs)]
        results = [r for p in played for r in p.result()]
    count = collections.Counter(verdict for verdict, _ in results)
    wrong = sum(bool(w) for _, w in results)
    print("%s: %d changes, %d of them seen: %d named first, %d not; of %d harmless ones something was named; %d "
          "confirmed wrongly" % (args.mode, len(results), count["right"] + count["missed"], count["right"],
                                 count["missed"], count["beside"], wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
