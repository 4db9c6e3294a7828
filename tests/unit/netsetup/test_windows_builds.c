/* What is known of Windows builds, and which limits hold; docs/windows-builds.md is made of the
 * same tables: WRITE_DOCS=1 build/asan/tests/test_windows_builds writes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "host/path.h"
#include "netsetup/limits.h"
#include "netsetup/windows_builds.h"
#include "tests/memory/host_memory.h"

static json_t *problems_of(struct host *host, unsigned build, unsigned revision) {
    const struct host_facts facts = {.build = build, .revision = revision};

    return windows_problems_json(host, &facts, NULL);
}

static void assert_problems(unsigned build, unsigned revision, const char *ids) {
    struct host *host = host_memory_new();
    _cleanup_json_ json_t *found = problems_of(host, build, revision);
    struct text text = {0};
    json_t *row;
    size_t i;

    json_array_foreach(found, i, row)
        text_addf(&text, "%s%s", i ? " " : "", json_text_at(row, "id"));
    assert_string_equal(text_str(&text), ids);
    text_free(&text);
    host_free(host);
}

static void revisions_have_their_faults(void **state) {
    (void)state;
    assert_problems(17763, 378, "KB4489899");
    assert_problems(17763, 379, "KB4570333 KB4580390");
    assert_problems(17763, 1432, "KB4570333 KB4571748 KB4580390");
    assert_problems(17763, 1457, "KB4571748 KB4580390");
    assert_problems(17763, 1518, "KB4580390");
    assert_problems(17763, 1554, "");
    assert_problems(20348, 260, "");
    assert_problems(20348, 261, "KB5005619");
    assert_problems(20348, 768, "");
    assert_problems(20348, 2581, "");
    assert_problems(20348, 2582, "KB5040437");
    assert_problems(20348, 2762, "");
    assert_problems(20348, 3453, "KB5055526");
    assert_problems(26100, 1742, "KB5066835");
    assert_problems(26100, 6898, "KB5066835 KB5055523");
    assert_problems(26100, 40000, "KB5055523 KB5082063");
    assert_problems(26100, 0, "");
    assert_problems(19044, 2600, "");
}

#define HNS_STATE "SYSTEM\\CurrentControlSet\\Services\\hns\\State"
static void a_fix_in_the_registry_ends_its_fault(void **state) {
    static const struct host_facts facts = {.build = 20348, .revision = 2600};
    struct host *host = host_memory_new();
    json_t *found;

    (void)state;
    host_memory_set_registry(host, HNS_STATE, "FwPerfImprovementChange", "1");
    found = windows_problems_json(host, &facts, NULL);
    assert_int_equal(json_array_size(found), 1);
    json_decref(found);
    found = host_fixes_missing_json(host, &facts, NULL);
    assert_int_equal(json_array_size(found), 2);
    assert_string_equal(json_text_at(found, "1.value"), "FwPerfImprovementChange");
    assert_string_equal(json_text_at(found, "1.problem"), "KB5040437");
    assert_null(json_text_at(found, "0.problem"));
    json_decref(found);
    host_memory_set_registry(host, HNS_STATE, "FwPerfImprovementChange", "0");
    found = windows_problems_json(host, &facts, NULL);
    assert_int_equal(json_array_size(found), 0);
    json_decref(found);
    host_free(host);
}

static void each_row_has_its_source_and_a_remedy(void **state) {
    (void)state;
    for (const struct windows_problem *p = windows_problems; p->id; p++) {
        bool known = !p->override;

        assert_true(*p->breaks && *p->fix && *p->source);
        assert_non_null(windows_build_name(p->build));
        for (const struct host_fix *fix = host_fixes; fix->key; fix++)
            known |= text_equal(p->override, fix->value) && fix->build == p->build &&
                     fix->from <= p->from;
        assert_true(known);
    }
    for (const struct host_fix *fix = host_fixes; fix->key; fix++)
        assert_true(*fix->why && *fix->source);
}

/* ---- limits ---- */

static void assert_hold(struct limit_facts facts, const char *names) {
    _cleanup_(freep) char *held = limits_that_hold(&facts);

    if (!text_equal(held, names))
        fail_msg("%s", held);
}

#define OF_WINDOWS "hostNetwork, localNodePort, backends, affinityTimeout, ipv6Only"
#define OF_NO_DSR "localTrafficPolicy, clientIP, preserveDestination"
static void limits_hold_where_they_are_known_to(void **state) {
    const struct network_mode *overlay = network_mode_by_name("overlay");
    const struct network_mode *l2bridge = network_mode_by_name("l2bridge");

    (void)state;
    assert_hold((struct limit_facts){0}, OF_WINDOWS);
    assert_hold((struct limit_facts){.hns = {13, 2}, .dynamic_ports = 16384}, OF_WINDOWS);
    assert_hold((struct limit_facts){.hns = {13, 2}, .mode = overlay},
                OF_WINDOWS ", icmpOut, ipv6Overlay");
    assert_hold((struct limit_facts){.hns = {13, 2}, .mode = l2bridge}, OF_WINDOWS ", icmpOut");
    assert_hold((struct limit_facts){.mode = network_mode_by_name("l2tunnel")},
                OF_WINDOWS ", icmpOut, ipv6Overlay");
    assert_hold((struct limit_facts){.mode = network_mode_by_name("transparent")},
                OF_WINDOWS ", ipv6Overlay");
    assert_hold((struct limit_facts){.mode = network_mode_by_name("nat")},
                OF_WINDOWS ", ipv6Overlay");
    assert_hold((struct limit_facts){.hns = {9, 5}},
                OF_WINDOWS ", dualStack, sessionAffinity, vxlanPort");
    assert_hold((struct limit_facts){.hns = {9, 2}},
                OF_WINDOWS ", dualStack, sessionAffinity, dsr, vxlanPort, " OF_NO_DSR);
    assert_hold((struct limit_facts){.hns = {13, 2}, .no_dsr = true, .dynamic_ports = 40000},
                OF_WINDOWS ", " OF_NO_DSR ", dynamicPorts");
    assert_hold((struct limit_facts){.hns = {13, 2}, .dynamic_ports = 1024},
                OF_WINDOWS ", dynamicPorts");
    assert_hold((struct limit_facts){.host_name = "fifteen-letters"}, OF_WINDOWS);
    assert_hold((struct limit_facts){.host_name = "sixteen--letters"}, OF_WINDOWS ", longHostName");
}

