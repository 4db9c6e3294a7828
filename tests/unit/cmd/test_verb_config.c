/* winjoin config: files that are written. */
#include "tests/scene/program_scene.h"

#define JOIN                                                                                       \
    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n  "                  \
    "bootstrapToken:\n    apiServerEndpoint: 10.0.0.1:6443\n    token: abcdef.0123456789abcdef\n"  \
    "    unsafeSkipCAVerification: true\n"

/* The file may hold a token, and what is there may be somebody's. */
static void config_migrated_into_a_file(void **state) {
    static const struct {
        const char *name, *message;
    } refused[] = {
        {"D:\\etc", "--new-config: 'D:\\etc' is a folder"},
        {"D:\\", "--new-config: 'D:\\' is a folder"},
        {"D:\\etc\\link.yaml",
         "--new-config: 'D:\\etc\\link.yaml' is a symbolic link: name the file that it leads to"},
        {"D:\\ect\\new.yaml", "--new-config: the folder of 'D:\\ect\\new.yaml' does not exist"},
    };
    _cleanup_(freep) char *text = NULL;
    struct error err;
    size_t len;

    (void)state;
    put("D:\\etc\\old.yaml", JOIN);
    assert_int_equal(host_link(program->host, "D:\\etc\\link.yaml", "D:\\etc\\old.yaml", NULL), 0);
    text_list_add(&program->words, "migrate");
    program->options.old_config = (char *)"D:\\etc\\old.yaml";
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        program->options.new_config = (char *)refused[i].name;
        assert_int_equal(verb(verb_config, &err), -1);
        assert_string_equal(err.message, refused[i].message);
        assert_int_equal(err.kind, ERROR_USAGE);
    }
    assert_int_equal(host_file_type(program->host, "D:\\etc\\link.yaml"), HOST_LINK);
    assert_int_equal(host_file_type(program->host, "D:\\ect"), HOST_ABSENT);
    program->options.new_config = (char *)"D:\\etc\\old.yaml";
    assert_int_equal(verb(verb_config, &err), 0);
    assert_int_equal(host_read(program->host, "D:\\etc\\old.yaml", 65536, &text, &len, &err), 0);
    assert_non_null(strstr(text, "upgradeManifests: 5m0s"));
    assert_non_null(strstr(host_memory_log(program->host), "write D:\\etc\\old.yaml secret"));
}

#define NODE(name, pods, address)                                                                  \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{" pods                                        \
    "},\"status\":{\"addresses\":[{\"type\":"                                                      \
    "\"InternalIP\",\"address\":\"" address "\"}]}}"

static int answer_with_nodes(void *context, const struct http_request *request,
                             struct http_response *ret, struct error *err) {
    (void)context, (void)err;
    ret->status = strstr(request->url, "/api/v1/nodes") ? 200 : 404;
    ret->body =
        xstrdup("{\"items\":[" NODE("a", "\"podCIDR\":\"10.244.1.0/24\"", "10.0.0.1") "," NODE(
            "b", "\"podCIDR\":\"10.244.2.0/24\"", "10.0.0.2") "," NODE("new", "", "10.0.0.3") "]}");
    ret->body_len = strlen(ret->body);
    return 0;
}

#define KUBECONFIG                                                                                 \
    "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster: {server: 'https://k'}\n"       \
    "users:\n- name: u\n  user: {token: t}\ncontexts:\n- name: x\n  context: {cluster: c, "        \
    "user: u}\ncurrent-context: x\n"

