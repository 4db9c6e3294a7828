/* Secrets of many kinds in each place that a collection reads, in each encoding: none of them is in
 * the archive, and what a reader needs still is. */
#include "tests/scene/program_scene.h"

#include "base/redact.h"
#include "base/text.h"
#include "diag/cluster/cluster.h"
#include "diag/collection/collection.h"
#include "netsetup/netsetup.h"
#include "services/artifacts/bundle_archive.h"
#include "services/containerd_settings.h"
#include "services/runtime_files.h"
#include "services/service_table.h"

enum { PART_MAX = 16 * 1024 * 1024 };

/* A line, and what of it nobody may read. */
static const struct {
    const char *line, *secret;
} planted[] = {
    {"winjoin join 10.0.0.1:6443 --token abcdef.s3cr3t00q9z2w5x8", "s3cr3t00q9z2w5x8"},
    {"AWS_SECRET_ACCESS_KEY=s3cr3t01/wJalrXUtnFEMI+K7MDENG", "s3cr3t01"},
    {"API_KEY=s3cr3t02", "s3cr3t02"},
    {"Authorization: Basic czNjcjN0MDM6aHVudGVyMg==", "czNjcjN0MDM6"},
    {"Proxy-Authorization: Basic czNjcjN0MDQ6aHVudGVyMg==", "czNjcjN0MDQ6"},
    {"  Authorization = [\"Basic czNjcjN0MDU6aHVudGVyMg==\"]", "czNjcjN0MDU6"},
    {"sent Basic czNjcjN0MDY6aHVudGVyMg== to the registry", "czNjcjN0MDY6"},
    {"Authorization: Bearer s3cr3t07", "s3cr3t07"},
    {"authorization: s3cr3t08", "s3cr3t08"},
    {"Server=db;Uid=sa;Pwd=s3cr3t09;Encrypt=yes", "s3cr3t09"},
    {"AccountName=x;AccountKey=s3cr3t10/abc+def==;EndpointSuffix=core", "s3cr3t10"},
    {"Server=tcp:db,1433;User ID=sa;Password=s3cr3t11;", "s3cr3t11"},
    {"Endpoint=sb://x.y/;SharedAccessKeyName=Root;SharedAccessKey=s3cr3t12=", "s3cr3t12"},
    {"https://x.blob.local/c?sv=2024-01-01&sig=s3cr3t13%2Babc%3D&se=1", "s3cr3t13"},
    {"https://x.blob.local/c?sv=1\\u0026sig=s3cr3t14", "s3cr3t14"},
    {"docker login --username u --password s3cr3t15", "s3cr3t15"},
    {"x.exe --token s3cr3t16 y", "s3cr3t16"},
    {"x.exe -password s3cr3t17", "s3cr3t17"},
    {"\"args\":[\"--client-secret\",\"s3cr3t18\"]", "s3cr3t18"},
    {"- --api-token\n- s3cr3t19", "s3cr3t19"},
    {"x.exe --password \"s3cr3t20 with blanks\"", "s3cr3t20"},
    {".dockerconfigjson: eyJhdXRocyI6eyJzM2NyM3QyMSI6e319fQ==", "hdXRocyI6eyJzM2NyM3QyMSI6"},
    {"data eyJhdXRocyI6eyJzM2NyM3QyMiI6e319fQ", "hdXRocyI6eyJzM2NyM3QyMiI6"},
    {"clone with ghp_s3cr3t23abcdefghijklmnopqrstuv", "s3cr3t23"},
    {"clone with gho_s3cr3t24abcdefghijklmnopqrstuv", "s3cr3t24"},
    {"glpat-s3cr3t25-abcdefghij", "s3cr3t25"},
    {"github_pat_s3cr3t26abcdefghijklmn", "s3cr3t26"},
    {"key AKIAS3CR3T27ABCDEFGH used", "S3CR3T27"},
    {"key ASIAS3CR3T28ABCDEFGH used", "S3CR3T28"},
    {"slack xoxb-29-s3cr3t29-abcdefghijkl", "s3cr3t29"},
    {"connectionString=s3cr3t30;more-s3cr3t30", "s3cr3t30"},
    {"secretKey=s3cr3t31", "s3cr3t31"},
    {"passcode=s3cr3t32", "s3cr3t32"},
    {"HTTPS_PROXY=http://eve:s3cr3t33@proxy.local:3128", "s3cr3t33"},
    {"HTTPS_PROXY=eve:s3cr3t34@proxy.local:3128", "s3cr3t34"},
    {"http://eve:p@s3cr3t35@proxy.local:3128/", "s3cr3t35"},
    {"redis://:s3cr3t36@redis.local/0", "s3cr3t36"},
    {"-----BEGIN EC PRIVATE KEY-----\ns3cr3t37\n-----END EC PRIVATE KEY-----", "s3cr3t37"},
    {"-----BEGIN OPENSSH PRIVATE KEY-----\ns3cr3t38\n-----END OPENSSH PRIVATE KEY-----",
     "s3cr3t38"},
    {"client-key-data: s3cr3t39==", "s3cr3t39"},
    {"x LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCnMzY3IzdDQwCg==", "IEtFWS0tLS0tCnMzY3IzdDQwCg"},
    {"{\"auths\":{\"r.local\":{\"auth\":\"s3cr3t41=\"}}}", "s3cr3t41"},
    {"identitytoken: s3cr3t42", "s3cr3t42"},
    {"X-Api-Key: s3cr3t43", "s3cr3t43"},
    {"X-Auth-Token: s3cr3t44", "s3cr3t44"},
    {"$env:DB_PASS = 's3cr3t45'", "s3cr3t45"},
    {"export DB_PASSWORD=s3cr3t46&s3cr3t46", "s3cr3t46"},
    {"password: correct horse s3cr3t47", "s3cr3t47"},
    {"  password: |\n    s3cr3t48 first\n    s3cr3t48 second\n  next: 1", "s3cr3t48"},
    {"- name: DB_PASSWORD\n  value: s3cr3t49", "s3cr3t49"},
    {"{\"name\": \"DB_CREDENTIAL\", \"value\": \"s3cr3t50\"}", "s3cr3t50"},
    {"<add key=\"AdminPassword\" value=\"s3cr3t51\" />", "s3cr3t51"},
    {"<Password>s3cr3t52</Password>", "s3cr3t52"},
    {"{\"kubeconfig\": \"{\\\"token\\\": \\\"s3cr3t53\\\"}\"}", "s3cr3t53"},
    {"token = \"s3cr3t54 \\\" s3cr3t54\"", "s3cr3t54"},
    {"GITHUB_TOKEN:s3cr3t55", "s3cr3t55"},
    {"  tokens:\n  - s3cr3t56\n  - s3cr3t56", "s3cr3t56"},
    {"{\"passwords\": [\"s3cr3t57\", \"b-s3cr3t57\"]}", "s3cr3t57"},
    {"azure.storage.accountKey=s3cr3t58", "s3cr3t58"},
    {"curl.exe -u eve:s3cr3t59 https://x", "s3cr3t59"},
    {"PGPASSWORD=s3cr3t60 psql", "s3cr3t60"},
    {"certificateKey: s3cr3t61", "s3cr3t61"},
    {"InstrumentationKey=s3cr3t62", "s3cr3t62"},
    {"Cookie: session=s3cr3t63", "s3cr3t63"},
    {"WINJOIN_TOKEN=abcdef.s3cr3t64q9z2w5x8", "s3cr3t64"},
    {"password = \"\"\"\ns3cr3t65\n\"\"\"", "s3cr3t65"},
    {"a eyJhbGciOi.eyJzM2NyM3Q2Ni.s3cr3t66", "s3cr3t66"},
    {"Digest: Authorization: Digest username=\"x\", response=s3cr3t67", "s3cr3t67"},
    {"bindPassword=\\\"s3cr3t68\\\"", "s3cr3t68"},
    {"q?next=%2Fx%26sig%3Ds3cr3t69", "s3cr3t69"},
};

