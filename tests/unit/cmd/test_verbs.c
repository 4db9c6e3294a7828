/* Verbs one by one, on a host in memory: what each says, as text and as a document. */
#include "tests/scene/program_scene.h"

#include "tests/scene/certificate_vectors.h"
#include "join/kubelet/kubelet_files.h"
#include "services/artifacts/artifacts.h"

static void words(const char *line) {
    text_list_free(&program->words);
    text_list_split(&program->words, line, ' ');
}

static void assert_begins(const struct text *text, const char *start) {
    if (!text_starts_with(text_str(text), start))
        fail_msg("'%s' does not begin '%s'", start, text_str(text));
}

static void assert_result(const char *wanted) {
    _cleanup_(freep) char *text = program->result ? json_write(program->result) : xstrdup("");

    assert_string_equal(text, wanted);
}

static void assert_error(int result, const struct error *err, enum error_kind kind,
                         const char *message, const char *hint) {
    assert_int_equal(result, -1);
    assert_string_equal(err->message, message);
    assert_int_equal(err->kind, kind);
    assert_string_equal(err->hints[0], hint);
}

/* ---- certs, capabilities (status: test_record.c) ---- */

#define CERTIFICATE                                                                                \
    "{\"path\":\"C:\\\\var\\\\lib\\\\kubelet\\\\pki\\\\kubelet-client-current.pem\",\"subject\":"  \
    "\"CN=kubernetes\",\"notBefore\":\"2025-12-31T23:59:59Z\",\"notAfter\":\"2126-02-15T10:30:"    \
    "45Z\",\"daysLeft\":36245}"
static void certs(void **state) {
    struct error err;

    (void)state;
    assert_error(verb(verb_certs, &err), &err, ERROR_ABSENT,
                 "read '" KUBELET_CLIENT_CERTIFICATE_FILE "': this machine has no node certificate",
                 "winjoin join makes one");
    put(KUBELET_CLIENT_CERTIFICATE_FILE, CA_PEM);
    assert_int_equal(verb(verb_certs, &err), 0);
    assert_string_equal(text_str(&out),
                        "identity  CN=kubernetes, valid until " CA_NOT_AFTER ", 36245 days left\n");
    assert_result("{\"apiVersion\":\"winjoin.io/"
                  "v1alpha1\",\"kind\":\"NodeCertificates\",\"client\":" CERTIFICATE "}");
    text_list_add(&program->words, "renew"); /* a CA is no node's */
    assert_int_equal(verb(verb_certs, &err), -1);
    assert_string_equal(err.message, "read '" KUBELET_CLIENT_CERTIFICATE_FILE
                                     "': this machine has no node certificate");
    text_list_free(&program->words);
    put(KUBELET_CLIENT_CERTIFICATE_FILE, "no certificate");
    assert_int_equal(verb(verb_certs, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED); /* it is there, and cannot be read */
}

static void capabilities(void **state) {
    struct error err;

    (void)state;
    assert_int_equal(verb(verb_capabilities, &err), 0);
    assert_begins(&out, "HNS 13.2\n");
    assert_has(&out, "\n  yes  dsr                      HNS 13.2; supported since HNS ");
    assert_has(&out, "\n  no   tierAcl                  HNS 13.2; needs HNS 14.0\n");
    assert_string_equal(json_text_at(program->result, "kind"), "Capabilities");
    assert_string_equal(json_text_at(program->result, "hnsVersion"), "13.2");
    assert_int_equal(json_array_size(json_object_get(program->result, "features")), 14);
    assert_has(&out,
               "\n  no   hostNetwork              pods with hostNetwork: true (not supported on "
               "Windows): use HostProcess containers\n");
    assert_has(&out, "\n  ?    ipv6Overlay ");
    assert_has(&out, "\n  yes  sessionAffinity          Services with ");
    assert_has(&out, "\nKnown faults of Windows 10.0.20348.2340: none\n");
    assert_has(&out, "\\hns\\State\\EnableCompartmentNamespace = 1\n");
    assert_string_equal(json_text_at(program->result, "windows"), "10.0.20348.2340");
    assert_int_equal(json_array_size(json_object_get(program->result, "limits")), 16);
    assert_int_equal(json_array_size(json_object_get(program->result, "hostFixes")), 1);
    assert_has(&out, "\n  containerd   1.36             2.3.0 or newer, 2.2.0 or newer of 2.2: ");
    assert_int_equal(json_array_size(json_object_get(program->result, "versions")), 16);
    host_memory_fail(program->host, 1);
    assert_int_equal(verb(verb_capabilities, &err), -1);
    assert_int_equal(out.len, 0);
}

/* ---- reset ---- */

static void reset_asks(void **state) {
    static const struct {
        bool in, err, yes, dry;
        int result;
        const char *answer;
    } rows[] = {
        {false, false, false, false, -1, ""},   {true, false, false, false, -1, "y\n"},
        {false, true, false, false, -1, "y\n"}, {true, true, false, false, 0, "y\n"},
        {true, true, false, false, 0, "Yes\n"}, {true, true, false, false, -1, "n\n"},
        {true, true, false, false, -1, ""},     {false, false, true, false, 0, ""},
        {false, false, false, true, 0, ""},
    };
    int was = dup(STDIN_FILENO);
    struct error err;

    (void)state;
    (void)setvbuf(stdin, NULL, _IONBF, 0);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        FILE *in = tmpfile();
        int result;

        (void)fputs(rows[i].answer, in);
        (void)fflush(in);
        rewind(in);
        assert_true(dup2(fileno(in), STDIN_FILENO) >= 0);
        rewind(stdin);
        program->terminal =
            (struct terminal){.in_is_terminal = rows[i].in, .err_is_terminal = rows[i].err};
        program->options.yes = rows[i].yes;
        program->options.join.dry_run = rows[i].dry;
        result = verb(verb_reset, &err);
        (void)fclose(in);
        if (result != rows[i].result)
            fail_msg("row %zu: %d %s", i, result, err.message);
        assert_int_equal(has(&err_out, "Are you sure you want to proceed? [y/N]: "),
                         rows[i].in && rows[i].err);
        if (result == 0)
            assert_string_equal(text_str(&out),
                                "nothing to undo: winjoin did not change this machine\n");
        else if (rows[i].in && rows[i].err)
            assert_error(result, &err, ERROR_INTERRUPTED,
                         "reset was not confirmed; nothing was changed", "");
        else
            assert_error(result, &err, ERROR_USAGE, "confirm the reset: no terminal to ask on",
                         "use --force");
    }
    program->as_kubeadm = true; /* asks on whatever it reads from; this is at its end */
    program->options.yes = program->options.join.dry_run = false;
    assert_error(verb(verb_reset, &err), &err, ERROR_CONFLICT,
                 "reset was not confirmed; nothing was changed", "");
    assert_true(dup2(was, STDIN_FILENO) >= 0);
    close(was);
}