/* As text, and as commands of a cloud, which need what a Node may lack. */
static void routes_between_the_nodes(void **state) {
    struct error err;

    (void)state;
    put("D:\\k", KUBECONFIG);
    program->options.kubeconfig = (char *)"D:\\k";
    text_list_add(&program->words, "routes");
    assert_int_equal(verb(verb_config, &err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
    http_free(program->http);
    program->http = http_memory_new(answer_with_nodes, NULL);
    if (verb(verb_config, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(text_str(&out), "10.244.1.0/24 via 10.0.0.1 (node a)\n"
                                        "10.244.2.0/24 via 10.0.0.2 (node b)\n");
    assert_has(&err_out, "warning: no route was printed: ");
    assert_false(has(&err_out, "providerID"));
    assert_string_equal(json_text_at(program->result, "kind"), "RouteList");
    assert_int_equal(json_array_size(json_object_get(program->result, "routes")), 2);
    assert_int_equal(json_array_size(json_object_get(program->result, "leftOut")), 1);
    program->options.output = (char *)"aws";
    program->options.route_table = (char *)"rtb-1";
    assert_int_equal(verb(verb_config, &err), 0);
    assert_has(&out, "INSTANCE_ID");
    assert_has(&err_out, "warning: some Nodes have no providerID");
}

static int answer_with_settings(void *context, const struct http_request *request,
                                struct http_response *ret, struct error *err) {
    static const char *const maps[][2] = {
        {"/kube-system/configmaps/kubelet-config",
         "{\"data\":{\"kubelet\":\"apiVersion: kubelet.config.k8s.io/v1beta1\\nkind: "
         "KubeletConfiguration\\n\"}}"},
        {"/kube-system/configmaps/kubeadm-config",
         "{\"data\":{\"ClusterConfiguration\":\"apiVersion: kubeadm.k8s.io/v1beta4\\nkind: "
         "ClusterConfiguration\\nkubernetesVersion: v1.37.1\\n\"}}"},
        {"/kube-flannel/configmaps/kube-flannel-cfg",
         "{\"data\":{\"net-conf.json\":\"{\\\"Network\\\":\\\"10.244.0.0/16\\\",\\\"Backend\\\":"
         "{\\\"Type\\\":\\\"vxlan\\\",\\\"VNI\\\":4096,\\\"Port\\\":4789}}\"}}"},
    };

    (void)context, (void)err;
    ret->status = 404;
    ret->body = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
        if (strstr(request->url, maps[i][0])) {
            ret->status = 200;
            ret->body = xstrdup(maps[i][1]);
        }
    ret->body = ret->body ? ret->body : xstrdup("{\"reason\":\"NotFound\"}");
    ret->body_len = strlen(ret->body);
    return 0;
}

/* Where a cluster can be asked, the manifest is for the network agent that it has. */
static void manifest_for_a_cluster(void **state) {
    struct error err;

    (void)state;
    put("D:\\k", KUBECONFIG);
    text_list_add(&program->words, "cluster");
    assert_int_equal(verb(verb_config, &err), 0);
    assert_false(has(&out, "network:"));
    program->options.kubeconfig = (char *)"D:\\k";
    http_free(program->http);
    program->http = http_memory_new(answer_with_settings, NULL);
    if (verb(verb_config, &err) < 0)
        fail_msg("%s", err.message);
    assert_has(&out, "plugin: flannel");
    assert_has(&out, "- kube-flannel-cfg");
    assert_false(has(&out, "namespace: kube-flannel")); /* there may be none */
}

/* A program that signs in, as kubectl runs it: `aws eks update-kubeconfig` and others write it. */
static bool signs_in(void *context, struct host *host, const struct host_process *process,
                     int *ret_code, struct text *ret_said, struct error *err) {
    (void)context, (void)host, (void)process, (void)err;
    *ret_code = 0;
    text_add(ret_said, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
                       "v1\",\"status\":{\"token\":\"signed-in\"}}");
    return true;
}

static int answer_signed_in(void *context, const struct http_request *request,
                            struct http_response *ret, struct error *err) {
    assert_string_equal(request->bearer_token, "signed-in");
    return strstr(request->url, "/api/v1/nodes") ? answer_with_nodes(context, request, ret, err)
                                                 : answer_with_settings(context, request, ret, err);
}

#define BY_PROGRAM                                                                                 \
    "clusters:\n- {name: c, cluster: {server: 'https://k'}}\nusers:\n- name: u\n  user:\n    "     \
    "exec: "                                                                                       \
    "{apiVersion: client.authentication.k8s.io/v1, command: /bin/aws}\n- {name: me, user: {as: "   \
    "root, token: t}}\ncontexts:\n- {name: x, context: {cluster: c, user: u}}\n- {name: other, "   \
    "context: {cluster: c, user: me}}\ncurrent-context: x\n"

/* --kubeconfig is the same for config as for diag: a plugin runs, what diag refuses is refused. */
static void kubeconfig_as_diag_reads_it(void **state) {
    static const char *const subcommands[] = {"cluster", "routes"};
    _cleanup_(freep) char *aws = terminal_full_path("/bin/aws");
    struct error err;

    (void)state;
    put("D:\\k", BY_PROGRAM);
    put(aws, "MZ");
    host_memory_on_run(program->host, signs_in, NULL);
    http_free(program->http);
    program->http = http_memory_new(answer_signed_in, NULL);
    program->options.kubeconfig = (char *)"D:\\k";
    for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++) {
        program->options.context = NULL;
        text_list_free(&program->words);
        text_list_add(&program->words, subcommands[i]);
        if (verb(verb_config, &err) < 0)
            fail_msg("%s: %s", subcommands[i], err.message);
        program->options.context = (char *)"other";
        assert_int_equal(verb(verb_config, &err), -1);
        assert_int_equal(err.kind, ERROR_UNSUPPORTED);
        assert_string_equal(err.message, "kubeconfig: impersonation (as) is not supported");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(config_migrated_into_a_file, open_program, close_program),
        cmocka_unit_test_setup_teardown(routes_between_the_nodes, open_program, close_program),
        cmocka_unit_test_setup_teardown(manifest_for_a_cluster, open_program, close_program),
        cmocka_unit_test_setup_teardown(kubeconfig_as_diag_reads_it, open_program, close_program),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
