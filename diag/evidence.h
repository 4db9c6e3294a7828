/* Everything that can be read on the node without changing it, as one JSON document, from which
 * causes are judged now or later (diag --replay). */
#pragma once

#include "base/cidr.h"
#include "base/json.h"
#include "diag/ask/mailbox.h"
#include "diag/drift/drift.h"
#include "host/host.h"

/* What the caller knows. Text and JSON are borrowed; NULL means unknown. */
struct diag_evidence_options {
    const json_t *node;  /* The Node object of this node. */
    const json_t *nodes; /* A List of all Nodes. */
    /* From drift_ask(); it is compared with what HNS has. */
    const struct drift_cluster *cluster;
    const struct text_list *pod_cidrs; /* The prefixes of all nodes' pods. */
    const struct text_list *probes;    /* The addresses of the probe pods. */
    const char *network_name;          /* The name of the expected HNS network. */
    const char *network_mode;          /* The mode of the network: "overlay", "l2bridge", ... */
    /* "print" or "none" when the network between the nodes has the routes to other nodes' pods. */
    const char *routes;
    const char *pod_cidr; /* The pod prefix of this node. */
    /* Prefixes that must not be translated (of the cluster and of its Services), ended by
     * NULL. */
    const char *const *excludes;
    const char *const *services; /* Names of services whose states are read, ended by NULL. */
    const char *dns_ip;          /* The cluster IP of kube-dns. */
    /* For a dual-stack node; "" means unknown, too. */
    const char *pod_cidr6, *node_ip6, *dns_ip6;
    const char *dns_domain;
    const char *kubernetes_ip;
    const char *external_ip; /* An IP address without a port. */
    const char *namespace_;  /* The namespace of the probe pods. */
};
/* Reads HNS (networks, endpoints, load balancers), adapters, routes, services and the CNI
 * configuration. What cannot be read is named under "missing" and is no failure. Ends after
 * DIAG_EVIDENCE_MS and one second of the last call, even if HNS hangs. Returns a new reference.
 * Keys:
 *   host{name,build,revision,knownFaults[]}, limits[] (netsetup/limits.h), dynamicPorts,
 *     excludedPorts, expected{...the options}
 *   networks[], endpoints[], loadBalancers[], as HCN answers them. When there are many, at most
 *     1,000, and those that no cause looks into have only ID, Name, Flags, the first address,
 *     frontends, ports and members.
 *   adapters[{alias,index,up,mtu,forwarding,forwarding6,addresses,gateways,dnsServers}]
 *   routes[{destination,nextHop,interface}]
 *   neighbors[{address,mac,fixed}], only those that are fixed or do not answer
 *   services{name: "running"}, cni{file,conf}, node, nodes, hnsSilent (true when HNS gave no answer
 *     in time)
 *   pods{a:{name,ip?,hostName?,echo?,noAddress?,waiting?,failures?},b:{...}}
 *   extra{probe id: {outcome,succeeded,attempts,medianUs?}}
 *   kubeProxy{...}: from diag_evidence_proxy(), if it runs and HNS has no load balancer
 *   kubernetes{...}: from drift_judge(), if the cluster was asked
 *   dnsService: false when no Service has the DNS address; dnsSpec{...}: from drift_service_spec();
 *     dnsEndpoints, kubernetesEndpoints: the numbers of ready endpoints of the two Services
 *   changed[{kind,target,difference,missing,command}]: what was changed since winjoin wrote it;
 *     added by the caller when a flow fails
 *   missing["..."] */
enum { DIAG_EVIDENCE_MS = 3000 };
json_t *diag_evidence_read(struct host *host, const struct diag_evidence_options *options);
/* Parts of diag_evidence_read() that read HNS. The first adds networks[], and returns false when
 * not all of them could be read. The second adds networks[], endpoints[], loadBalancers[],
 * kubernetes{} and the facts about the DNS Service. */
bool diag_evidence_add_networks(struct host *host, json_t *evidence);
void diag_evidence_add_hns(struct host *host, const struct diag_evidence_options *options,
                           json_t *evidence);
/* Adds a line to "missing": what could not be read, and why. */
void diag_evidence_missing(json_t *evidence, const char *what, const struct error *err);
/* Finds the HNS network that pods are put into and its mode ("overlay", "l2bridge"), from the CNI
 * configuration that the container runtime uses: the options of the join may not be known any more.
 * Leaves both results unchanged when there is no configuration, or its plugin is not known;
 * otherwise the caller frees them. */
void diag_network_of_cni(struct host *host, char **ret_name, char **ret_mode);
/* Returns the load balancer with that frontend address, protocol (6 or 17) and port. Borrowed; NULL
 * when HNS has no such load balancer. */
json_t *diag_evidence_balancer(const json_t *evidence, const char *vip, int protocol, int port);
/* Returns the port of the pods behind that frontend; 0 when unknown. */
unsigned diag_evidence_backend_port(const json_t *evidence, const char *vip, int protocol,
                                    int port);
/* Finds the addresses of the pods behind a cluster IP, protocol (6 or 17) and port, as the load
 * balancers of HNS have them: pods on other nodes first, then those of this node, at most `max`.
 * Returns their number; the texts are borrowed. */
size_t diag_evidence_backends(const json_t *evidence, const char *vip, int protocol, int port,
                              const char **ret, size_t max);
/* Returns the first address that diag_evidence_backends() finds; NULL when it finds no address. */
const char *diag_evidence_backend(const json_t *evidence, const char *vip, int protocol, int port);
/* Returns the Node whose pod prefix holds that address. Borrowed; NULL for another address. */
json_t *diag_evidence_node_of(const json_t *evidence, const char *ip);
/* Returns the first address of that Node's pod prefix, which is the node's own address among its
 * pods. Returns false when no Node is known. */
bool diag_evidence_gateway(const json_t *evidence, const char *ip, char ret[IP_TEXT_MAX]);
/* Adds the result of an extra question (diag_extras[]) under "extra". */
void diag_evidence_add_extra(json_t *evidence, const struct probe_result *result);