/* What helps, and is no secret. */
static const char *const harmless[] = {
    "apiVersion: kubelet.config.k8s.io/v1beta1",
    "authentication:\n  anonymous:\n    enabled: false\n  webhook:\n    cacheTTL: 2m0s\n"
    "    enabled: true\n  x509:\n    clientCAFile: C:\\etc\\kubernetes\\pki\\ca.crt",
    "authorization:\n  mode: Webhook\n  webhook:\n    cacheAuthorizedTTL: 5m0s",
    "rotateCertificates: true",
    "tlsPrivateKeyFile: C:\\var\\lib\\kubelet\\pki\\kubelet.key",
    "tokenFile: C:\\var\\run\\token",
    "kubelet.exe --kubeconfig=C:\\etc\\kubernetes\\kubelet.conf --hostname-override=win-7k2",
    "kube-apiserver --authorization-mode=Node,RBAC --anonymous-auth=false",
    "kube-apiserver --tls-private-key-file /etc/kubernetes/pki/apiserver.key --v=2",
    "sigs.k8s.io/yaml: unknown field",
    "sig-windows: feature-gates=WinDSR=true",
    "keepalive: 30s, keepalive_timeout=75s",
    "author: Jane Doe, authority=kubernetes",
    "\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\"}]",
    "- key: node-role.kubernetes.io/control-plane",
    "topologyKey: kubernetes.io/hostname",
    "syncing item key=\"default/nginx-7d\" queue=\"endpoints\"",
    "the token expired at 10:15:02; a new token is needed",
    "Basic authentication is disabled for this user",
    "Bearer authentication failed for the request",
    "keywords: classic, level: Information",
    "imagePullSecrets:\n- name: regcred",
    "secretName: kube-proxy-cert",
    "serviceAccountToken:\n    expirationSeconds: 3607\n    path: token",
    "automountServiceAccountToken: true",
    "client-key: C:\\etc\\kubernetes\\node.key",
    "certificate-authority-data: Q0VSVA==",
    "https://10.0.0.1:6443/api/v1/nodes?limit=500&resourceVersion=0",
    "image: registry.local:5000/pause:3.10@sha256:0123456789abcdef",
    "--token-ttl 24h --bind-address 0.0.0.0",
    "-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----",
    "passed: 12, bypass: 3, compass=north",
    "Flag --token has been deprecated",
    "use --token-file FILE or --token -",
    "monkey=1 turkey=2 design=3 signal: 9",
    "authMode: Webhook, authType=tls",
    "publicKey: MFkwEwYHKoZIzj0CAQ",
    "NO_PROXY=10.0.0.0/8,.svc,registry.local",
    "HTTPS_PROXY=http://proxy.local:3128",
    "Password expires: no",
    "SSH_AUTH_SOCK=/tmp/ssh/agent.1",
    "tokens: 5 secretName: x token",
    "-u 1000:1000 --user 1000:1000",
};

