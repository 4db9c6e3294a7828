/* Causes that lie in Windows itself: its limits that are reached, and known faults of its build. */
#include "diag/causes/rows.h"
#include "netsetup/limits.h"

enum { BALANCER_DSR = 1, BACKENDS_UNPATCHED = 64, BACKENDS_MAX = 1024, BLOCKS_MIN = 10 };

static size_t balancers_without_dsr(const struct scene *scene) {
    size_t count = 0;

    json_each(json_object_get(scene->evidence, "loadBalancers"), i, balancer)
        count += !(json_number_at(balancer, "Flags", 0) & BALANCER_DSR);
    return count;
}

/* networkhealth.ps1 of AgentBaker holds ten blocks for too few; DNS notices first. */
enum level look_port_pool(const struct scene *scene, struct finding *finding) {
    long long ports = json_number_at(scene->evidence, "dynamicPorts", 0);
    long long taken = (long long)balancers_without_dsr(scene) * LIMIT_PORTS_A_BALANCER;

    if (!ports || !taken || taken + BLOCKS_MIN * LIMIT_PORTS_A_BALANCER <= ports)
        return NO;
    finding_note(finding, "%lld load balancers without DSR take %lld of %lld dynamic TCP ports",
                 taken / LIMIT_PORTS_A_BALANCER, taken, ports);
    return CONFIRMED;
}

/* Hyper-V, winnat and others reserve ranges at each start of Windows; HNS finds no block then. */
enum level look_port_excl(const struct scene *scene, struct finding *finding) {
    long long ports = json_number_at(scene->evidence, "dynamicPorts", 0);
    long long excluded = json_number_at(scene->evidence, "excludedPorts", 0);

    if (!ports || excluded + BLOCKS_MIN * LIMIT_PORTS_A_BALANCER <= ports)
        return NO;
    if (!excluded)
        finding->message = xstrdup("the dynamic TCP ports are few");
    finding_note(finding, "%lld of %lld dynamic TCP ports are in excluded ranges", excluded, ports);
    return CONFIRMED;
}

enum level look_svc_backends(const struct scene *scene, struct finding *finding) {
    size_t most = 0;

    json_each(json_object_get(scene->evidence, "loadBalancers"), i, balancer) {
        size_t backends = json_array_size(json_object_get(balancer, "HostComputeEndpoints"));

        if (backends > BACKENDS_UNPATCHED)
            finding_note(finding, "the load balancer of %s has %zu backends",
                         json_text_at(balancer, "FrontendVIPs.0")
                             ? json_text_at(balancer, "FrontendVIPs.0")
                             : "the node",
                         backends);
        most = backends > most ? backends : most;
    }
    return most > BACKENDS_MAX ? CONFIRMED : most > BACKENDS_UNPATCHED ? LIKELY : NO;
}

/* Last of all, and never more than likely: only the build speaks for it. */
enum level look_win_patch(const struct scene *scene, struct finding *finding) {
    json_t *faults = json_at(scene->evidence, "host.knownFaults");
    const char *fix = json_text_at(json_array_get(faults, 0), "fix");

    json_each(faults, i, fault)
        finding_note(finding, "10.0.%lld.%lld, %s: %s (%s)",
                     json_number_at(scene->evidence, "host.build", 0),
                     json_number_at(scene->evidence, "host.revision", 0), json_text_at(fault, "id"),
                     json_text_at(fault, "breaks"), json_text_at(fault, "source"));
    if (fix)
        finding->hint = xstrdup(fix);
    return json_array_size(faults) ? LIKELY : NO;
}
