/* kubeadm's patches folder: names, reading, the strategic merge, errors with file and line. The
 * table tests/cluster/kubelet_patches.json is played to upstream's kubeadm too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/memory.h"
#include "join/kubelet/patches.h"
#include "tests/memory/host_memory.h"

#define FOLDER "C:\\patches"
#define TABLE "tests/cluster/kubelet_patches.json"
#define CONFIG "{\"kind\":\"KubeletConfiguration\",\"apiVersion\":\"kubelet.config.k8s.io/v1beta1\""

static json_t *json_of(const char *text) {
    json_t *json = NULL;
    struct error err = {0};

    if (json_read(text, strlen(text), "test", &json, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return json;
}

/* ---- names ---- */

static void knows_file_names(void **state) {
    static const struct {
        const char *name;
        enum patch_target target;
        enum patch_type type;
    } rows[] = {
        {"kubeletconfiguration.yaml", PATCH_KUBELET, PATCH_STRATEGIC},
        {"kubeletconfiguration.json", PATCH_KUBELET, PATCH_STRATEGIC},
        {"kubeletconfiguration+json.yaml", PATCH_KUBELET, PATCH_JSON},
        {"kubeletconfiguration0+merge.yaml", PATCH_KUBELET, PATCH_MERGE},
        {"kubeletconfiguration-a b_1+strategic.json", PATCH_KUBELET, PATCH_STRATEGIC},
        {"kubeletconfigurationjson.yaml", PATCH_KUBELET, PATCH_STRATEGIC},
        {"kubeletconfiguration.old.yaml", PATCH_KUBELET, PATCH_STRATEGIC},
        {"kube-apiserver+merge.yaml", PATCH_OTHER, PATCH_MERGE},
        {"etcd0.yaml", PATCH_OTHER, PATCH_STRATEGIC},
        {"corednsdeployment.yaml", PATCH_OTHER, PATCH_STRATEGIC},
        {"kubeproxydaemonset.yaml", PATCH_OTHER, PATCH_STRATEGIC},
        {"kubeletconfiguration.yml", PATCH_NONE, PATCH_STRATEGIC},
        {"kubeletconfiguration", PATCH_NONE, PATCH_STRATEGIC},
        {"kubeletconfiguration.YAML", PATCH_NONE, PATCH_STRATEGIC},
        {"KubeletConfiguration.yaml", PATCH_NONE, PATCH_STRATEGIC},
        {"kubelet.yaml", PATCH_NONE, PATCH_STRATEGIC},
        {".yaml", PATCH_NONE, PATCH_STRATEGIC},
        {"README.md", PATCH_NONE, PATCH_STRATEGIC},
    };
    static const char *const refused[] = {
        "kubeletconfiguration+.yaml",       "kubeletconfiguration+yaml.yaml",
        "kubeletconfiguration+merged.yaml", "kubeletconfiguration0.1+merge.yaml",
        "kubeletconfiguration+JSON.yaml",   "etcd+.json",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        enum patch_type type = PATCH_STRATEGIC;
        enum patch_target target;
        const char *reason = NULL;
        struct error err = {0};

        if (patch_file_name(rows[i].name, &target, &type, &reason, &err) < 0)
            fail_msg("%s: %s", rows[i].name, err.message);
        if (target != rows[i].target || type != rows[i].type)
            fail_msg("%s: target %d, type %d", rows[i].name, (int)target, (int)type);
        assert_int_equal(reason != NULL, target == PATCH_NONE);
    }
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        enum patch_type type;
        enum patch_target target;
        const char *reason;
        struct error err = {0};

        if (patch_file_name(refused[i], &target, &type, &reason, &err) == 0)
            fail_msg("%s was taken", refused[i]);
        assert_int_equal(err.kind, ERROR_USAGE);
    }
}

/* ---- the strategic merge ---- */

