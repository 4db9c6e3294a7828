/* A strict model of the Windows Host Network Service: documents in, HRESULTs and documents out.
 * Portable C on jansson; no files, no sockets, no threads, no clock (time is passed in).
 *
 * What the model believes (each has a case in tests/hns/test_hns_*.c):
 * - Names of members are case-insensitive; a member that the schema lacks, a wrong type, a
 *   member given twice or text that is not JSON is 0x803b001b; a value that cannot be (a
 *   prefix with host bits, a GUID that is none) is 0x80070057 unless HCN has a code of its
 *   own for it. The ErrorRecord's Error names the member by its path. Empty members (Health,
 *   Dns, MacPool) are taken. In the settings of a policy members that the schema lacks are
 *   passed over: OpenShift's nodes send some. An ACL's addresses may be Ids of sets where there
 *   is SetPolicy, as azure-npm's are.
 * - SchemaVersion is required, Major 2; a namespace may also say 0.0, as containerd does; a
 *   network or endpoint document without one that has version 1's members is a version 1
 *   document.
 * - What an HNS version lacks it refuses: an unknown policy type with 0x803b000e, everything
 *   else with 0x80070032 (dual stack, DSR) or 0x803b0015 (HcnModifyLoadBalancer).
 *   DistributionType is taken by every version: kube-proxy sends it to HNS 9.5 as well.
 * - The first L2Bridge, L2Tunnel, Overlay or Transparent network on an adapter makes the
 *   external switch: vNIC "vEthernet (<alias>)" takes over the adapter's MAC; for outage_ms
 *   there is no uplink and no address; then DHCP addresses come back, static ones do not
 *   (unless keep_static). Deleting the last such network removes the vNIC; the adapter has
 *   its own old settings back after another outage. One switch has one mode: Overlay,
 *   Transparent, or L2Bridge/L2Tunnel; 0x803b0018 otherwise.
 * - ManagementIP (v1) and the policy ProviderAddress (Overlay) are there while the host has
 *   an IPv4 address on the switch, and only then.
 * - hns_model_restart(): networks with Flags 8 end, and their endpoints; so do the
 * RemoteSubnetRoute policies of the others, all load balancers (Windows-Containers#278), SDN routes
 * and handles. hns_model_reboot() also drops NAT networks, namespaces and what endpoints were
 * attached to.
 * - HNSCall answers a failure twice, as Server 2019 and later do: its HRESULT is the code,
 *   and the response still is the envelope with Success false (flannel#1112,
 *   sig-windows-tools#106). softV1: in the envelope alone, as Windows of 2017 did; Go
 *   programs under Wine need it where they look at the error's words, which Wine's message
 *   table lacks.
 * - A network's name is its own: 0x803b0010 (sig-windows-tools#106, hcsshim#850). A network
 *   asked for on "vEthernet (...)" is 0x80070057 (antrea#2213). Endpoint names repeat; their
 *   addresses do not, within a network (0x80071392): a remote endpoint is compared with
 *   remote ones, a local one with all. Gateway, network and broadcast addresses are
 *   0x803b002f, addresses in no subnet 0x803b001e (remote endpoints may lie outside).
 * - A load balancer is its frontends: (VIP, protocol, external port, IPv6 flag) twice is
 *   0x803b0013; an endpoint that is not there is 0x80070490; more than 1024 endpoints are
 *   0x80070057 (64 before HNS 12).
 * - Update replaces all policies of the types that it brings. Policies are removed by their exact
 *   stored settings (0x803b0008 otherwise). HostRoute and VxlanPort may be added again; a second
 *   RemoteSubnetRoute for one DestinationPrefix is 0x803b0012.
 *
 * Held against: the recordings of what upstream programs sent (tests/suites/hns-recordings.sh), and
 * Microsoft's own integration tests, meant for a real HNS (tests/hns/upstream.py lists what the
 * model lacks at which version).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hns_model;

/* What the machine is like before the first call. Copied. */
struct hns_model_adapter {
    const char *alias;            /* "Ethernet" */
    const char *mac;              /* "00-15-5D-01-02-03" */
    const char *const *addresses; /* "10.200.0.11/24", ...; NULL-terminated, or NULL */
    bool dhcp;                    /* addresses come back by themselves */
};

