/* Checks the machine's network for preflight: HNS, the adapter, ports, the proxy. */
#include "host/http.h"
#include "join/preflight/preflight_checks.h"
#include "join/programs/programs.h"
#include "netsetup/hns/hns_features.h"
#include "netsetup/limits.h"
#include "netsetup/modes/mode.h"
#include "services/service_table.h"

#define TCPIP6_KEY "SYSTEM\\CurrentControlSet\\Services\\Tcpip6\\Parameters"
#define IPV6_OFF 0xff
#define INTERNET_SETTINGS "SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Internet Settings"
enum { MTU_MIN = 1500, SERVER_2019 = 17763, SERVER_2022 = 20348 };

/* Checks that a service is not disabled (its Start is not 4). Check ContainersFeature covers
 * whether the service exists. */
enum check_verdict check_service_enabled(const struct machine *machine,
                                         struct check_finding *finding) {
    _cleanup_(freep) char *key =
        xasprintf("SYSTEM\\CurrentControlSet\\Services\\%s", finding->check->subject);
    _cleanup_(freep) char *start = NULL;
    int found = check_registry(machine, finding, key, "Start", &start);

    if (found < 0)
        return CHECK_UNKNOWN;
    if (!found)
        return check_say(finding, CHECK_NOT_RUN,
                         "the service \"%s\" does not exist (see ContainersFeature)",
                         finding->check->subject);
    return text_equal(start, "4") ? check_say(finding, CHECK_BAD, "the service \"%s\" is disabled",
                                              finding->check->subject)
                                  : CHECK_FINE;
}

enum check_verdict check_hns(const struct machine *machine, struct check_finding *finding) {
    return hns_version_get(machine->host, &machine->found->hns, &finding->why) == 0
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD, "the Host Network Service does not respond: %s",
                           finding->why.message);
}

enum check_verdict check_hns_version(const struct machine *machine, struct check_finding *finding) {
    if (!machine->found->hns.major)
        return check_say(finding, CHECK_NOT_RUN, "HNS does not respond");
    /* No update adds the API to an older Windows. */
    if (machine->found->facts.build < SERVER_2019)
        check_hint(finding, "use Windows Server 2019, 2022 or 2025");
    return hns_has(machine->found->hns, HNS_V2_API)
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD,
                           "HNS %u.%u cannot make Kubernetes networks (9.2 or newer)",
                           machine->found->hns.major, machine->found->hns.minor);
}

/* DisabledComponents is a bit mask; 0xff removes IPv6 from every interface. */
enum check_verdict check_ipv6(const struct machine *machine, struct check_finding *finding) {
    _cleanup_(freep) char *value = NULL;
    long long mask = 0;
    int found = check_registry(machine, finding, TCPIP6_KEY, "DisabledComponents", &value);

    if (found < 0)
        return CHECK_UNKNOWN;
    if (!found)
        return CHECK_FINE;
    if (text_to_number(value, 0, 0xffffffffLL, &mask) < 0)
        return check_say(finding, CHECK_UNKNOWN, "DisabledComponents is \"%s\"", value);
    return (mask & IPV6_OFF) != IPV6_OFF
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD,
                           "IPv6 is disabled (DisabledComponents=%s); HNS needs it", value);
}

/* Returns true when one of the subnets ("10.0.0.21/24") contains the address. */
static bool subnet_has(const struct text_list *subnets, const struct ip *address) {
    struct cidr subnet;

    for (size_t i = 0; i < subnets->count; i++)
        if (cidr_parse(subnets->items[i], &subnet, NULL) == 0 && cidr_contains(&subnet, address))
            return true;
    return false;
}

/* Warns when the adapter was chosen by its default route, but the API server is in the subnet of
 * another adapter, where the other nodes usually are, too. */
static enum check_verdict check_side(const struct machine *machine, struct check_finding *finding) {
    const struct join_options *o = &machine->found->options;
    const char *endpoint = o->endpoint ? o->endpoint : "";
    _cleanup_(freep) char *host = xstrndup(endpoint, strcspn(endpoint, ":"));
    _cleanup_(host_adapters_free) struct host_adapters adapters = {0};
    struct ip server;