/* ---- version, completion, help ---- */

static void versions(void **state) {
    struct error err;

    (void)state;
    assert_int_equal(verb(verb_version, &err), 0);
    assert_begins(&out, "winjoin ");
    assert_string_equal(json_text_at(program->result, "kind"), "Version");
    assert_string_equal(json_text_at(program->result, "libraries.0.name"), "curl");
}

static void no_node_is_upgraded(void **state) {
    struct error err;

    (void)state;
    program->verb = verb_find(verbs, "upgrade");
    assert_error(verb(verb_upgrade, &err), &err, ERROR_USAGE,
                 "upgrade this machine: it has not joined a cluster",
                 "winjoin join makes it a node");
}

/* ---- config ---- */

static void config_calls(void **state) {
    static const struct {
        const char *words, *message, *hint;
    } rows[] = {
        {"validate", "the --config flag is mandatory", "winjoin config validate --config FILE"},
        {"migrate", "the --old-config flag is mandatory",
         "winjoin config migrate --old-config FILE"},
    };
    struct error err;

    (void)state;
    for (int empty = 0; empty < 2; empty++) {
        program->options.join.config = empty ? xstrdup("") : NULL;
        program->options.old_config = empty ? (char *)"" : NULL;
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
            words(rows[i].words);
            assert_error(verb(verb_config, &err), &err, ERROR_USAGE, rows[i].message, rows[i].hint);
        }
    }
    words("print join-defaults");
    assert_int_equal(verb(verb_config, &err), 0);
    assert_begins(&out, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n");
    assert_has(&out, "kind: NodeConfiguration\n");
}

#define JOIN                                                                                       \
    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n  "                  \
    "bootstrapToken:\n    apiServerEndpoint: 10.0.0.1:6443\n    token: abcdef.0123456789abcdef\n"  \
    "    unsafeSkipCAVerification: true\n"
#define NODE "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\nnetwork:\n  vni: 4097\n"

static void configure(const char *path) {
    free(program->options.join.config);
    program->options.join.config = xstrdup(path);
}

