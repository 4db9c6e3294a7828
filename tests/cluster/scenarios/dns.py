"""Names in the cluster as upstream's CoreDNS answers them, with kubeadm's Corefile."""
import subprocess

import fabric as fabrics
import netns
from scenario import expect_equal, scenario

SUFFIX = "." + fabrics.DOMAIN
NAMES = {"kubernetes.default.svc" + SUFFIX: fabrics.API_VIP,
         "kube-dns.kube-system.svc" + SUFFIX: fabrics.DNS_VIP,
         "echo.default.svc" + SUFFIX: fabrics.ECHO_POD,
         "10-244-3-7.default.pod" + SUFFIX: "10.244.3.7",
         fabrics.EXTERNAL_NAME: fabrics.EXTERNAL_IP,
         "no-such-service.default.svc" + SUFFIX: None}


@scenario("dns-names", "Services, pods, headless Services and names outside resolve", ("dns",),
          coredns=True)
def names(stage):
    pod = stage.fabric.ns("l1-echo")
    netns.resolv(pod, [fabrics.DNS_POD])
    for name, address in NAMES.items():
        done = subprocess.run(netns.command(pod, ["getent", "ahostsv4", name]), text=True,
                              capture_output=True, check=False, timeout=30)
        expect_equal(done.stdout.split()[0] if done.stdout else None, address, name)


@scenario("dns-follows", "a Service made later is found at once", ("dns",), coredns=True)
def follows(stage):
    pod, name = stage.fabric.ns("l1-echo"), "later.default.svc" + SUFFIX
    netns.resolv(pod, [fabrics.DNS_POD])
    stage.cluster.kubectl("create", "service", "clusterip", "later", "--tcp=80:80",
                          "--clusterip=10.96.7.7")
    try:
        def found():
            done = subprocess.run(netns.command(pod, ["getent", "ahostsv4", name]), text=True,
                                  capture_output=True, check=False, timeout=30)
            return "10.96.7.7" in done.stdout
        stage.cluster.wait_for(found, 15, every=0.5, what_for="answer for " + name)
    finally:
        stage.cluster.kubectl("delete", "service", "later")