static const struct {
    const char *original, *patch, *result;
    const char *why, *where; /* when it is refused */
} merges[] = {
    {"{'a':1,'b':{'c':1,'d':2}}", "{'b':{'c':null,'e':3}}", "{'a':1,'b':{'d':2,'e':3}}", 0, 0},
    {"{'a':[1,2]}", "{'a':[3]}", "{'a':[3]}", 0, 0},
    {"{'a':1}", "{'b':{'c':null,'d':[{'e':null}]}}", "{'a':1,'b':{'d':[{}]}}", 0, 0},
    {"{'a':1}", "{'a':{'b':null}}", "{'a':{}}", 0, 0},
    {"{'a':{'b':1}}", "{'a':2}", "{'a':2}", 0, 0},
    {"{'a':null}", "{'a':{'b':1}}", "{'a':{'b':1}}", 0, 0},
    {"{'a':1}", "{'z':null}", "{'a':1}", 0, 0},
    {"{'a':1}", "{}", "{'a':1}", 0, 0},
    {"{'a':{'b':1,'c':2}}", "{'a':{'$patch':'replace','d':3}}", "{'a':{'d':3}}", 0, 0},
    {"{'a':{'b':1,'c':2}}", "{'a':{'$patch':'delete'}}", "{'a':{}}", 0, 0},
    {"{'a':1}", "{'$patch':'replace','b':2}", "{'b':2}", 0, 0},
    {"{'a':1}", "{'$patch':'delete'}", "{}", 0, 0},
    {"{'a':1}", "{'b':{'$patch':'replace','c':2}}", "{'a':1}", 0, 0}, /* as upstream does */
    {"{'a':{'b':1,'c':2}}", "{'a':{'$retainKeys':['c','d'],'d':3}}", "{'a':{'c':2,'d':3}}", 0, 0},
    {"{'a':{'b':1,'c':2}}", "{'a':{'$retainKeys':['c'],'b':null}}", "{'a':{'c':2}}", 0, 0},
    {"{'a':['x','y','z']}", "{'$deleteFromPrimitiveList/a':['y','q']}", "{'a':['x','z']}", 0, 0},
    {"{'b':1}", "{'$deleteFromPrimitiveList/a':['y']}", "{'b':1}", 0, 0},
    {"{'a':['x','y','z']}", "{'$setElementOrder/a':['z','x']}", "{'a':['y','z','x']}", 0, 0},
    {"{'a':['x','y']}", "{'$setElementOrder/a':['z','w'],'a':['z','w']}", "{'a':['z','w']}", 0, 0},
    {"{'b':1}", "{'$setElementOrder/a':['x'],'a':['x']}", "{'a':['x'],'b':1}", 0, 0},
    {"{'a':{'k~/':{}}}", "{'a':{'k~/':{'$patch':'merge'}}}", 0, "must be replace or delete",
     "a.k~/.$patch"},
    {"{'a':1}", "{'$patch':7}", 0, "must be replace or delete", "$patch"},
    {"{'a':{'b':1}}", "{'a':{'$retainKeys':['b'],'c':1}}", 0, "does not name \"c\"", "a"},
    {"{'a':{'b':1}}", "{'a':{'$retainKeys':'b'}}", 0, "must be a list", "a"},
    {"{'a':[1]}", "{'$deleteFromPrimitiveList/a':1}", 0, "must be a list",
     "$deleteFromPrimitiveList/a"},
    {"{'a':[1]}", "{'$deleteFromPrimitiveList':[1]}", 0, "must name a list",
     "$deleteFromPrimitiveList"},
    {"{'b':1}", "{'$setElementOrder/a':['x']}", 0, "there is no list \"a\"", "$setElementOrder/a"},
    {"{'a':[1]}", "{'$deleteFromPrimitiveListX/a':[1]}", 0, "must name a list",
     "$deleteFromPrimitiveListX/a"},
    {"{'a':[1]}", "{'$deleteFromPrimitiveList/':[1]}", 0, "must name a list",
     "$deleteFromPrimitiveList/"},
    {"{'a':[1]}", "{'$deleteFromPrimitiveList/a':['1']}", 0, "different types",
     "$deleteFromPrimitiveList/a"},
    {"{'a':[{}]}", "{'$deleteFromPrimitiveList/a':[{}]}", 0, "plain values only",
     "$deleteFromPrimitiveList/a"},
    {"{'a':['x']}", "{'$setElementOrder/a':'x'}", 0, "must be a list", "$setElementOrder/a"},
    {"{'a':'x'}", "{'$setElementOrder/a':['x']}", 0, "must be a list", "$setElementOrder/a"},
    {"{'a':['x']}", "{'$setElementOrder/a':['x','y'],'a':['y','x']}", 0, "not in this order",
     "$setElementOrder/a"},
    {"{'a':[1]}", "{'a':[{'$patch':'replace'}]}", 0, "nothing for this directive", "a.0.$patch"},
    {"{}", "{'a':{'$retainKeys':['b'],'b':1}}", 0, "nothing for this directive", "a.$retainKeys"},
    {"{}", "[1]", 0, "an object with fields", ""},
};