struct hns_model_options {
    unsigned major, minor; /* HNS version; 0.0 = 13.2 */
    const struct hns_model_adapter *adapters;
    size_t n_adapters;  /* 0 = one DHCP adapter "Ethernet", 10.200.0.11/24 */
    unsigned outage_ms; /* how long an adapter is away when its switch comes or goes */
    bool keep_static;   /* static addresses survive the switch (Windows loses them at times) */
    uint64_t seed;      /* of the GUIDs and handles; 0 is a fixed one */
};

enum { HNS_MODEL_OUTPUTS = 3 };

/* What one export answers: outputs in the order of its signature (handles as hex, GUIDs, results,
 * properties, the ErrorRecord last), NULL where the export leaves NULL. */
struct hns_answer {
    unsigned hresult;
    size_t n;
    char *out[HNS_MODEL_OUTPUTS];
    unsigned delay_ms; /* an injected fault wants the caller to wait so long for this answer */
    bool changed;      /* the state is another one than before the call */
};

struct hns_model *hns_model_new(const struct hns_model_options *options); /* NULL = defaults */
void hns_model_free(struct hns_model *model);

/* One call of an export of computenetwork.dll or vmcompute.dll by its name. args: its inputs in
 * order; handles as hex text, GUIDs as text, NULL allowed. Fills *ret (hns_answer_free it); returns
 * the HRESULT. A name that the model does not know is 0x80004001. */
unsigned hns_model_call(struct hns_model *model, const char *function, const char *const args[],
                        size_t n_args, struct hns_answer *ret);
void hns_answer_free(struct hns_answer *answer);
/* The same in the shape of host_memory_set_hns(): context is the model, *ret_result the first
 * output that is not the ErrorRecord. The caller frees both. */
uint32_t hns_model_host_call(void *context, const char *function, const char *const *args,
                             size_t n_args, char **ret_result, char **ret_error_record);

/* What an open handle belongs to, "Network <id>"; NULL for no handle of an object. The caller
 * frees. */
char *hns_model_handle(const struct hns_model *model, const char *handle);

/* The control port's operations on the model; op is one object {"op": ...}:
 *   reset | set {version:[M,m], adapters:[...], outageMs, keepStatic, softV1, anySystem,
 *   systems:[...],
 *   initial: true = a reset comes back to it} |
 *   create {kind, doc, net?} | delete {kind, id} | dump | restart | reboot |
 *   swap {kind, id, doc?}: another document in an object's place, unread, or none; answers {doc:
 * the one before} | stick {kind, id}: a caller cannot delete it (0x803b0015) | orphan {id, hr?}:
 * the load balancer goes, its frontends stay taken (0x803b0013, or hr) until a reboot | adapter
 * {alias, addresses?, staticLost?, away?} | rule {fn, contains?, hr?, count?, delay?, soft?,
 * error?} | norules Returns a new reference: the answer, {"error": text} when refused, NULL for an
 * unknown op. */
json_t *hns_model_control(struct hns_model *model, const json_t *op, bool *ret_changed);

/* The clock moves to now_ms; adapters whose outage is over come back. True when something changed.
 */
bool hns_model_tick(struct hns_model *model, uint64_t now_ms);
/* Milliseconds until hns_model_tick() has something to do; -1 = nothing waits. */
int hns_model_wait_ms(const struct hns_model *model, uint64_t now_ms);
/* The hns service stops and starts. */
void hns_model_restart(struct hns_model *model);
void hns_model_reboot(struct hns_model *model);

/* Everything, for the data plane and for comparing before and after. New reference:
 * {"networks":[...],"endpoints":[...],"namespaces":[...],"loadBalancers":[...],"routes":[...],
 *  "adapters":[{"alias","mac","addresses","dhcp","vnic","away","staticLost"}],
 *  "version":{"Major","Minor"}}
 * The documents are the v2 ones (v1 objects too), with two members more: a network's "Adapter"
 * (alias, absent on internal switches), an endpoint's "Attached": {"State":2|3|4,
 * "SystemType":"Host"|"Container","Ids":[container ids]} once v1 attach or a compute system did it.
 */
json_t *hns_model_state(const struct hns_model *model);
