/* The table of limits of Kubernetes on Windows. */
#include "netsetup/limits.h"

enum { NETBIOS_MAX = 15, NETSH_TIMEOUT_MS = 10000 };

#define PAGE "kubernetes.io: Networking on Windows"

const struct limit limits[] = {
    {"hostNetwork", "pods with hostNetwork: true", "use HostProcess containers", PAGE,
     LIMIT_OF_WINDOWS, 0, 0},
    {"localNodePort", "requests from the node itself to a NodePort",
     "ask another node or the cluster IP", PAGE, LIMIT_OF_WINDOWS, 0, 0},
    {"backends", "a Service with more than 1024 backends (64 before the updates of 2022)",
     "split it into several Services; keep Windows updated",
     PAGE ", microsoft/Windows-Containers#93", LIMIT_OF_WINDOWS, 0, 0},
    {"affinityTimeout", "sessionAffinityConfig.clientIP.timeoutSeconds",
     "do without it: Windows ignores it", "kubernetes.io: Service", LIMIT_OF_WINDOWS, 0, 0},
    {"ipv6Only", "pods and Services with IPv6 only", "use dual stack or IPv4",
     "kubernetes.io: IPv4/IPv6 dual-stack", LIMIT_OF_WINDOWS, 0, 0},
    {"icmpOut", "ping from pods to outside the cluster", "test with TCP: curl.exe", PAGE,
     LIMIT_OF_MODE, 0, MODE_LACKS_ICMP_OUT},
    {"ipv6Overlay", "IPv6 between pods", "use the mode l2bridge", PAGE, LIMIT_OF_MODE, 0,
     MODE_LACKS_IPV6},
    {"dualStack", "IPv6 beside IPv4", "use Windows Server 2022 or newer", PAGE, LIMIT_OF_HNS,
     HNS_DUAL_STACK, 0},
    {"sessionAffinity", "Services with sessionAffinity: ClientIP",
     "use Windows Server 2022 or newer", PAGE, LIMIT_OF_HNS, HNS_SESSION_AFFINITY, 0},
    {"dsr", "direct server return", "install the newest cumulative update", PAGE, LIMIT_OF_HNS,
     HNS_DSR, 0},
    {"vxlanPort", "a VXLAN port other than 4789", "use 4789, or Windows Server 2022 or newer",
     "microsoft/hcsshim: hcn/hcnglobals.go", LIMIT_OF_HNS, HNS_VXLAN_PORT, 0},
    {"localTrafficPolicy", "Services with internal- or externalTrafficPolicy: Local",
     "use DSR: --dsr auto", PAGE, LIMIT_OF_NO_DSR, 0, 0},
    {"clientIP", "the client's address in packets from outside",
     "use DSR and externalTrafficPolicy: Local", PAGE, LIMIT_OF_NO_DSR, 0, 0},
    {"preserveDestination", "the annotation preserve-destination of Services",
     "use DSR: --dsr auto", PAGE, LIMIT_OF_NO_DSR, 0, 0},
    {"longHostName", "a host name of more than 15 characters",
     "rename the server: powershell Rename-Computer -NewName NAME -Restart",
     "kubernetes/kubernetes#106640", LIMIT_OF_HOSTNAME, 0, 0},
    {"dynamicPorts", "many Services without DSR: each of their ports takes 64 dynamic TCP ports",
     "netsh int ipv4 set dynamicportrange tcp start=34000 num=31536",
     "Azure/AKS#1375, kubernetes-sigs/image-builder", LIMIT_OF_PORTS, 0, 0},
    {0},
};

static enum limit_state holds_if(bool known, bool holds) {
    return !known ? LIMIT_UNKNOWN : holds ? LIMIT_HOLDS : LIMIT_ENDED;
}

enum limit_state limit_judge(const struct limit *limit, const struct limit_facts *facts) {
    bool hns = facts->hns.major != 0, dsr = !facts->no_dsr && hns_has(facts->hns, HNS_DSR);
    unsigned lacks = facts->mode ? facts->mode->lacks : 0;

    /* A mode that sets ipv4_only has no IPv6 for a reason of its own. */
    if (facts->mode && facts->mode->ipv4_only)
        lacks |= MODE_LACKS_IPV6;
    switch (limit->cause) {
    case LIMIT_OF_HNS:
        return holds_if(hns, !hns_has(facts->hns, limit->feature));
    case LIMIT_OF_NO_DSR:
        return holds_if(hns || facts->no_dsr, !dsr);
    case LIMIT_OF_MODE:
        return holds_if(facts->mode != NULL, lacks & limit->mode_bit);
    case LIMIT_OF_HOSTNAME:
        return holds_if(facts->host_name && *facts->host_name,
                        facts->host_name && strlen(facts->host_name) > NETBIOS_MAX);
    case LIMIT_OF_PORTS:
        return holds_if(dsr || facts->dynamic_ports,
                        !dsr ||
                            (facts->dynamic_ports && facts->dynamic_ports < LIMIT_DYNAMIC_PORTS));
    case LIMIT_OF_WINDOWS:
        break;
    }
    return LIMIT_HOLDS;
}