static void what_is_unknown_is_not_said(void **state) {
    const struct limit_facts nothing = {0};
    _cleanup_json_ json_t *rows = limits_json(&nothing);
    size_t i;
    json_t *row;

    (void)state;
    json_array_foreach(rows, i, row) {
        assert_true(*json_text_at(row, "title") && *json_text_at(row, "instead"));
        assert_true(*json_text_at(row, "source") && *json_text_at(row, "reason"));
        assert_false(json_is_true(json_object_get(row, "available")));
    }
    assert_null(limits[json_array_size(rows)].id);
    assert_null(json_at(rows, "14.available"));
}

/* ---- the page ---- */

static void add_problems(struct text *page) {
    text_add(page,
             "| Windows | revisions | since or without | what breaks | what to do | source |\n"
             "|---|---|---|---|---|---|\n");
    for (const struct windows_problem *p = windows_problems; p->id; p++) {
        text_addf(page, "| %s (%u) | ", windows_build_name(p->build), p->build);
        if (p->to)
            text_addf(page, "%u to %u", p->from, p->to - 1);
        else
            text_addf(page, "%u and newer", p->from);
        text_addf(page, " | %s | %s | %s | %s |\n", p->id, p->breaks, p->fix, p->source);
    }
}

static void add_fixes(struct text *page) {
    text_add(page, "| Windows | value under HKLM (REG_DWORD) | what it does | source |\n"
                   "|---|---|---|---|\n");
    for (const struct host_fix *fix = host_fixes; fix->key; fix++)
        text_addf(page, "| %s | `%s\\%s` = %u | %s | %s |\n",
                  fix->build ? windows_build_name(fix->build) : "all", fix->key, fix->value,
                  (unsigned)fix->data, fix->why, fix->source);
}

static void add_limits(struct text *page) {
    static const char *const holds[] = {
        [LIMIT_OF_WINDOWS] = "everywhere",
        [LIMIT_OF_HNS] = "with an HNS before ",
        [LIMIT_OF_NO_DSR] = "without DSR",
        [LIMIT_OF_MODE] = "depends on the network mode",
        [LIMIT_OF_HOSTNAME] = "with such a name",
        [LIMIT_OF_PORTS] = "without DSR, or with fewer than 16384 ports",
    };

    text_add(page, "| limit | not supported | where | instead | source |\n|---|---|---|---|---|\n");
    for (const struct limit *limit = limits; limit->id; limit++)
        text_addf(page, "| `%s` | %s | %s%s | %s | %s |\n", limit->id, limit->what,
                  holds[limit->cause],
                  limit->cause == LIMIT_OF_HNS ? hns_features[limit->feature].since : "",
                  limit->instead, limit->source);
}

static void the_page_is_made_of_the_tables(void **state) {
    const char *path = "docs/windows-builds.md";
    char *there = xcalloc(1, 65536);
    struct text page = {0};
    FILE *f;

    (void)state;
    text_add(
        &page,
        "# Windows builds and limits\n\n"
        "`winjoin capabilities` shows what of this page holds on a server; `winjoin preflight` "
        "warns of it\n(`WindowsPatch`, `HostFixes`, `ServiceLimits`, `Hostname`, "
        "`DynamicPorts`), and `winjoin diag` names it as a cause\n(`WIN-PATCH`, `PORT-POOL`, "
        "`SVC-BACKENDS`). The tables are those of `netsetup/windows_builds.c` and\n"
        "`netsetup/limits.c`; `WRITE_DOCS=1 build/asan/tests/test_windows_builds` writes this "
        "page.\n\n## Known faults\n\n");
    add_problems(&page);
    text_add(&page,
             "\n## Registry values\n\n"
             "`winjoin join --apply-host-fixes` sets those that are missing on the server; each "
             "is recorded first, reported as a\nwarning, and undone by `winjoin reset`. "
             "`--dry-run` lists them. Windows reads them when it starts.\n\n");
    add_fixes(&page);
    text_add(&page, "\n## Limits\n\n"
                    "What Kubernetes cannot do on Windows nodes. In `-o json` of preflight and "
                    "capabilities each is a row of `limits`.\n\n");
    add_limits(&page);
    if (getenv("WRITE_DOCS")) {
        f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(text_str(&page), 1, page.len, f), page.len);
        assert_int_equal(fclose(f), 0);
    }
    f = fopen(path, "rb");
    assert_non_null(f);
    (void)fread(there, 1, 65535, f);
    (void)fclose(f);
    assert_string_equal(there, text_str(&page));
    free(there);
    text_free(&page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(revisions_have_their_faults),
        cmocka_unit_test(a_fix_in_the_registry_ends_its_fault),
        cmocka_unit_test(each_row_has_its_source_and_a_remedy),
        cmocka_unit_test(limits_hold_where_they_are_known_to),
        cmocka_unit_test(what_is_unknown_is_not_said),
        cmocka_unit_test(the_page_is_made_of_the_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