    if (o->adapter || o->node_ip || ip_parse(host, &server, NULL) < 0 ||
        subnet_has(&machine->found->nic.addresses, &server))
        return CHECK_FINE;
    if (host_adapters(machine->host, &adapters, &finding->why) < 0)
        return CHECK_UNKNOWN;
    for (size_t i = 0; i < adapters.count; i++) {
        const struct host_adapter *other = &adapters.items[i];

        if (!other->up || !subnet_has(&other->addresses, &server))
            continue;
        check_hint(finding, "choose it: --adapter \"%s\"", other->alias);
        return check_say(finding, CHECK_WARN,
                         "the API server %s is on the network of '%s', and the node would be on "
                         "'%s', which has the default route",
                         host, other->alias, machine->found->nic.alias);
    }
    return CHECK_FINE;
}

enum check_verdict check_adapter(const struct machine *machine, struct check_finding *finding) {
    const struct join_options *o = &machine->found->options;
    const struct network_mode *mode = network_mode_by_name(o->network_mode);
    struct nic_snapshot *nic = &machine->found->nic;

    if (journal_find(machine->journal, JOURNAL_SWITCH, NULL) || nic->alias)
        return CHECK_FINE; /* An earlier run has chosen the adapter. */
    if (nic_choose(machine->host, o->adapter, o->node_ip, nic, &finding->why) < 0)
        return CHECK_FAILED_HERE;
    /* In an internal mode no adapter gets a virtual switch, so any adapter is accepted. */
    if ((mode && mode->internal) || nic->has_switch)
        return check_side(machine, finding);
    if (nic->is_tunnel) {
        check_hint(finding, "choose the server's own network adapter: --adapter, or --node-ip with "
                            "its address");
        return check_say(finding, CHECK_BAD,
                         "'%s' is a tunnel or VPN: no virtual switch can be made on it",
                         nic->alias);
    }
    if (!nic->is_team)
        return check_side(machine, finding);
    check_hint(finding,
               "choose another one with --adapter, or take the team apart (Get-NetLbfoTeam "
               "| Remove-NetLbfoTeam); a team for containers is a switch: New-VMSwitch "
               "-EnableEmbeddedTeaming");
    return machine->found->facts.build >= SERVER_2022
               ? check_say(finding, CHECK_BAD,
                           "'%s' is a team of network adapters (LBFO): Windows Server 2022 and "
                           "newer make no virtual switch on one",
                           nic->alias)
               : check_say(finding, CHECK_WARN,
                           "'%s' is a team of network adapters (LBFO): virtual switches on one "
                           "are deprecated, and end with Windows Server 2022",
                           nic->alias);
}

enum check_verdict check_switch(const struct machine *machine, struct check_finding *finding) {
    if (journal_find(machine->journal, JOURNAL_SWITCH, NULL))
        return CHECK_FINE;
    if (!machine->found->nic.alias)
        return check_say(finding, CHECK_NOT_RUN, "no adapter was chosen");
    return machine->found->nic.has_switch
               ? check_say(finding, CHECK_BAD,
                           "a virtual switch that winjoin did not make is on \"%s\": it is shared, "
                           "and reset keeps it",
                           machine->found->nic.alias)
               : CHECK_FINE;
}

/* Refuses a mode that isolates the node, unless the user ignores this check. A mode from the
 * cluster's defaults is checked with the plan. */
enum check_verdict check_network_mode(const struct machine *machine,
                                      struct check_finding *finding) {
    const struct join_options *o = &machine->found->options;
    const struct network_mode *mode = o->network_mode
                                          ? network_mode_by_name(o->network_mode)
                                          : network_mode_by_cni(o->network_plugin, NULL);

    return mode && mode->isolated ? check_say(finding, CHECK_BAD, "%s", mode->isolated)
                                  : CHECK_FINE;
}

/* Only lists the networks of other programs. Check HNSClash, which knows the plan, says whether one
 * of them conflicts. */
enum check_verdict check_networks(const struct machine *machine, struct check_finding *finding) {
    _cleanup_json_ json_t *list = NULL;
    _cleanup_(text_free) struct text names = {0};

    if (!machine->found->hns.major)
        return check_say(finding, CHECK_NOT_RUN, "HNS does not respond");
    if (hcn_list(machine->host, HCN_NETWORK, NULL, NULL, &list, &finding->why) < 0)
        return CHECK_UNKNOWN;
    json_each(list, i, item) {
        struct hcn_network network = {0};

        if (hcn_network_parse(item, &network, NULL) == 0 && !hcn_network_is_ours(&network) &&
            !journal_find(machine->journal, JOURNAL_NETWORK, network.name))
            text_addf(&names, "%s\"%s\" (%s)", names.len ? ", " : "", network.name, network.type);
    }
    return names.len ? check_say(finding, CHECK_BAD, "HNS has networks of other programs: %s",
                                 text_str(&names))
                     : CHECK_FINE;
}