static void config_files(void **state) {
    struct error err;
    _cleanup_(freep) char *text = NULL;
    size_t len;

    (void)state;
    put("D:\\join.yaml", JOIN "---\n" NODE);
    put("D:\\node.yaml", NODE);
    put("D:\\bad.yaml", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n");
    words("validate");
    configure("D:\\join.yaml");
    assert_int_equal(verb(verb_config, &err), 0);
    assert_string_equal(text_str(&out), "ok\n");
    configure("D:\\node.yaml");
    assert_int_equal(verb(verb_config, &err), 0);
    assert_string_equal(text_str(&out), "ok\n");
    configure("D:\\bad.yaml");
    assert_int_equal(verb(verb_config, &err), -1);
    assert_string_equal(text_str(&out), "");
    configure("D:\\none.yml");
    assert_int_equal(verb(verb_config, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    words("migrate");
    program->options.old_config = (char *)"D:\\bad.yaml";
    assert_int_equal(verb(verb_config, &err), -1);
    program->options.old_config = (char *)"D:\\none.yml";
    assert_int_equal(verb(verb_config, &err), -1);
    program->options.old_config = (char *)"D:\\node.yaml";
    assert_int_equal(verb(verb_config, &err), 0);
    assert_string_equal(text_str(&out), NODE);
    program->options.old_config = (char *)"D:\\join.yaml";
    assert_int_equal(verb(verb_config, &err), 0);
    assert_has(&out, "  upgradeManifests: 5m0s\n---\n" NODE);
    put("D:\\alone.yaml", JOIN);
    program->options.old_config = (char *)"D:\\alone.yaml";
    assert_int_equal(verb(verb_config, &err), 0);
    assert_false(has(&out, "---"));
    assert_has(&out, "  upgradeManifests: 5m0s\n");
    program->options.old_config = (char *)"D:\\join.yaml";
    program->options.new_config = (char *)"D:\\new.yaml";
    assert_int_equal(verb(verb_config, &err), 0);
    assert_string_equal(text_str(&out), "");
    assert_int_equal(host_read(program->host, "D:\\new.yaml", 65536, &text, &len, &err), 0);
    assert_begins(&(struct text){.data = text},
                  "apiVersion: kubeadm.k8s.io/v1beta4\ncaCertPath: C:/etc/kubernetes/pki/ca.crt\n");
    assert_non_null(strstr(text, "  upgradeManifests: 5m0s\n---\n" NODE));
}

static void config_for_a_cluster(void **state) {
    struct error err;

    (void)state;
    words("cluster");
    assert_int_equal(verb(verb_config, &err), 0);
    assert_begins(&out, "apiVersion: v1\ndata:\n  NodeConfiguration: |\n    apiVersion: "
                        "winjoin.io/v1alpha1\n    kind: NodeConfiguration\nkind: ConfigMap\n");
    assert_false(has(&out, "namespace: kube-flannel"));
    assert_string_equal(json_text_at(program->result, "kind"), "List");
    assert_string_equal(json_text_at(program->result, "items.0.kind"), "ConfigMap");
    program->options.join.network_plugin = xstrdup("flannel");
    assert_int_equal(verb(verb_config, &err), 0);
    assert_has(&out, "    network:\n      plugin: flannel\n");
    assert_has(&out, "  - kube-flannel-cfg\n");
    put("D:\\node.yaml", NODE);
    configure("D:\\node.yaml");
    assert_int_equal(verb(verb_config, &err), 0);
    assert_has(&out, "      vni: 4097\n");
    put("D:\\node.yaml", "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\nartifacts: "
                         "{bundle: 'D:\\none.zip'}\n");
    words("validate");
    assert_error(verb(verb_config, &err), &err, ERROR_USAGE,
                 "bundle 'D:\\none.zip': no such file or folder", "");
    freep(&program->options.join.bundle);
    put("D:\\node.yaml", JOIN "patches: {directory: 'D:\\none'}\n");
    assert_error(verb(verb_config, &err), &err, ERROR_USAGE,
                 "patches folder 'D:\\none': no such folder", "");
    put("D:\\node.yaml", "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\nnetwork: 1\n");
    words("cluster");
    assert_int_equal(verb(verb_config, &err), -1);
    assert_int_equal(out.len, 0);
    configure("D:\\none.yml");
    assert_int_equal(verb(verb_config, &err), -1);
    freep(&program->options.join.config);
    program->options.kubeconfig = (char *)"D:\\none";
    assert_int_equal(verb(verb_config, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    put("D:\\k", "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster: {server: "
                 "'https://k', insecure-skip-tls-verify: true}\n"
                 "users:\n- name: u\n  user: {token: t}\ncontexts:\n- name: x\n  context: "
                 "{cluster: c, user: u}\ncurrent-context: x\n");
    program->options.kubeconfig = (char *)"D:\\k";
    assert_int_equal(verb(verb_config, &err), -1);
    assert_string_equal(text_str(&out), "");
}

/* ---- service, diag, preflight ---- */

static void services_that_cannot_run(void **state) {
    struct error err;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        words((const char *const[]){"", "run", "stop kubelet", "run kubelet x"}[i]);
        assert_error(verb(verb_service, &err), &err, ERROR_USAGE, "winjoin service run NAME", "");
    }
    words("run a.b");
    assert_error(verb(verb_service, &err), &err, ERROR_USAGE, "service name 'a.b': not allowed",
                 "");
    words("run flanneld");
    assert_int_equal(verb(verb_service, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_begins(&(struct text){.data = err.message}, "service 'flanneld': ");
}

/* A bundle whose programs were not tested together is told so, and is right all the same. */
static void versions_of_a_bundle(void **state) {
    static const char sum[] = "6f31d0b5f1ac2a2c5a3cf0fd0a4ec6d3f6ea6bfb4c9e1a0c0b4dbb6b3ac7d3c1";
    _cleanup_(freep) char *lock =
        xasprintf("{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":["
                  "{\"name\":\"kubelet\",\"version\":\"v1.37.1\",\"sha256\":\"%s\",\"size\":1,"
                  "\"path\":\"kubelet.exe\"},{\"name\":\"containerd\",\"version\":\"v2.1.4\","
                  "\"sha256\":\"%s\","
                  "\"size\":1,\"path\":\"containerd.exe\"}]}",
                  sum, sum);
    struct error err;

    (void)state;
    assert_int_equal(host_write(program->host, "C:\\b\\" ARTIFACT_LOCK_NAME, lock, strlen(lock),
                                HOST_PUBLIC, &err),
                     0);
    words("show C:\\b");
    assert_int_equal(verb(verb_bundle, &err), 0);
    assert_has(&err_out, "warning: containerd 2.1.4: use 2.4.0 or newer, 2.3.0 or newer of 2.3");
    assert_int_equal(json_array_size(json_object_get(program->result, "warnings")), 1);
}

static void a_diagnosis_before_the_join(void **state) {
    struct error err;
    _cleanup_json_ json_t *after = NULL;

    (void)state;
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(out.len, 0);
    after = host_memory_state(program->host);
    assert_int_equal(json_array_size(json_object_get(after, "events")), 1);
}

static void unknown_checks_are_named(void **state) {
    struct error err;

    (void)state;
    text_list_add(&program->options.join.ignore_preflight_errors, "Nonsense");
    assert_int_equal(verb(verb_preflight, &err), 0);
    assert_has(&err_out, "warning: ");
    assert_has(&err_out, "onsense");
    assert_int_equal(program->options.join.timeout, 30000);
    program->options.join.timeout = 1000;
    assert_int_equal(verb(verb_preflight, &err), 0);
    assert_int_equal(program->options.join.timeout, 1000);
}

/* The mode that was asked for has its limits, also where no plan could be made. */
static void limits_of_the_mode_that_was_asked_for(void **state) {
    struct error err;

    (void)state;
    (void)verb(verb_preflight, &err);
    assert_has(&out, "limits of Windows here: ");
    assert_null(strstr(text_str(&out), "ipv6Overlay"));
    program->options.join.network_mode = xstrdup("overlay");
    (void)verb(verb_preflight, &err);
    assert_has(&out, "ipv6Overlay");
}

int main(void) {
#define VERB_TEST(name) cmocka_unit_test_setup_teardown(name, open_program, close_program)
    const struct CMUnitTest tests[] = {
        VERB_TEST(limits_of_the_mode_that_was_asked_for),
        VERB_TEST(certs),
        VERB_TEST(capabilities),
        VERB_TEST(versions_of_a_bundle),
        VERB_TEST(reset_asks),
        VERB_TEST(versions),
        VERB_TEST(no_node_is_upgraded),
        VERB_TEST(config_calls),
        VERB_TEST(config_files),
        VERB_TEST(config_for_a_cluster),
        VERB_TEST(services_that_cannot_run),
        VERB_TEST(a_diagnosis_before_the_join),
        VERB_TEST(unknown_checks_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
