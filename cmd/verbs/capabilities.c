/* winjoin capabilities: prints what this Windows supports, and the known faults of its build. */
#include "cmd/program.h"
#include "diag/evidence.h"
#include "netsetup/hns/hns_features.h"
#include "netsetup/limits.h"
#include "netsetup/windows_builds.h"
#include "services/artifacts/catalog.h"

static void add_build(const struct host_facts *facts, const json_t *problems, const json_t *fixes,
                      const json_t *versions, struct text *out) {
    text_addf(out, "\nKnown faults of Windows 10.0.%u.%u%s\n", facts->build, facts->revision,
              json_array_size(problems) ? "" : ": none");
    json_each(problems, i, item)
        text_addf(out, "  %-12s %s; %s (%s)\n", json_text_at(item, "id"),
                  json_text_at(item, "breaks"), json_text_at(item, "fix"),
                  json_text_at(item, "source"));
    if (json_array_size(fixes))
        text_add(out, "\nRegistry values that join --apply-host-fixes sets, and reset undoes\n");
    json_each(fixes, i, item)
        text_addf(out, "  HKLM\\%s\\%s = %lld\n       %s (%s)\n", json_text_at(item, "key"),
                  json_text_at(item, "value"), json_number_at(item, "data", 0),
                  json_text_at(item, "why"), json_text_at(item, "source"));

    text_addf(out, "\nVersions that go together on Windows 10.0.%u\n", facts->build);
    json_each(versions, i, item)
        text_addf(out, "  %-12s %-16s %s: %s (%s)\n", json_text_at(item, "program"),
                  json_text_or(item, "kubernetes", "each"), json_text_at(item, "versions"),
                  json_text_at(item, "why"), json_text_at(item, "source"));
}

int verb_capabilities(struct program *program, struct error *err) {
    _cleanup_(text_free) struct text out = {0};
    struct hns_version version = {0};
    struct host_facts facts = {0};
    _cleanup_json_ json_t *problems = NULL, *fixes = NULL;
    _cleanup_(freep) char *name = NULL, *mode = NULL;
    struct limit_facts limit_facts;
    json_t *features, *list, *versions;
    char number[24], windows[40];

    if (hns_version_get(program->host, &version, err) < 0 ||
        host_facts(program->host, &facts, err) < 0 ||
        !(problems = windows_problems_json(program->host, &facts, err)) ||
        !(fixes = host_fixes_missing_json(program->host, &facts, err)))
        return -1;
    features = hns_features_json(version);
    /* `name` and `mode` stay NULL on a machine that has not joined. */
    diag_network_of_cni(program->host, &name, &mode);
    limit_facts = (struct limit_facts){.hns = version,
                                       .mode = mode ? network_mode_by_name(mode) : NULL,
                                       .host_name = facts.host_name};
    /* The number of dynamic ports stays 0 when it cannot be read. */
    (void)limit_dynamic_ports(program->host, &limit_facts.dynamic_ports, NULL);
    list = limits_json(&limit_facts);
    (void)text_format(number, sizeof number, "%u.%u", version.major, version.minor);
    (void)text_format(windows, sizeof windows, "10.0.%u.%u", facts.build, facts.revision);
    text_addf(&out, "HNS %s\n", number);
    json_each(features, i, item)
        text_addf(&out, "  %-4s %-24s %s\n", json_bool_at(item, "available", false) ? "yes" : "no",
                  json_text_at(item, "name"), json_text_at(item, "reason"));
    text_add(&out, "\nLimits of Kubernetes on Windows\n");
    json_each(list, i, item) {
        bool known = json_object_get(item, "available") != NULL;

        text_addf(&out, "  %-4s %-24s %s (%s): %s\n",
                  !known                                   ? "?"
                  : json_bool_at(item, "available", false) ? "yes"
                                                           : "no",
                  json_text_at(item, "name"), json_text_at(item, "title"),
                  json_text_at(item, "reason"), json_text_at(item, "instead"));
    }
    versions = compatible_json(facts.build);
    add_build(&facts, problems, fixes, versions, &out);
    output_text(program, text_str(&out));
    output_result(program, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:O, s:O, s:o}",
                                     JSON_DOCUMENT("Capabilities"), "hnsVersion", number, "windows",
                                     windows, "features", features, "limits", list, "knownFaults",
                                     problems, "hostFixes", fixes, "versions", versions));
    return 0;
}