/* ---- texts of each encoding ---- */

static char *utf16(const char *text, bool big_endian, bool marked, size_t *ret_len) {
    struct text t = {0};

    if (marked)
        text_add_bytes(&t, big_endian ? "\xfe\xff" : "\xff\xfe", 2);
    for (; *text; text++) {
        const char unit[] = {big_endian ? '\0' : *text, big_endian ? *text : '\0'};

        text_add_bytes(&t, unit, 2);
    }
    *ret_len = t.len;
    return text_take(&t);
}

static void put_wide(const char *path, const char *text, bool big_endian, bool marked) {
    size_t len;
    _cleanup_(freep) char *wide = utf16(text, big_endian, marked, &len);

    assert_int_equal(host_write(program->host, path, wide, len, HOST_PUBLIC, NULL), 0);
}

static char *all_lines(void) {
    struct text t = {0};

    for (size_t i = 0; i < ARRAY_SIZE(planted); i++)
        text_addf(&t, "%s\n", planted[i].line);
    for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
        text_addf(&t, "%s\n", harmless[i]);
    return text_take(&t);
}

/* ---- archives ---- */

static unsigned wrong; /* all that are, are told */

static void look_for_secrets(const char *name, const char *text) {
    for (size_t i = 0; i < ARRAY_SIZE(planted); i++) {
        const char *found = strstr(text, planted[i].secret);

        if (found && ++wrong)
            print_error("%s shows the secret of '%s': ...%.100s\n", name, planted[i].line,
                        found - text > 40 ? found - 40 : text);
    }
}

static void look_for_harmless(const char *name, const char *text) {
    for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
        if (!strstr(text, harmless[i]) && ++wrong)
            print_error("%s lacks '%s'\n", name, harmless[i]);
}