static void merges_strategically(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(merges); i++) {
        _cleanup_(freep) char *texts[3] = {0};
        const char *const from[] = {merges[i].original, merges[i].patch, merges[i].result};
        struct text where = {0};
        struct error err = {0};
        json_t *json[3] = {0}, *is = NULL;
        int result;

        for (int k = 0; k < 3 && from[k]; k++) {
            texts[k] = xstrdup(from[k]);
            for (char *p = texts[k]; *p; p++)
                *p = *p == '\'' ? '"' : *p;
            json[k] = json_of(texts[k]);
        }
        result = strategic_merge(json[0], json[1], &is, &where, &err);
        if (json[2] && (result < 0 || !json_equal(is, json[2])))
            fail_msg("%s + %s: %s", merges[i].original, merges[i].patch, err.message);
        if (!json[2]) {
            if (result == 0 || !strstr(err.message, merges[i].why))
                fail_msg("%s + %s: '%s'", merges[i].original, merges[i].patch, err.message);
            assert_string_equal(text_str(&where), merges[i].where);
            assert_int_equal(err.kind, ERROR_USAGE);
        }
        json_decref(is);
        for (int k = 0; k < 3; k++) {
            json_decref(json[k]);
            free(k ? take_ptr(texts[k]) : NULL);
        }
        text_free(&where);
    }
}

/* ---- the folder ---- */