/* Says why the limit holds here, or what would end it. */
static char *reason(const struct limit *limit, const struct limit_facts *facts) {
    switch (limit->cause) {
    case LIMIT_OF_HNS:
        return xasprintf("needs HNS %s", hns_features[limit->feature].since);
    case LIMIT_OF_NO_DSR:
        return xstrdup(facts->no_dsr ? "DSR is switched off" : "needs DSR");
    case LIMIT_OF_MODE:
        return facts->mode ? xasprintf("network mode %s", facts->mode->name)
                           : xstrdup("depends on the network mode");
    case LIMIT_OF_HOSTNAME:
        return xasprintf("NetBIOS cuts the name at %d characters", NETBIOS_MAX);
    case LIMIT_OF_PORTS:
        return facts->dynamic_ports ? xasprintf("%u dynamic TCP ports", facts->dynamic_ports)
                                    : xstrdup("needs DSR");
    case LIMIT_OF_WINDOWS:
        break;
    }
    return xstrdup("not supported on Windows");
}

json_t *limits_json(const struct limit_facts *facts) {
    json_t *list = json_array();

    for (const struct limit *limit = limits; limit->id; limit++) {
        _cleanup_(freep) char *why = reason(limit, facts);
        enum limit_state state = limit_judge(limit, facts);
        json_t *row =
            json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", limit->id, "title", limit->what,
                      "reason", why, "instead", limit->instead, "source", limit->source);

        if (state != LIMIT_UNKNOWN)
            json_object_set_new(row, "available", json_boolean(state == LIMIT_ENDED));
        json_array_append_new(list, row);
    }
    for (const struct network_limit *own = facts->mode ? facts->mode->limits : NULL;
         own && own->code; own++) {
        _cleanup_(freep) char *why = xasprintf("network mode %s", facts->mode->name);

        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:b, s:s, s:s, s:s}", "name", own->code,
                                        "title", own->text, "available", 0, "reason", why,
                                        "instead", "use another network mode", "source", PAGE));
    }
    return list;
}

char *limits_that_hold(const struct limit_facts *facts) {
    struct text names = {0};

    for (const struct limit *limit = limits; limit->id; limit++)
        if (limit_judge(limit, facts) == LIMIT_HOLDS)
            text_addf(&names, "%s%s", names.len ? ", " : "", limit->id);
    return text_take(&names);
}

/* Runs netsh to show a setting of the TCP ports of IPv4. */
static int show(struct host *host, const char *what, int *ret_code, char **ret, struct error *err) {
    const char *const argv[] = {
        "C:\\Windows\\System32\\netsh.exe", "int", "ipv4", "show", what, "tcp", NULL};
    struct host_process process = {.argv = argv, .timeout_ms = NETSH_TIMEOUT_MS};

    return host_run(host, &process, ret_code, ret, err);
}

int limit_dynamic_ports(struct host *host, unsigned *ret, struct error *err) {
    _cleanup_(freep) char *output = NULL;
    bool found = false;
    int code;

    if (show(host, "dynamicport", &code, &output, err) < 0)
        return -1;
    /* Takes the last number of netsh's output in any language: "Number of Ports : 16384". */
    for (const char *p = code == 0 ? output : ""; *p;) {
        size_t digits = strspn(p, "0123456789");

        if (digits > 0 && digits < 7) {
            *ret = (unsigned)strtoul(p, NULL, 10);
            found = true;
        }
        p += digits ? digits : 1;
    }
    if (!found)
        return error_set(err, ERROR_MALFORMED, "netsh does not report the number of dynamic ports");
    return 0;
}

int limit_excluded_ports(struct host *host, unsigned first, unsigned *ret, struct error *err) {
    _cleanup_(text_list_free) struct text_list lines = {0};
    _cleanup_(freep) char *output = NULL;
    unsigned total = 0;
    int code;

    if (show(host, "excludedportrange", &code, &output, err) < 0)
        return -1;
    text_list_split(&lines, output ? output : "", '\n');
    for (size_t i = 0; code == 0 && i < lines.count; i++) {
        char *end;
        unsigned long from = strtoul(lines.items[i], &end, 10), to = strtoul(end, &end, 10);

        if (from >= first && to >= from && to <= 65535)
            total += (unsigned)(to - from) + 1;
    }
    *ret = total;
    return 0;
}