static int begin(void **state) {
    wrong = 0;
    return open_program(state);
}

static size_t assert_no_secret(const char *zip, size_t len) {
    _cleanup_(text_list_free) struct text_list lines = {0};
    _cleanup_(freep) char *index = NULL;
    size_t index_len, seen = 0;

    assert_int_equal(bundle_archive_read(zip, len, "index.txt", PART_MAX, &index, &index_len, NULL),
                     0);
    look_for_secrets("index.txt", index);
    text_list_split(&lines, index, '\n');
    for (size_t i = 0; i < lines.count; i++) {
        const char *line = lines.items[i];
        _cleanup_(freep) char *name =
            text_starts_with(line, "  ") ? xstrndup(line + 2, strcspn(line + 2, " ")) : NULL;
        _cleanup_(freep) char *text = NULL;
        size_t text_len;

        if (!name || bundle_archive_read(zip, len, name, PART_MAX, &text, &text_len, NULL) < 0)
            continue;
        assert_int_equal(strlen(text), text_len); /* UTF-16 has become readable */
        look_for_secrets(name, text);
        if (text_ends_with(name, ".json")) {
            _cleanup_json_ json_t *json = NULL;
            struct error err = {0};

            if (text_starts_with(name, "evidence/") &&
                json_read(text, text_len, name, &json, &err) < 0)
                fail_msg("%s", err.message);
        }
        seen++;
    }
    return seen;
}

static void assert_readable(const char *zip, size_t len, const char *name) {
    _cleanup_(freep) char *text = NULL;
    size_t text_len;

    assert_int_equal(bundle_archive_read(zip, len, name, PART_MAX, &text, &text_len, NULL), 0);
    look_for_harmless(name, text);
}

/* ---- tests ---- */

static void each_line_alone(void **state) {
    (void)state;
    assert_true(ARRAY_SIZE(planted) >= 60);
    for (size_t i = 0; i < ARRAY_SIZE(planted); i++) {
        _cleanup_(freep) char *text = xstrdup(planted[i].line), *once = NULL;

        assert_non_null(strstr(text, planted[i].secret));
        redact_secrets(text);
        look_for_secrets("a line", text);
        once = xstrdup(text);
        redact_secrets(text);
        assert_string_equal(text, once);
    }
    for (size_t i = 0; i < ARRAY_SIZE(harmless); i++) {
        _cleanup_(freep) char *text = xstrdup(harmless[i]);

        redact_secrets(text);
        if (!text_equal(text, harmless[i]) && ++wrong)
            print_error("'%s' becomes '%s'\n", harmless[i], text);
    }
    assert_int_equal(wrong, 0);
}

/* As a string of a document, and of the document that is a string of a document. Lines of YAML
 * there are found where the document is known (nothing_in_a_collection). */
static void each_line_in_json(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(planted); i++) {
        _cleanup_json_ json_t *json = json_pack("{s:s, s:s}", "log", planted[i].line, "z", "end");
        _cleanup_(freep) char *text = json_write(json), *outer_text = NULL;
        _cleanup_json_ json_t *outer = json_pack("{s:s, s:s}", "data", text, "z", "end");
        struct error err = {0};

        outer_text = json_write_pretty(outer);
        redact_secrets(text);
        redact_secrets(outer_text);
        if (!strchr(planted[i].line, '\n')) {
            look_for_secrets("JSON", text);
            look_for_secrets("JSON in JSON", outer_text);
        }
        for (int depth = 0; depth < 2; depth++) {
            _cleanup_json_ json_t *again = NULL;
            const char *written = depth ? outer_text : text;

            if (json_read(written, strlen(written), "again", &again, &err) < 0)
                fail_msg("%s: %s", err.message, written);
            assert_string_equal(json_text_at(again, "z"), "end");
        }
    }
    assert_int_equal(wrong, 0);
}

static json_t *evidence_make(const char *all) {
    json_t *list = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(planted); i++)
        json_array_append_new(list, json_pack("{s:s}", "Name", planted[i].line));
    json_array_append_new(list, json_pack("{s:s}", "Whole", all));
    return json_pack("{s:o, s:{s:s}}", "networks", list, "look", "log", all);
}

