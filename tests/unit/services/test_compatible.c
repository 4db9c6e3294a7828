/* Which versions go together, and what is said of those that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "services/artifacts/catalog.h"
#include "services/runtime_files.h"

static void expect(const char *program, const char *version, const char *kubernetes, unsigned build,
                   bool fits) {
    const struct compatible *row = compatible_breach(program, version, kubernetes, build);

    if (fits != !row)
        fail_msg("%s %s with %s on %u: %s", program, version, kubernetes ? kubernetes : "?", build,
                 row ? row->versions : "fits");
}

static void containerd_with_kubernetes(void **state) {
    (void)state;
    expect("containerd", "v2.4.2", "v1.37.1", 20348, true);
    expect("containerd", "v2.3.0", "v1.37.1", 0, true);
    expect("containerd", "v2.2.9", "v1.37.1", 0, false);
    expect("containerd", "v2.2.9", "1.36.0", 0, true);
    expect("containerd", "2.2.0", "v1.35.4+k3s1", 0, true);
    expect("containerd", "v2.1.4", "v1.35.4", 0, false);
    expect("containerd", "v2.1.5", "v1.35.4", 0, true);
    expect("containerd", "v2.0.99", "v1.35.4", 0, false);
    expect("containerd", "v1.7.28", "v1.35.4", 0, true);
    expect("containerd", "v1.7.28", "v1.36.0", 0, false);
    expect("containerd", "v3.0.0", "v1.34.0", 0, true);
    expect("containerd", "v1.6.3", "v1.24.0", 0, false);
    expect("containerd", "containerd github.com/containerd/containerd/v2 v2.2.1 0abc", "v1.37.1", 0,
           false);
    /* newer than the table: as its last row */
    expect("containerd", "v2.2.1", "v1.40.0", 0, false);
    expect("containerd", "v2.3.1", "v1.40.0", 0, true);
}

/* No Kubernetes has two of them, and none from 1.24 on has none. */
static void rows_of_containerd(void **state) {
    _cleanup_json_ json_t *rows = compatible_json(0);
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *all = NULL;

    (void)state;
    json_each(rows, i, row)
        if (text_equal(json_text_at(row, "program"), "containerd"))
            text_list_add(&names, json_text_at(row, "kubernetes"));
    all = text_list_join(&names, ", ");
    assert_string_equal(all, "1.24 to 1.25, 1.26 to 1.28, 1.29, 1.30, 1.31, 1.32, 1.33, 1.34, "
                             "1.35, 1.36, 1.37 or newer");
}

/* Nothing is said of what cannot be read, or is not in the table. */
static void unknown_versions(void **state) {
    static const char *const odd[] = {"unknown", "", "v2", "v2.x.1", "containerd", "v99999.1.1x"};

    (void)state;
    for (size_t i = 0; i < 5; i++)
        expect("containerd", odd[i], "v1.37.1", 20348, true);
    expect("containerd", NULL, "v1.37.1", 0, true);
    expect("containerd", "v1.0.0", NULL, 0, true);
    expect("containerd", "v1.0.0", "latest", 0, true);
    expect("flanneld", "v0.0.1", "v1.37.1", 20348, true);
    (void)compatible_breach("containerd", odd[5], "v1.37.1", 0);
}

static void cni_plugins(void **state) {
    (void)state;
    expect("win-overlay", "v0.9.1", NULL, 0, false);
    expect("host-local", "v1.0.0", NULL, 0, true);
    expect("win-bridge", "v1.9.1", "v1.30.0", 17763, true);
}

static void expect_image(const char *kubernetes, unsigned build, const char *tag) {
    _cleanup_(freep) char *image = sandbox_image(NULL, kubernetes, build);

    if (!text_ends_with(image, tag))
        fail_msg("%s on %u: %s", kubernetes ? kubernetes : "?", build, image);
}

static void sandbox_images(void **state) {
    (void)state;
    expect_image("v1.34.1", 20348, "registry.k8s.io/pause:3.10.1");
    expect_image("v1.35.4", 17763, ":3.10.1");
    expect_image("v1.36.0", 20348, ":3.10.2");
    expect_image("v1.34.1", 26100, ":3.10.2");
    expect_image("v1.34.1", 26099, ":3.10.1");
    expect_image(NULL, 0, ":3.10.1");
}

static void messages(void **state) {
    const struct compatible *row = compatible_breach("containerd", "v2.1.4", "v1.35.4", 0);
    _cleanup_(freep) char *message = compatible_message(row, "v2.1.4");

    (void)state;
    assert_string_equal(message,
                        "containerd 2.1.4: use 2.2.0 or newer, 2.1.5 or newer of 2.1, 1.7.28 or "
                        "newer of 1.7 with Kubernetes 1.35 (containerd is tested with this "
                        "Kubernetes)");
}

/* Each row has all its texts, and the catalog fetches what the newest Kubernetes wants. */
static void the_catalog_goes_together(void **state) {
    static const char *const all[] = {"containerd", "win-overlay", "win-bridge", "host-local"};
    struct catalog *catalog = NULL;
    struct artifacts artifacts = {0};
    struct text_list names = {0};
    _cleanup_json_ json_t *rows = compatible_json(0), *list = compatible_json(20348);

    (void)state;
    json_each(rows, i, row)
        assert_true(json_text_at(row, "why") && json_text_at(row, "source") &&
                    *json_text_at(row, "versions"));
    /* one is for Server 2025 */
    assert_int_equal(json_array_size(list), json_array_size(rows) - 1);
    assert_int_equal(catalog_read(NULL, 0, "catalog", &catalog, NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        text_list_add(&names, all[i]);
    catalog_artifacts(catalog, "v1.37.1", &names, &artifacts);
    assert_int_equal(artifacts.count, ARRAY_SIZE(all));
    for (size_t i = 0; i < artifacts.count; i++)
        expect(artifacts.items[i].name, artifacts.items[i].version, "v1.37.1", 26100, true);
    artifacts_free(&artifacts);
    text_list_free(&names);
    catalog_freep(&catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containerd_with_kubernetes),
        cmocka_unit_test(rows_of_containerd),
        cmocka_unit_test(unknown_versions),
        cmocka_unit_test(cni_plugins),
        cmocka_unit_test(sandbox_images),
        cmocka_unit_test(messages),
        cmocka_unit_test(the_catalog_goes_together),
    };

    return cmocka_run_group_tests_name("compatible", tests, NULL, NULL);
}