/* Checks the MTU. VXLAN needs 50 bytes of each packet, and other nodes of flannel usually send
 * packets of 1450 bytes. */
enum check_verdict check_mtu(const struct machine *machine, struct check_finding *finding) {
    const struct network_mode *mode = network_mode_by_name(machine->found->options.network_mode);

    if (mode && !mode->vxlan)
        return check_say(finding, CHECK_NOT_RUN, "%s does not encapsulate pod packets", mode->name);
    if (!machine->found->nic.alias)
        return check_say(finding, CHECK_NOT_RUN, "no adapter was chosen");
    if (!machine->found->nic.mtu)
        return check_say(finding, CHECK_UNKNOWN, "Windows does not report the MTU of \"%s\"",
                         machine->found->nic.alias);
    return machine->found->nic.mtu >= MTU_MIN
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD,
                           "the MTU of \"%s\" is %u: pod packets larger than %u bytes are lost",
                           machine->found->nic.alias, machine->found->nic.mtu,
                           machine->found->nic.mtu - 50);
}

enum check_verdict check_dns(const struct machine *machine, struct check_finding *finding) {
    if (!machine->found->nic.alias)
        return check_say(finding, CHECK_NOT_RUN, "no adapter was chosen");
    return machine->found->nic.dns_servers.count
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD,
                           "\"%s\" has no DNS server: image registries cannot be found",
                           machine->found->nic.alias);
}

/* Warns when containerd would not get the session's proxy. A join gives that proxy to the services,
 * with two exceptions: a proxy with a password, which every user of the machine could then read,
 * and a containerd that winjoin did not install. */
static enum check_verdict check_services_proxy(const struct machine *machine, const char *proxy,
                                               struct check_finding *finding) {
    static const char key[] = "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment";
    bool secret = proxy && *proxy && service_proxy_is_secret(proxy);
    bool lacks = secret || (proxy && *proxy && machine->found->containerd.foreign);
    _cleanup_(freep) char *shown = lacks ? http_shown_proxy(proxy) : NULL;
    _cleanup_(freep) char *value = NULL;
    int found = shown ? check_registry(machine, finding, key, "HTTPS_PROXY", &value) : 1;

    if (found)
        return found < 0 ? CHECK_UNKNOWN : CHECK_FINE;
    check_hint(finding,
               "setx /M HTTPS_PROXY %s; setx /M NO_PROXY ... (API server, pods, Services, nodes); "
               "then restart Windows",
               shown);
    return check_say(finding, CHECK_WARN, "containerd pulls images without the proxy %s: %s", shown,
                     secret ? "it has a password, which a join does not write where every user "
                              "of this machine may read it"
                            : "HTTPS_PROXY is set for this session alone, and the containerd that "
                              "exists has the machine's variables");
}

/* Checks the proxy as kubeadm's HTTPProxyCheck does with the endpoint's host in token discovery. */
enum check_verdict check_proxy(const struct machine *machine, struct check_finding *finding) {
    _cleanup_(freep) char *https =
        service_proxy_variable(machine->host, "HTTPS_PROXY", "https_proxy");
    _cleanup_(freep) char *no = service_proxy_variable(machine->host, "NO_PROXY", "no_proxy");
    const char *endpoint = machine->found->options.endpoint;
    _cleanup_(freep) char *url = xasprintf("https://%s", endpoint ? endpoint : "");
    _cleanup_(freep) char *proxy = endpoint ? http_proxy_for(url, https, no) : NULL;
    _cleanup_(freep) char *shown = proxy ? http_shown_proxy(proxy) : NULL;
    _cleanup_(freep) char *script = NULL, *system = NULL, *bypass = NULL;
    bool bracket = endpoint && *endpoint == '[';

    /* Windows' own programs use this proxy script. curl and Go programs do not. */
    if (!proxy && !(https && *https)) {
        int found = check_registry(machine, finding, INTERNET_SETTINGS, "AutoConfigURL", &script);

        if (found < 0)
            return CHECK_UNKNOWN;
        if (found && !http_system_proxy(&system, &bypass)) {
            check_hint(finding,
                       "where the internet is reached by a proxy alone: setx /M HTTPS_PROXY "
                       "http://PROXY:PORT; setx /M NO_PROXY ... (API server, pods, Services, "
                       "nodes); then restart Windows");
            return check_say(finding, CHECK_WARN,
                             "this server finds its proxy by the script %.150s, which neither "
                             "winjoin nor containerd reads",
                             script);
        }
    }
    if (!proxy && (endpoint || (https && *https)))
        return check_services_proxy(machine, https, finding);
    if (!endpoint)
        return check_say(finding, CHECK_NOT_RUN, "no endpoint was given");
    check_hint(finding, "set NO_PROXY=%s%s%.*s", no ? no : "", no && *no ? "," : "",
               (int)strcspn(endpoint + bracket, bracket ? "]" : ":"), endpoint + bracket);
    return check_say(finding, CHECK_BAD,
                     "connection to \"%s\" uses proxy \"%s\"; if that is not intended, adjust the "
                     "proxy settings",
                     url, shown);
}

