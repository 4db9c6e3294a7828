/* What is right and wrong in a worker's JoinConfiguration, value by value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "join/configuration/join_configuration.h"
#include "join/configuration/kubelet_arguments.h"

#define TOKEN "abcdef.0123456789abcdef"
#define PIN "sha256:3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b"
#define FILE_WAY "discovery: {file: {kubeConfigPath: 'https://x'}}\n"
#define TOKEN_WAY(more)                                                                            \
    "discovery: {bootstrapToken: {token: " TOKEN ", caCertHashes: ['" PIN "'], " more "}}\n"
#define ENDPOINT(text) TOKEN_WAY("apiServerEndpoint: '" text "'")
#define PATH(text) "discovery: {file: {kubeConfigPath: '" text "'}}\n"
#define NODE(fields) FILE_WAY "nodeRegistration: {" fields "}\n"

/* `why` "" = taken. */
static const struct {
    const char *text, *why;
} rows[] = {
    {"a: b\n", "discovery: Invalid value: \"\": bootstrapToken or file must be set"},
    {"discovery: {bootstrapToken: {token: x}, file: {}}\n", "cannot both be set"},
    {ENDPOINT("10.0.0.1:6443"), ""},
    {ENDPOINT("api.test:https"), ""},
    {ENDPOINT("[fd00::1]:6443"), ""},
    {ENDPOINT("10.0.0.1"), "\"10.0.0.1\": missing port in address"},
    {ENDPOINT("[fd00::1]"), "missing port in address"},
    {ENDPOINT("fd00::1:6443"), "too many colons in address"},
    {ENDPOINT("[fd00::1:6443"), "too many colons in address"},
    {ENDPOINT("https://10.0.0.1:6443"), "too many colons in address"},
    {ENDPOINT("u:secret@a:b:1"), "\"a:b:1\": too many colons"},
    {TOKEN_WAY(""), "discovery.bootstrapToken.apiServerEndpoint: Required value"},
    {"discovery: {bootstrapToken: {token: " TOKEN ", apiServerEndpoint: 'a:1'}}\n",
     "discovery.bootstrapToken.caCertHashes: Required value"},
    {"discovery: {bootstrapToken: {token: " TOKEN ", apiServerEndpoint: 'a:1', "
     "unsafeSkipCAVerification: true}}\n",
     ""},
    {"discovery: {bootstrapToken: {token: " TOKEN ", apiServerEndpoint: 'a:1', "
     "caCertHashes: ['" PIN "', abc]}}\n",
     "caCertHashes[1]: Invalid value: \"abc\""},
    {PATH("https://x"), ""},
    {PATH("https://x:1/y?z#a"), ""},
    {PATH("HTTPS://x/y"), ""},
    {PATH("https://"), "not a valid HTTPS URL or a file on disk"},
    {PATH("https:///x"), "not a valid HTTPS URL"},
    {PATH("https://?x"), "not a valid HTTPS URL"},
    {PATH("https://#x"), "not a valid HTTPS URL"},
    {PATH("https://:1/x"), "not a valid HTTPS URL"},
    {PATH("https:x"), "not a valid HTTPS URL"},
    {PATH("http://x/y"), "the scheme must be https"},
    {PATH("ftps1://x/y"), "the scheme must be https"},
    {PATH("httpx:/y"), "the scheme must be https"},
    {PATH("C:/there.conf"), ""},
    {PATH("1x:/there.conf"), ""},
    {PATH(""), "not a valid HTTPS URL or a file on disk"},
    {"discovery: {file: {kubeConfigPath: 'https://x'}, tlsBootstrapToken: a}\n",
     "discovery.tlsBootstrapToken: Invalid value: \"<redacted>\""},
    {NODE("name: ' WIN-9.a '"), ""},
    {NODE("name: 'a_b'"), "nodeRegistration.name: Invalid value: \"a_b\": a node name has"},
    {NODE("criSocket: 'npipe:////./pipe/x'"), ""},
    {NODE("criSocket: '//./pipe/x'"), ""},
    {NODE("criSocket: ''"), ""},
    {NODE("criSocket: 'unix:///run/x'"), "only URL scheme \"npipe\" is supported, got \"unix\""},
    {NODE("criSocket: 'npipe:////./pipe/'"), "no pipe name"},
    {NODE("criSocket: 'npipe:x'"), "no pipe name"},
    {NODE("criSocket: 'npipe:////host/pipe/x'"), "no pipe name"},
    {NODE("criSocket: '\\\\.\\pipe/x'"), "no pipe name"},
    {NODE("criSocket: 'npipe:////./pipe/a b'"), "no pipe name"},
    {NODE("kubeletExtraArgs: [{name: v, value: '5'}, {name: node-ip}]"), ""},
    {NODE("kubeletExtraArgs: [{name: v}, {value: a}]"), "\"index 1\": argument has no name"},
    {NODE("kubeletExtraArgs: [{name: ''}]"), "argument has no name"},
    {NODE("kubeletExtraArgs: [{name: -v}]"), "an argument's name must not begin with dashes"},
    {NODE("kubeletExtraArgs: [{name: a=b}]"), "or contain '='"},
    {NODE("kubeletExtraArgs: [{name: hostname-override, value: WIN-1}]"), ""},
    {NODE("kubeletExtraArgs: [{name: hostname-override, value: a_b}]"), "a node name has"},
    {NODE("kubeletExtraArgs: [{name: hostname-override}]"), "a node name has"},
    {NODE("kubeletExtraArgs: [{name: node-ip, value: '10.0.0.1,fd00::1'}]"), ""},
    {NODE("kubeletExtraArgs: [{name: v}, {name: node-ip, value: 10.0.0.1a}]"),
     "nodeRegistration.kubeletExtraArgs: Invalid value: \"node-ip\": --node-ip"},
    {NODE("kubeletExtraArgs: [{name: node-labels, value: 'a=b,node.kubernetes.io/x='}]"), ""},
    {NODE("kubeletExtraArgs: [{name: node-labels, value: 'a=b,x.k8s.io/y='}]"),
     "a node is not allowed to set this label on itself"},
    {NODE("kubeletExtraArgs: [{name: register-with-taints, value: 'os=windows:NoSchedule'}]"), ""},
    {NODE("kubeletExtraArgs: [{name: register-with-taints, value: 'os=windows:Never'}]"),
     "\"register-with-taints\": 'os=windows:Never': effect must be"},
    {NODE("kubeletExtraArgs: [{name: container-runtime-endpoint, value: 'unix:///run/c.sock'}]"),
     "is no pipe name of Windows"},
    {NODE("kubeletExtraArgs: [{name: container-runtime-endpoint, value: 'npipe:////./pipe/c'}]"),
     ""},
    {NODE("taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]"), ""},
    {NODE("taints: [{key: a, value: b, effect: NoSchedule}, {key: a, effect: NoSchedule}]"),
     "taints[1]: Invalid value: \"a:NoSchedule\": two taints have the same key"},
    {NODE("taints: [{key: a, value: b, effect: Never}]"), "taints[0]: Invalid value: \"a=b:Never"},
    {NODE("imagePullPolicy: Always"), ""},
    {NODE("imagePullPolicy: IfNotPresent"), ""},
    {NODE("imagePullPolicy: Never"), ""},
    {NODE("imagePullPolicy: never"), "imagePullPolicy: Invalid value: \"never\""},
    {FILE_WAY "controlPlane: {}\n", "a control plane does not run on Windows"},
    {FILE_WAY "controlPlane: null\n", ""},
    {FILE_WAY "caCertPath: 'C:/ca.crt'\n", ""},
    {FILE_WAY "caCertPath: 'z:\\ca.crt'\n", ""},
    {FILE_WAY "caCertPath: '\\ca.crt'\n", ""},
    {FILE_WAY "caCertPath: /ca.crt\n", ""},
    {FILE_WAY "caCertPath: 'C:ca.crt'\n", "must be an absolute path"},
    {FILE_WAY "caCertPath: '1:/ca.crt'\n", "must be an absolute path"},
    {FILE_WAY "caCertPath: 'C;/ca.crt'\n", "must be an absolute path"},
    {FILE_WAY "caCertPath: C:/ca.pem\n", "must end in .crt"},
    {FILE_WAY "timeouts: {discovery: 1ns, etcdAPICall: 0s}\n", ""},
    {FILE_WAY "timeouts: {discovery: 0s}\n", "timeouts.discovery: Invalid value: \"0s\""},
    {FILE_WAY "timeouts: {tlsBootstrap: 0s}\n", "timeouts.tlsBootstrap: Invalid"},
    {FILE_WAY "timeouts: {kubeletHealthCheck: 0s}\n", "timeouts.kubeletHealthCheck: Invalid"},
    {FILE_WAY "timeouts: {kubernetesAPICall: 0s}\n", "timeouts.kubernetesAPICall: Invalid"},
};

