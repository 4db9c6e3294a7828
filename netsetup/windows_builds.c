/* Has the tables of Windows builds: known problems, and registry values that fix them. Revisions
 * are those of Microsoft's update history. */
#include "netsetup/windows_builds.h"

enum { SERVER_2019 = 17763, SERVER_2022 = 20348, SERVER_2025 = 26100 };

#define HNS_STATE "SYSTEM\\CurrentControlSet\\Services\\hns\\State"
#define OVERRIDES "SYSTEM\\CurrentControlSet\\Policies\\Microsoft\\FeatureManagement\\Overrides"
#define IMAGE_BUILDER "kubernetes-sigs/image-builder images/capi/ansible/windows/roles/"

const struct host_fix host_fixes[] = {
    {OVERRIDES, "1114842764", 0, SERVER_2022, 3453, 0,
     "turns off a change of VFP that causes lock contention since April 2025",
     IMAGE_BUILDER "systemprep/tasks/main.yml, kubernetes-sigs/image-builder#1798"},
    {OVERRIDES, "520997518", 1, SERVER_2025, 0, 0, "turns on VFP's fix for lock contention",
     IMAGE_BUILDER "systemprep/tasks/main.yml"},
    {HNS_STATE, "HNSControlFlag", 80, SERVER_2019, 0, 0,
     "turns on HNS' fixes of November 2022 (flags 0x10 and 0x40)",
     IMAGE_BUILDER "systemprep/tasks/main.yml"},
    {"SYSTEM\\CurrentControlSet\\Services\\wcifs", "WcifsSOPCountDisabled", 0, SERVER_2019, 0, 0,
     "turns on a fix of the file system filter of containers",
     IMAGE_BUILDER "systemprep/tasks/main.yml"},
    {HNS_STATE, "EnableCompartmentNamespace", 1, 0, 0, 0,
     "lets containers without a network of their own (HostProcess) use the host's",
     IMAGE_BUILDER "runtimes/tasks/containerd.yml"},
    {HNS_STATE, "FwPerfImprovementChange", 0, SERVER_2022, 2582, 2762,
     "turns off the change of HNS that breaks pods' traffic since KB5040437",
     "microsoft/Windows-Containers#516"},
    {0},
};

const struct windows_problem windows_problems[] = {
    {"KB4489899", SERVER_2019, 0, 379, "overlay networks do not work without it",
     "install KB4489899 or newer", NULL, "kubernetes.io: Networking on Windows"},
    {"KB4570333", SERVER_2019, 379, 1457,
     "containers may not start (CreateComputeSystem: The directory name is invalid)",
     "install the cumulative update of September 2020 or newer", NULL,
     "antrea-io/antrea#2774, containerd/containerd#10347"},
    {"KB4571748", SERVER_2019, 1432, 1518,
     "pods lose Services when HNS restarts: VFP drops its layer DECAP_IN",
     "install KB4577668 or newer", NULL, "microsoft/Windows-Containers#61"},
    {"KB4580390", SERVER_2019, 379, 1554, "kube-proxy cannot use DSR reliably without it",
     "install KB4580390 or newer", NULL, "microsoft/Windows-Containers#19"},
    {"KB5005619", SERVER_2022, 261, 768,
     "l2bridge with DSR loses traffic between pods; NodePorts fail on overlay",
     "install a cumulative update of June 2022 or newer, or join with --dsr off", NULL,
     "microsoft/Windows-Containers#204, kubernetes/website#31759"},
    {"KB5040437", SERVER_2022, 2582, 2762, "pods reach nothing (\"General failure\")",
     "install KB5044281 or newer, or join with --apply-host-fixes", "FwPerfImprovementChange",
     "microsoft/Windows-Containers#516, projectcalico/calico#8529"},
    {"KB5055526", SERVER_2022, 3453, 0, "VFP's locks make networks slow or stuck under load",
     "join with --apply-host-fixes", "1114842764", "kubernetes-sigs/image-builder#1798"},
    {"KB5066835", SERVER_2025, 0, 6899, "overlay networks lose traffic without it",
     "install KB5066835 (October 2025) or newer; pause image 3.10.2 or newer", NULL,
     "rancher/rancher#50915, projectcalico/calico#11691"},
    {"KB5055523", SERVER_2025, 3775, 0, "VFP's locks make networks slow or stuck under load",
     "join with --apply-host-fixes", "520997518", IMAGE_BUILDER "systemprep/tasks/main.yml"},
    {"KB5082063", SERVER_2025, 32690, 0,
     "an ACL of an endpoint that blocks one source blocks every source",
     "do not use network policies that block single addresses on this node", NULL,
     "microsoft/Windows-Containers#616"},
    {0},
};

static bool in_range(unsigned revision, unsigned from, unsigned to) {
    return revision >= from && (!to || revision < to);
}

bool host_fix_applies(const struct host_fix *fix, const struct host_facts *facts) {
    return !fix->build ||
           (fix->build == facts->build && in_range(facts->revision, fix->from, fix->to));
}

int host_fix_is_set(struct host *host, const struct host_fix *fix, bool *ret, struct error *err) {
    _cleanup_(freep) char *found = NULL, *wanted = xasprintf("%u", (unsigned)fix->data);
    struct error why = {0};

    if (host_registry_get(host, fix->key, fix->value, &found, &why) < 0 && why.kind != ERROR_ABSENT)
        return error_set(err, why.kind, "%s", why.message);
    *ret = text_equal(found, wanted);
    return 0;
}

json_t *host_fixes_missing_json(struct host *host, const struct host_facts *facts,
                                struct error *err) {
    _cleanup_json_ json_t *missing = json_array();

    for (const struct host_fix *fix = host_fixes; fix->key; fix++) {
        const char *ended = NULL;
        bool set;

        if (!host_fix_applies(fix, facts))
            continue;
        if (host_fix_is_set(host, fix, &set, err) < 0)
            return NULL;
        if (set)
            continue;
        for (const struct windows_problem *p = windows_problems; p->id && !ended; p++)
            if (text_equal(p->override, fix->value) && p->build == facts->build &&
                in_range(facts->revision, p->from, p->to))
                ended = p->id;
        json_array_append_new(
            missing, json_pack("{s:s, s:s, s:I, s:b, s:s*, s:s, s:s}", "key", fix->key, "value",
                               fix->value, "data", (json_int_t)fix->data, "everyBuild", !fix->build,
                               "problem", ended, "why", fix->why, "source", fix->source));
    }
    return take_ptr(missing);
}

json_t *windows_problems_json(struct host *host, const struct host_facts *facts,
                              struct error *err) {
    _cleanup_json_ json_t *found = json_array();

    for (const struct windows_problem *p = windows_problems; facts->revision && p->id; p++) {
        const struct host_fix *fix = host_fixes;
        bool ended = false;

        if (p->build != facts->build || !in_range(facts->revision, p->from, p->to))
            continue;
        while (fix->key && !text_equal(fix->value, p->override))
            fix++;
        if (fix->key && host_fix_is_set(host, fix, &ended, err) < 0)
            return NULL;
        if (!ended)
            json_array_append_new(found, json_pack("{s:s, s:s, s:s, s:s*, s:s}", "id", p->id,
                                                   "breaks", p->breaks, "fix", p->fix, "override",
                                                   p->override, "source", p->source));
    }
    return take_ptr(found);
}

const char *windows_build_name(unsigned build) {
    return build == SERVER_2019   ? "Server 2019"
           : build == SERVER_2022 ? "Server 2022"
           : build == SERVER_2025 ? "Server 2025"
                                  : NULL;
}
