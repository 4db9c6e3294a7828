/* Names of phases: winjoin's, kubeadm's for several of them, and those that mean nothing. */
#include "tests/scene/join_scene.h"

#include "join/phases/phases.h"

static void expect(const char *name, const char *ids) {
    struct text_list list = {0};
    struct error err = {0};
    char *joined;

    if (phase_names_resolve(name, &list, &err) < 0)
        fail_msg("%s: %s", name, err.message);
    joined = text_list_join(&list, ",");
    assert_string_equal(joined, ids);
    free(joined);
    text_list_free(&list);
}

static void names_are_resolved(void **state) {
    (void)state;
    for (size_t i = 0; join_phases[i].id; i++)
        expect(join_phases[i].id, join_phases[i].id);
    expect("kubelet-start", "certificate,files,kubelet");
    expect("kubelet-wait-bootstrap", "node");
}

/* A group names phases that are there, in their order. */
static void groups_are_of_phases(void **state) {
    (void)state;
    for (size_t g = 0; phase_groups[g].name; g++) {
        size_t at = 0;

        for (size_t k = 0; k < ARRAY_SIZE(phase_groups[g].phases) && phase_groups[g].phases[k];
             k++) {
            while (join_phases[at].id && !text_equal(join_phases[at].id, phase_groups[g].phases[k]))
                at++;
            if (!join_phases[at].id)
                fail_msg("%s: %s is not a phase, or out of order", phase_groups[g].name,
                         phase_groups[g].phases[k]);
        }
    }
}

static void refuse(const char *name, const char *message, const char *hint) {
    struct text_list list = {0};
    struct error err = {0};

    assert_int_equal(phase_names_resolve(name, &list, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_non_null(strstr(err.message, message));
    assert_non_null(strstr(err.hints[0], hint));
    assert_int_equal(list.count, 0);
}

static void others_are_refused(void **state) {
    (void)state;
    refuse("kubelet-strt", "invalid phase name: kubelet-strt", "did you mean kubelet-start?");
    refuse("prefligt", "invalid phase name", "did you mean preflight?");
    refuse("lst", "invalid phase name", "did you mean list?");
    refuse("", "invalid phase name", "phase list");
    refuse("nothing-like-it", "invalid phase name", "phase list");
    refuse("kubelet-start/x", "invalid phase name", "");
    refuse("control-plane-prepare", "winjoin joins workers", "");
    refuse("control-plane-prepare/certs", "winjoin joins workers", "");
    refuse("Preflight", "invalid phase name", "did you mean preflight?");
}

static void a_list_to_skip_is_resolved(void **state) {
    struct text_list names = {0}, ids = {0};
    struct error err = {0};
    char *joined;

    (void)state;
    text_list_add(&names, "verify");
    text_list_add(&names, "control-plane-join/mark-control-plane");
    text_list_add(&names, "etcd-join");
    text_list_add(&names, "kubelet-wait-bootstrap");
    assert_int_equal(phase_names_skipped(&names, &ids, &err), 0);
    joined = text_list_join(&ids, ",");
    assert_string_equal(joined, "verify,node");
    free(joined);
    text_list_free(&ids);
    text_list_add(&names, "verfy");
    assert_int_equal(phase_names_skipped(&names, &ids, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_string_equal(err.message, "invalid phase name: verfy");
    text_list_free(&ids);
    text_list_free(&names);
}

/* Nothing is looked at before the names are known to be right. */
static void a_wrong_name_stops_before_anything(void **state) {
    struct error err = {0};
    struct run r;
    size_t calls;

    (void)state;
    open_run(&r, "overlay");
    text_list_add(&r.options.skip_phases, "kubelt");
    calls = host_memory_calls(r.host);
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_string_equal(err.hints[0], "did you mean kubelet?");
    assert_int_equal(host_memory_calls(r.host), calls);
    close_run(&r);
}

static void phases_run_by_kubeadms_names(void **state) {
    static const char *const words[] = {"preflight", "artifacts", "vswitch", "kubelet-start",
                                        "kubelet-wait-bootstrap"};
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        struct join join = {.host = r.host, .http = r.http, .asked = &r.options};

        if (join_open(&join, &err) < 0 ||
            (i == 3 && join_run_phase(&join, "containerd", &err) < 0) ||
            join_run_phase(&join, words[i], &err) < 0)
            fail_msg("%s: %s", words[i], err.message);
        join_close(&join);
    }
    assert_true(scene_runs(&r.scene, "kubelet"));
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_resolved),
        cmocka_unit_test(groups_are_of_phases),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(a_list_to_skip_is_resolved),
        cmocka_unit_test(a_wrong_name_stops_before_anything),
        cmocka_unit_test(phases_run_by_kubeadms_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