/* Checks a TCP port of a service. A running service of the same name that winjoin did not make may
 * use the port. Then the check of that service reports it, but with --existing-services adopt this
 * is an error, because that service must be stopped first. */
enum check_verdict check_tcp_port(const struct machine *machine, struct check_finding *finding) {
    const char *name = finding->check->subject;
    _cleanup_(host_service_free) struct host_service service = {0};
    bool used;

    if (host_port_in_use(machine->host, false, finding->check->number, &used, &finding->why) < 0 ||
        (used && host_service_query(machine->host, name, &service, &finding->why) < 0))
        return CHECK_UNKNOWN;
    if (!used || (service.state != HOST_SERVICE_ABSENT && service_is_ours(&service)))
        return CHECK_FINE;
    if (service.state != HOST_SERVICE_RUNNING)
        return check_say(finding, CHECK_BAD, "port %u is in use", finding->check->number);
    if (!text_equal(machine->found->options.existing_services, "adopt"))
        return check_say(finding, CHECK_NOT_RUN, "the service \"%s\" that exists has port %u", name,
                         finding->check->number);
    check_hint(finding, "powershell \"Stop-Service %s -Force\"", name);
    return check_say(finding, CHECK_BAD,
                     "port %u is in use: the service \"%s\" that exists runs already",
                     finding->check->number, name);
}

enum check_verdict check_vxlan_port(const struct machine *machine, struct check_finding *finding) {
    const struct network_mode *mode = network_mode_by_name(machine->found->options.network_mode);
    long long given = machine->found->options.vxlan_port;
    unsigned port = given > 0 && given <= 65535 ? (unsigned)given : finding->check->number;
    bool used;

    if (mode && !mode->vxlan)
        return check_say(finding, CHECK_NOT_RUN, "%s does not use VXLAN", mode->name);
    if (host_port_in_use(machine->host, true, port, &used, &finding->why) < 0)
        return CHECK_UNKNOWN;
    /* winjoin's own overlay network may use the port. */
    if (!used || journal_find(machine->journal, JOURNAL_SWITCH, NULL))
        return CHECK_FINE;
    check_hint(finding,
               "powershell \"Get-Process -Id (Get-NetUDPEndpoint -LocalPort %u).OwningProcess\"",
               port);
    return check_say(finding, CHECK_BAD,
                     "UDP port %u is in use: VXLAN packets would go to another program", port);
}

/* Checks the number of dynamic ports. Without DSR each Service port of a load balancer takes a
 * block of 64 ports. */
enum check_verdict check_dynamic_ports(const struct machine *machine,
                                       struct check_finding *finding) {
    unsigned ports = 0;

    if (limit_dynamic_ports(machine->host, &ports, &finding->why) < 0)
        return CHECK_UNKNOWN;
    return ports >= LIMIT_DYNAMIC_PORTS
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD,
                           "%u dynamic TCP ports: without DSR each Service port takes 64 of them",
                           ports);
}

/* Warns of limits that another build of Windows, or DSR, would not have. The report has others. */
enum check_verdict check_service_limits(const struct machine *machine,
                                        struct check_finding *finding) {
    struct limit_facts facts = {.hns = machine->found->hns,
                                .no_dsr = text_equal(machine->found->options.dsr, "off")};
    _cleanup_(text_free) struct text list = {0};

    if (!facts.hns.major && !facts.no_dsr)
        return check_say(finding, CHECK_NOT_RUN, "the Host Network Service does not respond");
    for (const struct limit *limit = limits; limit->id; limit++)
        if ((limit->cause == LIMIT_OF_HNS || limit->cause == LIMIT_OF_NO_DSR) &&
            limit_judge(limit, &facts) == LIMIT_HOLDS)
            text_addf(&list, "%s%s", list.len ? "; " : "", limit->what);
    return list.len ? check_say(finding, CHECK_BAD, "not supported here: %s", text_str(&list))
                    : CHECK_FINE;
}
