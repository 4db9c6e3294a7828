/* What can be read on the node without changing anything, as one JSON document from which causes
 * are judged now or later (diag --replay). */
#pragma once

#include "base/cidr.h"
#include "base/json.h"
#include "diag/ask/mailbox.h"
#include "diag/drift/drift.h"
#include "host/host.h"

/* What the caller knows; text and JSON are borrowed, NULL = unknown. */
struct diag_evidence_options {
    const json_t *node;                  /* Node object */
    const json_t *nodes;                 /* all Node objects as a List, for peers */
    const struct drift_cluster *cluster; /* drift_ask(): compared with what HNS has */
    const struct text_list *pod_cidrs;   /* of all nodes' pods */
    const struct text_list *probes;      /* addresses of the probe pods */
    const char *network_name;            /* expected HNS network */
    const char *network_mode;            /* "overlay", "l2bridge", ... */
    const char *routes;   /* "print", "none": the network has those to other nodes' pods */
    const char *pod_cidr; /* of this node */
    const char *const
        *excludes; /* prefixes that must not be translated (cluster, services); NULL-ended */
    const char *const *services;                /* names whose states are read; NULL-ended */
    const char *dns_ip;                         /* cluster IP of kube-dns */
    const char *pod_cidr6, *node_ip6, *dns_ip6; /* of a dual-stack node; "" = unknown, too */
    const char *dns_domain;
    const char *kubernetes_ip;
    const char *external_ip; /* without the port */
    const char *namespace_;  /* of the probe pods */
};
/* Reads HNS (networks, endpoints, load balancers), adapters, routes, services and the CNI
 * configuration. What cannot be read is named under "missing" and does not fail. Keys:
 *   host{build,revision,knownFaults[]}, limits[] (netsetup/limits.h), dynamicPorts, excludedPorts,
 * expected{...the options}, networks[], endpoints[], loadBalancers[] (as HCN answers; where they
 * are many, of those that no cause looks into ID, Name, Flags, the first address, frontends, ports
 * and members alone, and 1,000 at most),
 * adapters[{alias,index,up,mtu,forwarding,forwarding6,addresses,dnsServers}],
 * routes[{destination,nextHop,interface}], neighbors[{address,mac,fixed}] (those that are fixed or
 * do not answer), services{name: "running"}, cni{file,conf}, node, nodes,
 * pods{a:{name,ip,hostName,echo,waiting},b:{...}}, extra{probe id:
 * {outcome,succeeded,attempts,medianUs?}}, kubeProxy{...} (diag_evidence_proxy(), where it runs and
 * HNS has no load balancer), kubernetes{...} (drift_judge(), where the cluster was asked),
 * dnsService (false: no Service has that address), dnsSpec{...} (drift_service_spec()),
 * dnsEndpoints (how many ready ones the DNS Service has, the same),
 * changed[{kind,target,difference, missing,command}] (what is not as winjoin wrote it, where a flow
 * fails; the caller's), missing["..."]. Ends after DIAG_EVIDENCE_MS and one call's second, also
 * where HNS hangs. New reference. */
enum { DIAG_EVIDENCE_MS = 3000 };
json_t *diag_evidence_read(struct host *host, const struct diag_evidence_options *options);
/* Its parts of HNS: networks[]; those with endpoints[], loadBalancers[], kubernetes{} and what is
 * said of the DNS Service. false: not all networks are there. */
bool diag_evidence_add_networks(struct host *host, json_t *evidence);
void diag_evidence_add_hns(struct host *host, const struct diag_evidence_options *options,
                           json_t *evidence);
/* Notes what could not be read, and why. */
void diag_evidence_missing(json_t *evidence, const char *what, const struct error *err);
/* The HNS network that pods are put into and its kind ("overlay", "l2bridge"), from the CNI
 * configuration that the runtime takes: what a join was told may not be known any more. Leaves both
 * untouched when there is none or its plugin is not known; otherwise the caller frees. */
void diag_network_of_cni(struct host *host, char **ret_name, char **ret_mode);
/* The load balancer of that frontend, protocol (6, 17) and port; borrowed, NULL = there is none. */
json_t *diag_evidence_balancer(const json_t *evidence, const char *vip, int protocol, int port);
/* The port of the pods behind that frontend; 0 = not known. */
unsigned diag_evidence_backend_port(const json_t *evidence, const char *vip, int protocol,
                                    int port);
/* The addresses of the pods behind a cluster IP, protocol (6, 17) and port, as HNS' load balancers
 * have them: those on other nodes before those of this node, `max` at most. Borrowed; how many. */
size_t diag_evidence_backends(const json_t *evidence, const char *vip, int protocol, int port,
                              const char **ret, size_t max);
/* The first of them; NULL = none is known. */
const char *diag_evidence_backend(const json_t *evidence, const char *vip, int protocol, int port);
/* The Node object whose pods' prefix holds that address. Borrowed; NULL = none is known. */
json_t *diag_evidence_node_of(const json_t *evidence, const char *ip);
/* The first address of that prefix: the node's own among its pods. false = none is known. */
bool diag_evidence_gateway(const json_t *evidence, const char *ip, char ret[IP_TEXT_MAX]);
/* Adds the result of a probe beside the cells (diag_extras[]) under extra. */
void diag_evidence_add_extra(json_t *evidence, const struct probe_result *result);