/* Each line that is one line is what a flow says. */
static void report_make(const char *all, struct diag_report *ret) {
    _cleanup_json_ json_t *evidence = evidence_make(all);

    *ret = (struct diag_report){.node = xstrdup("win-7k2"), .time = 1763800000};
    ret->evidence = json_incref(evidence);
    for (size_t i = 0; i < ARRAY_SIZE(planted); i++) {
        struct diag_cell cell = {.flow = &diag_flows[i % 9], .outcome = DIAG_FAIL};

        assert_int_equal(text_format(cell.reason, sizeof cell.reason, "%s", planted[i].line), 0);
        if (!strchr(planted[i].line, '\n'))
            array_add(ret->cells.items, ret->cells.count, cell);
    }
}

static void scene_make(const char *all) {
    host_memory_set_program(program->host, "netsh.exe", 0, all);
    host_memory_set_program(program->host, "wevtutil.exe", 0, all);
    host_memory_set_program(program->host, "ipconfig.exe", 1, all);
    put(CNI_CONF_DIR "\\10-winjoin.conf", all);
    put(CONTAINERD_CONFIG_PATH, all);
    put(SERVICE_SETTINGS_DIR "\\flanneld.json", all);
    put("C:\\var\\log\\kubelet\\kubelet.log", all);
    put_wide("C:\\var\\log\\kubelet\\wide.log", all, false, true);
    put("D:\\extra\\utf8.txt", all);
    put_wide("D:\\extra\\le-marked.txt", all, false, true);
    put_wide("D:\\extra\\be-marked.txt", all, true, true);
    put_wide("D:\\extra\\le.txt", all, false, false);
    put_wide("D:\\extra\\be.txt", all, true, false);
}

/* What is longer than is packed is cut anywhere, also within a character. */
static void put_long(const char *all) {
    struct text t = {0};

    while (t.len < COLLECTION_FILE_MAX)
        text_add(&t, "a line of the log that says little\n");
    text_add(&t, all);
    put_wide("D:\\extra\\long-le.txt", text_str(&t), false, true);
    put_wide("D:\\extra\\long-be.txt", text_str(&t), true, true);
    text_add(&t, all);
    text_free(&t);
}

static void nothing_in_a_collection(void **state) {
    static const char *const places[] = {"D:\\extra", NULL};
    static const char *const names[] = {"utf8", "le-marked", "be-marked", "le",
                                        "be",   "long-le",   "long-be"};
    const struct diag_collect_options options = {.places = places};
    _cleanup_(diag_report_free) struct diag_report report = {0};
    _cleanup_(freep) char *zip = NULL, *all = all_lines();
    struct error err = {0};
    size_t len = 0;

    (void)state;
    scene_make(all);
    put_long(all);
    report_make(all, &report);
    if (diag_collect(program->host, &report, &options, &zip, &len, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(assert_no_secret(zip, len) > 20);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        _cleanup_(freep) char *name = xasprintf("files/D/extra/%s.txt", names[i]);

        assert_readable(zip, len, name);
    }
    assert_readable(zip, len, "files/C/var/log/kubelet/kubelet.log");
    assert_readable(zip, len, "windows/system-events.txt");
    assert_int_equal(wrong, 0);
}

/* A text that is UTF-16 in part, as "echo x >> file" of PowerShell 5.1 leaves it. */
static void a_mixed_file(void **state) {
    struct text t = {0};
    size_t len;
    char *data;
    _cleanup_(freep) char *wide = utf16("token: s3cr3t-wide\r\n", false, false, &len);

    (void)state;
    for (size_t i = 0; i < 40; i++)
        text_add(&t, "a line of one byte a letter\n");
    text_add_bytes(&t, wide, len);
    len = t.len;
    data = text_take(&t);
    unicode_to_text(&data, &len);
    assert_int_equal(strlen(data), len);
    assert_non_null(strstr(data, "token: s3cr3t-wide"));
    redact_secrets(data);
    assert_null(strstr(data, "s3cr3t"));
    freep(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_line_alone, begin, close_program),
        cmocka_unit_test_setup_teardown(each_line_in_json, begin, close_program),
        cmocka_unit_test_setup_teardown(nothing_in_a_collection, begin, close_program),
        cmocka_unit_test(a_mixed_file),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
