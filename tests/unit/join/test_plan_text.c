/* A plan as a person reads it, whole: one of each thing that a plan can hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/plan/plan.h"

static const char document[] =
    "{'cluster':{'name':'k','kubernetesVersion':'v1.37.1','server':'https://10.0.0.10:6443',"
    "'podSubnets':['10.244.0.0/16'],'serviceSubnets':['10.96.0.0/12'],'clusterDNS':['10.96.0.10',"
    "'10.96.0.11'],'caHashes':['sha256:12']},"
    "'node':{'name':'win-1','ip':'10.0.0.21','criSocket':'npipe:////./pipe/c','labels':'a=b',"
    "'taints':'os=windows:NoSchedule'},"
    "'network':{'mode':'overlay','name':'flannel.4096','plugin':'win-overlay','adapter':'"
    "Eth\\u001b',"
    "'sourceVip':'10.244.1.2','natExceptions':['10.244.0.0/16','10.96.0.0/12'],"
    "'cni':[{'path':'C:\\\\cni.conf'}],"
    "'documents':[{'call':'HcnCreateNetwork','body':{'Name':'n','Type':'Overlay','Ipams':[{"
    "'Subnets':[{'IpAddressPrefix':'10.244.1.0/24'}]}]}},{'call':'HcnModifyNetwork','body':{"
    "'Settings':{'Policies':[{'Type':'A'},{'Type':'B'}]}}}],"
    "'routes':[{'destination':'10.244.2.0/24','nextHop':'10.0.0.22'},"
    "{'destination':'10.244.3.0/24','nextHop':'10.0.0.23'}],"
    "'firewall':[{'name':'kubelet','protocol':'TCP','port':10250},{'name':'all','protocol':'UDP'}]}"
    ","
    "'steps':[{'id':'preflight','title':'look'},{'id':'files','title':'write'}],"
    "'artifacts':[{'path':'C:\\\\k\\\\kubelet.exe','version':'v1.37.1','sha256':'0123456789abcdef'}"
    "],"
    "'files':[{'path':'C:\\\\a','replaces':true,'protected':true},{'path':'C:\\\\b','changes':[{"
    "'path':'x','from':1,'to':2,'reason':'why'},{'path':'y','from':1,'reason':'gone'},{'path':'z',"
    "'to':[3],'reason':''}]}],"
    "'services':[{'name':'kubelet','start':'automatic','account':'LocalSystem','dependsOn':["
    "'containerd'],'command':'C:\\\\k\\\\kubelet.exe'},{'name':'containerd','start':'automatic',"
    "'account':'LocalSystem','command':'c.exe'}],'unknown':['the pod prefix']}";

static const char wanted[] =
    "Joining win-1 to https://10.0.0.10:6443 would do this; nothing was changed.\n"
    "\n"
    "cluster    \"k\" v1.37.1, pods 10.244.0.0/16, services 10.96.0.0/12, DNS 10.96.0.10, "
    "10.96.0.11, CA sha256:12\n"
    "node       win-1, 10.0.0.21, npipe:////./pipe/c, labels a=b, taints os=windows:NoSchedule\n"
    "network    overlay \"flannel.4096\" by win-overlay on \"Eth\\x1b\", source VIP 10.244.1.2; no "
    "NAT for: 10.244.0.0/16, 10.96.0.0/12\n"
    "\n"
    "steps\n"
    "   1  preflight      look\n"
    "   2  files          write\n"
    "\n"
    "programs\n"
    "  C:\\k\\kubelet.exe                             v1.37.1, sha256:0123456789ab...\n"
    "\n"
    "files\n"
    "  replace  C:\\a  (SYSTEM and Administrators only)\n"
    "  write    C:\\b\n"
    "  write    C:\\cni.conf\n"
    "\n"
    "C:\\b, against the cluster's KubeletConfiguration\n"
    "  -x: 1\n"
    "  +x: 2  # why\n"
    "  -y: 1  # gone\n"
    "  +z: [3]\n"
    "\n"
    "services\n"
    "  kubelet          automatic, LocalSystem, after containerd\n"
    "                   C:\\k\\kubelet.exe\n"
    "  containerd       automatic, LocalSystem\n"
    "                   c.exe\n"
    "\n"
    "Host Network Service\n"
    "  HcnCreateNetwork n (Overlay) 10.244.1.0/24\n"
    "  HcnModifyNetwork policy A, B\n"
    "\n"
    "routes\n"
    "  10.244.2.0/24 via 10.0.0.22\n"
    "  10.244.3.0/24 via 10.0.0.23\n"
    "\n"
    "firewall\n"
    "  kubelet          TCP 10250, inbound\n"
    "  all              UDP 0, inbound\n"
    "\n"
    "not known yet: the pod prefix (the cluster assigns it to the registered Node; --pod-cidr "
    "plans with a given one)\n"
    "for the full text of every file and document: winjoin join --dry-run -o yaml\n";

static json_t *plan_of(const char *text) {
    _cleanup_(freep) char *quoted = xstrdup(text);
    json_t *plan = NULL;
    struct error err = {0};

    for (char *p = quoted; *p; p++)
        if (*p == '\'')
            *p = '"';
    if (json_read(quoted, strlen(quoted), "plan", &plan, &err) < 0)
        fail_msg("%s", err.message);
    return plan;
}

static void everything(void **state) {
    _cleanup_json_ json_t *plan = plan_of(document);
    _cleanup_(freep) char *text = join_plan_text(plan);

    (void)state;
    assert_string_equal(text, wanted);
}

static void nothing_to_do(void **state) {
    _cleanup_json_ json_t *plan = plan_of("{'node':{'name':'win-1'},'steps':[]}");
    _cleanup_(freep) char *text = join_plan_text(plan);

    (void)state;
    assert_string_equal(text, "Joining win-1 would do nothing: all phases are skipped.\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything),
        cmocka_unit_test(nothing_to_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