static void put(struct host *host, const char *name, const char *text) {
    _cleanup_(freep) char *path = xasprintf(FOLDER "\\%s", name);

    assert_int_equal(host_write(host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

/* Reads the folder and applies it; *ret NULL and an error when that is refused. */
static void play(struct host *host, const json_t *config, json_t **ret, struct text_list *warnings,
                 struct text_list *applied, struct error *err) {
    struct patches patches = {0};

    *ret = NULL;
    if (patches_read(host, FOLDER, &patches, err) < 0)
        return;
    (void)patches_apply(&patches, config, ret, applied, err);
    for (size_t i = 0; warnings && i < patches.warnings.count; i++)
        text_list_add(warnings, patches.warnings.items[i]);
    patches_free(&patches);
}

static void applies_in_order_of_names(void **state) {
    struct host *host = host_memory_new();
    _cleanup_json_ json_t *config = json_of(CONFIG ",\"maxPods\":1}"), *is = NULL;
    struct text_list warnings = {0}, applied = {0};
    struct error err = {0};

    (void)state;
    put(host, "kubeletconfiguration1.yaml", "maxPods: 10\n---\nmaxPods: 11\n---\n# nothing\n");
    put(host, "kubeletconfiguration0+merge.json", "{\"maxPods\": 5, \"port\": 7}");
    put(host, "kubeletconfiguration2+json.yaml",
        "- {op: test, path: /maxPods, value: 12}\n- {op: remove, path: /port}\n");
    put(host, "kubeletconfiguration1.z\\kubeletconfiguration.yaml", "maxPods: 12\n");
    put(host, "kubelet-notes.txt", "x");
    put(host, "kube-apiserver.yaml", "not: [for, us]");
    put(host, "kubeletconfiguration9.yaml", "");
    play(host, config, &is, &warnings, &applied, &err);
    if (!is)
        fail_msg("%s", err.message);
    assert_int_equal(json_number_at(is, "maxPods", 0), 12);
    assert_null(json_at(is, "port"));
    assert_int_equal(applied.count, 5);
    assert_string_equal(applied.items[0], FOLDER "\\kubeletconfiguration0+merge.json (merge)");
    assert_string_equal(applied.items[4], FOLDER "\\kubeletconfiguration2+json.yaml (json)");
    assert_int_equal(warnings.count, 2);
    assert_non_null(strstr(warnings.items[0], "ignoring patch file"));
    assert_non_null(strstr(warnings.items[1], "kubeletconfiguration9.yaml' is empty"));
    text_list_free(&warnings);
    text_list_free(&applied);
    host_free(host);
}

static void refuses_with_file_and_line(void **state) {
    static const struct {
        const char *name, *text, *why;
    } rows[] = {
        {"kubeletconfiguration.yaml", "a: 1\nb: [\n", "kubeletconfiguration.yaml: line 3 column"},
        {"kubeletconfiguration.yaml", "a: 1\na: 2\n", "line 2"},
        {"kubeletconfiguration.yaml", "a: 1\n---\n- b\n", "line 3: a strategic patch is an object"},
        {"kubeletconfiguration+merge.yaml", "\njust text\n", "line 2: a merge patch is an object"},
        {"kubeletconfiguration+json.yaml", "op: add\n", "line 1: a json patch is a list"},
        {"kubeletconfiguration+json.yaml",
         "- {op: add, path: /a, value: 1}\n- op: test\n  path: /a\n  value: 2\n",
         "kubeletconfiguration+json.yaml: line 2: operation 2 (test): path \"/a\""},
        {"kubeletconfiguration.yaml", "a: 1\nlogging:\n  options:\n    $patch: merge\n",
         "line 4: /logging/options/$patch: must be"},
        {"etcd.yaml", "a: [1\n", "etcd.yaml: line 2 column"},
        {"kubeletconfiguration.yaml", "a: 1\n---\n$patch: delete\n",
         "line 3: the patched document is no longer a KubeletConfiguration"},
        {"kubeletconfiguration+merge.yaml", "kind: Pod\n", "line 1: the patched document"},
        {"kubeletconfiguration+x.yaml", "a: 1\n", "'kubeletconfiguration+x.yaml'"},
        {"kubeletconfiguration.yaml", "a: &x 1\nb: *x\n", "line 1"},
        {"kubeletconfiguration.yaml", "a: \xff\n", "kubeletconfiguration.yaml: "},
    };
    struct error err = {0};
    struct patches patches = {0};
    struct host *none = host_memory_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct host *host = host_memory_new();
        _cleanup_json_ json_t *config = json_of(CONFIG ",\"evictionHard\":{\"x\":\"1\"},"
                                                       "\"logging\":{\"options\":{}}}"),
                              *is = NULL;

        error_clear(&err);
        put(host, rows[i].name, rows[i].text);
        play(host, config, &is, NULL, NULL, &err);
        if (is || !strstr(err.message, rows[i].why) || err.kind != ERROR_USAGE)
            fail_msg("%s: '%s'", rows[i].text, err.message);
        host_free(host);
    }
    assert_int_equal(patches_read(none, FOLDER, &patches, &err), -1);
    assert_string_equal(err.message, "patches folder '" FOLDER "': no such folder");
    assert_int_equal(host_write(none, FOLDER, "x", 1, HOST_PUBLIC, NULL), 0);
    assert_int_equal(patches_read(none, FOLDER, &patches, &err), -1);
    host_free(none);
}

static void has_bounds(void **state) {
    struct host *host = host_memory_new();
    struct patches patches = {0};
    struct error err = {0};

    (void)state;
    put(host, "1\\2\\3\\4\\5\\6\\7\\8\\kubeletconfiguration.yaml", "a: 1");
    assert_int_equal(patches_read(host, FOLDER, &patches, &err), -1);
    assert_non_null(strstr(err.message, "more than 8 levels"));
    assert_int_equal(host_remove_tree(host, FOLDER, NULL), 0);
    for (int i = 0; i <= PATCH_FILES_MAX; i++) {
        char name[64];

        assert_int_equal(text_format(name, sizeof name, "etcd%d.yaml", i), 0);
        put(host, name, "");
    }
    assert_int_equal(patches_read(host, FOLDER, &patches, &err), -1);
    assert_non_null(strstr(err.message, "more than 1000 files"));
    assert_int_equal(host_remove_tree(host, FOLDER, NULL), 0);
    for (int count = PATCHES_MAX; count <= PATCHES_MAX + 1; count++) {
        _cleanup_(text_free) struct text text = {0};

        for (int i = 0; i < count; i++)
            text_add(&text, "---\na: 1\n");
        put(host, "kubeletconfiguration.yaml", text_str(&text));
        assert_int_equal(patches_read(host, FOLDER, &patches, &err), count > PATCHES_MAX ? -1 : 0);
        patches_free(&patches);
    }
    assert_string_equal(err.message,
                        "C:\\patches\\kubeletconfiguration.yaml: more than 1000 patches");
    assert_int_equal(host_remove_tree(host, FOLDER, NULL), 0);
    for (int count = 1; count <= 3; count++) {
        _cleanup_(freep) char *text = xasprintf("#%*s\na: 1\n", PATCH_TEXTS_MAX / 2 - 8, "");
        char name[64];

        assert_int_equal(text_format(name, sizeof name, "kubeletconfiguration%d.yaml", count), 0);
        put(host, name, text);
        assert_int_equal(patches_read(host, FOLDER, &patches, &err), count > 2 ? -1 : 0);
        patches_free(&patches);
    }
    assert_non_null(strstr(err.message, "more than 1 MiB of patches"));
    host_free(host);
}

/* ---- the table that kubeadm is judged by too ---- */

static json_t *read_table(void) {
    FILE *file = fopen(TABLE, "rb");
    struct text text = {0};
    char buffer[4096];
    json_t *table;
    size_t n;

    assert_non_null(file);
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0)
        text_add_bytes(&text, buffer, n);
    fclose(file);
    table = json_of(text_str(&text));
    text_free(&text);
    return table;
}

static void check_row(const json_t *row) {
    struct host *host = host_memory_new();
    const char *name = json_text_at(row, "name"), *refused = json_text_at(row, "refused");
    _cleanup_json_ json_t *is = NULL;
    struct error err = {0};
    json_t *value;
    const char *key;

    json_object_foreach(json_object_get(row, "patches"), key, value)
        put(host, key, json_string_value(value));
    play(host, json_object_get(row, "config"), &is, NULL, NULL, &err);
    if (refused ? is || !strstr(err.message, refused) : !is)
        fail_msg("%s: '%s'", name, err.message);
    json_object_foreach(json_object_get(row, "expect"), key, value) {
        /* null: it is not there */
        _cleanup_json_ json_t *patch =
            json_pack("[{s:s, s:s, s:O}]", "op", json_is_null(value) ? "remove" : "test", "path",
                      key, "value", value);
        json_t *patched = NULL;

        if ((json_patch_apply(is, patch, &patched, NULL, NULL) == 0) == json_is_null(value))
            fail_msg("%s: %s", name, key);
        json_decref(patched);
    }
    host_free(host);
}

static void agrees_with_the_table(void **state) {
    _cleanup_json_ json_t *table = read_table();
    json_t *row;
    size_t i;

    (void)state;
    assert_true(json_array_size(table) > 20);
    json_array_foreach(table, i, row) check_row(row);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_file_names),
        cmocka_unit_test(merges_strategically),
        cmocka_unit_test(applies_in_order_of_names),
        cmocka_unit_test(refuses_with_file_and_line),
        cmocka_unit_test(has_bounds),
        cmocka_unit_test(agrees_with_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