static struct yaml yaml; /* of the last one */

static json_t *json_of(const char *text) {
    struct error err = {0};

    yaml_forget(&yaml);
    if (yaml_read(text, strlen(text), "test", &yaml, &err) < 0)
        fail_msg("%s", err.message);
    return json_incref(json_array_get(yaml.documents, 0));
}

static void each_value_is_judged(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *configuration = json_of(rows[i].text);
        struct error err = {0};
        int result = join_configuration_check(configuration, &yaml, NULL, &err);

        if ((*rows[i].why != '\0') != (result < 0) || !strstr(err.message, rows[i].why) ||
            strstr(err.message, "secret") || (result == 0 && *err.message))
            fail_msg("%s: '%s'", rows[i].text, err.message);
        if (strstr(err.message, "caCertHashes") && !strstr(err.hints[0], "--print-join-command"))
            fail_msg("%s: no hint: '%s'", rows[i].text, err.hints[0]);
        if (result < 0 && err.kind != ERROR_USAGE)
            fail_msg("%s: %s", rows[i].text, error_kind_name(err.kind));
    }
}

/* The right form of what was given stands in the hint. */
static void an_endpoint_is_told_as_it_should_be(void **state) {
    static const struct {
        const char *text, *hint;
    } endpoints[] = {
        {ENDPOINT("10.0.0.1"), "give only host and port: 10.0.0.1:6443"},
        {ENDPOINT("api.test/x"), "give only host and port: api.test:6443"},
        {ENDPOINT("10.0.0.1.6443"), "give only host and port: 10.0.0.1:6443"},
        {ENDPOINT("10.0.0.1 8443"), "give only host and port: 10.0.0.1:8443"},
        {ENDPOINT("10.0.0.1;6443"), "give only host and port: 10.0.0.1:6443"},
        {ENDPOINT("api.test 6443"), "leave out the quotes, which make one word of the line"},
        {ENDPOINT("[fd00::1]"), "give only host and port: [fd00::1]:6443"},
        {ENDPOINT("fd00::1"), "give an IPv6 address in brackets: [fd00::1]:6443"},
        {ENDPOINT("fd00::1:6443"), "give an IPv6 address in brackets: [fd00::1]:6443"},
        {ENDPOINT("https://10.0.0.1:6443/"), "give only host and port: 10.0.0.1:6443"},
        {ENDPOINT("https://[fd00::1]"), "give only host and port: [fd00::1]:6443"},
        {ENDPOINT("u:secret@a:b:1"), "give only host and port: <ip>:6443"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(endpoints); i++) {
        _cleanup_json_ json_t *configuration = json_of(endpoints[i].text);
        struct error err = {0};

        assert_int_equal(join_configuration_check(configuration, &yaml, NULL, &err), -1);
        assert_string_equal(err.hints[0], endpoints[i].hint);
    }
}

/* No message grows without end. */
static void four_errors_are_enough(void **state) {
    struct text text = {0};
    _cleanup_json_ json_t *configuration = NULL;
    struct error err = {0};

    (void)state;
    text_add(&text, FILE_WAY "nodeRegistration:\n  kubeletExtraArgs:\n");
    for (int i = 0; i < 40; i++)
        text_add(&text, "  - {name: -}\n");
    configuration = json_of(text_str(&text));
    assert_int_equal(join_configuration_check(configuration, &yaml, NULL, &err), -1);
    assert_non_null(strstr(err.message, "test: [line 4 column 5: "));
    assert_non_null(strstr(err.message, "line 5 column 5: "));
    assert_null(strstr(err.message, "line 9"));
    assert_true(text_ends_with(err.message, " more]"));
    assert_true(strlen(err.message) < 480);
    text_free(&text);
}

/* What says nothing is left out, as Go's omitempty does, but for two; what is missing is filled in.
 */
static void defaults_are_kubeadms(void **state) {
    static const struct {
        const char *text, *path, *value; /* NULL: absent */
    } defaults[] = {
        {FILE_WAY "skipPhases: []\n", "skipPhases", NULL},
        {FILE_WAY "dryRun: false\n", "dryRun", NULL},
        {FILE_WAY "dryRun: true\n", "dryRun", "true"},
        {FILE_WAY "patches: {directory: ''}\n", "patches.directory", NULL},
        {FILE_WAY "controlPlane: null\n", "controlPlane", NULL},
        {FILE_WAY "skipPhases: [null, a]\n", "skipPhases", "[\"\",\"a\"]"},
        {NODE("taints: []"), "nodeRegistration.taints", "[]"},
        {FILE_WAY, "nodeRegistration.taints", "null"},
        {NODE("taints: [{key: a, value: '', effect: b}]"), "nodeRegistration.taints",
         "[{\"key\":\"a\",\"effect\":\"b\"}]"},
        {NODE("taints: [{key: a, timeAdded: '2026-11-22T10:00:00+02:00'}]"),
         "nodeRegistration.taints.0.timeAdded", "\"2026-11-22T08:00:00Z\""},
        {NODE("imagePullSerial: false"), "nodeRegistration.imagePullSerial", "false"},
        {FILE_WAY, "nodeRegistration.imagePullSerial", "true"},
        {NODE("imagePullPolicy: ''"), "nodeRegistration.imagePullPolicy", "\"IfNotPresent\""},
        {NODE("imagePullPolicy: Never"), "nodeRegistration.imagePullPolicy", "\"Never\""},
        {NODE("name: ' WIN-1 '"), "nodeRegistration.name", "\"win-1\""},
        {FILE_WAY, "nodeRegistration.name", NULL},
        {NODE("criSocket: //./pipe/x"), "nodeRegistration.criSocket", "\"npipe:////./pipe/x\""},
        {NODE("criSocket: 'npipe:////./pipe/x'"), "nodeRegistration.criSocket",
         "\"npipe:////./pipe/x\""},
        {NODE("kubeletExtraArgs: [{name: v}]"), "nodeRegistration.kubeletExtraArgs.0.value",
         "\"\""},
        {NODE("kubeletExtraArgs: [{name: v, value: a}]"),
         "nodeRegistration.kubeletExtraArgs.0.value", "\"a\""},
        {FILE_WAY "timeouts: {discovery: 90s}\n", "timeouts.discovery", "\"1m30s\""},
        {FILE_WAY, "timeouts.upgradeManifests", "\"5m0s\""},
        {FILE_WAY, "discovery.tlsBootstrapToken", NULL},
        {ENDPOINT("a:1"), "discovery.tlsBootstrapToken", "\"" TOKEN "\""},
        {PATH("file:///C:/x.conf"), "discovery.file.kubeConfigPath", "\"C:/x.conf\""},
        {PATH("HTTPS://x"), "discovery.file.kubeConfigPath", "\"HTTPS://x\""},
        {FILE_WAY "caCertPath: /x.crt\n", "caCertPath", "\"/x.crt\""},
        {FILE_WAY, "caCertPath", "\"C:/etc/kubernetes/pki/ca.crt\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(defaults); i++) {
        _cleanup_json_ json_t *configuration = json_of(defaults[i].text);
        _cleanup_(freep) char *found = NULL;
        const json_t *value;

        join_configuration_default(configuration);
        value = json_at(configuration, defaults[i].path);
        found = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
        if (defaults[i].value ? !text_equal(found, defaults[i].value) : found != NULL)
            fail_msg("%s: %s is %s", defaults[i].text, defaults[i].path, found ? found : "absent");
    }
}

static void odd_names_have_one_like_them(void **state) {
    static const char *const names[][2] = {
        {"My_Node", "my-node"},
        {" win 1! ", "win-1"},
        {"_a__b.c_.d-", "a-b.c-d"},
        {"kn\xc3\xb6ten", "kn-ten"},
        {"\xd0\xa1\xd0\x95\xd0\xa0\xd0\x92\xd0\x95\xd0\xa0"
         "1",
         NULL},
        {"_", NULL},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        _cleanup_(freep) char *near = join_node_name_near(names[i][0]);

        if (!text_equal(near, names[i][1]))
            fail_msg("%s: %s", names[i][0], near ? near : "none");
    }
}

static int free_marks(void **state) {
    (void)state;
    yaml_forget(&yaml);
    return 0;
}

/* Of a label or a taint. */
static bool is_value(const char *text) {
    return !node_taint_problem("key", text, "NoSchedule");
}

static void names_begin_and_end_with_letters_or_digits(void **state) {
    static const char ends[] = "azAZ09", odd[] = "`{@[/:-_.";
    char longest[65];

    (void)state;
    for (const char *c = ends; *c; c++)
        assert_true(is_value((char[]){*c, '-', '_', '.', *c, '\0'}) &&
                    is_value((char[]){*c, '\0'}));
    for (const char *c = odd; *c; c++)
        assert_false(is_value((char[]){*c, 'a', '\0'}) || is_value((char[]){'a', *c, '\0'}));
    for (const char *c = "`{@[/:"; *c; c++)
        assert_false(is_value((char[]){'a', *c, 'b', '\0'}));
    memset(longest, 'a', sizeof longest);
    longest[64] = '\0';
    assert_false(is_value(longest) || is_qualified_name("", 0));
    longest[63] = '\0';
    assert_true(is_value("") && is_value(longest));
    assert_true(is_qualified_name("gen9", 4) && is_qualified_name("a.test/b", 8));
    assert_false(is_qualified_name("/b", 2) || is_qualified_name("a.test/", 7) ||
                 is_qualified_name("a_b/c", 5) || is_qualified_name("a/b/c", 5));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value_is_judged),
        cmocka_unit_test(an_endpoint_is_told_as_it_should_be),
        cmocka_unit_test(four_errors_are_enough),
        cmocka_unit_test(defaults_are_kubeadms),
        cmocka_unit_test(odd_names_have_one_like_them),
        cmocka_unit_test(names_begin_and_end_with_letters_or_digits),
    };

    return cmocka_run_group_tests(tests, NULL, free_marks);
}
