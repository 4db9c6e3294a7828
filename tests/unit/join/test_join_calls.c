/* Calls of winjoin join that are refused before the join begins, and those that are only warned of.
 */
#include "tests/scene/program_scene.h"

static int open_calls(void **state) {
    int result = open_program(state);

    program->verb = verb_find(verbs, "join");
    return result;
}

#define JOIN                                                                                       \
    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n  "                  \
    "bootstrapToken:\n    apiServerEndpoint: 10.0.0.1:6443\n    token: abcdef.0123456789abcdef\n"  \
    "    unsafeSkipCAVerification: true\n"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define GOOD " --token abcdef.0123456789abcdef --discovery-token-unsafe-skip-ca-verification"

static void forget(void) {
    options_free(program->set);
    join_options_free(&program->options.join);
    text_list_free(&program->words);
    text_list_free(&program->flags);
    memset(&program->options, 0, sizeof program->options);
}

/* The words as from a shell, up to where the join would begin. */
static int called(const char *line, struct error *err) {
    _cleanup_(text_list_free) struct text_list given = {0};

    text_list_split(&given, line, ' ');
    forget();
    memset(program->set->given, 0, options_count(program->set) * sizeof *program->set->given);
    *err = (struct error){0};
    if (options_parse(program->set, (int)given.count - 1, given.items + 1, &program->words, err) <
        0)
        return -1;
    options_given(program->set, &program->flags);
    if (words_check(program, err) < 0)
        return -1;
    if (text_list_has(&given, "phase") || given.count == 1)
        return verb(verb_join, err);
    return verb(program_prepare_join, err);
}

static const struct {
    const char *words, *message, *hint;
} refused[] = {
    {"join a:1 b", "unexpected argument \"b\"", "winjoin join [ENDPOINT] [flags]"},
    {"join a:1 token", "unexpected argument \"token\"", "did you mean --token?"},
    {"join --token a:1 b c", "unexpected argument \"c\"",
     "is the flag before it missing its value, or a blank too many in a value?"},
    {"join a:1 --token abcdef.0123456789abcd ef --discovery-token-unsafe-skip-ca-verification",
     "the value of --token is cut in pieces, by the end of a line or a blank",
     "write it as one word, as kubeadm token create --print-join-command prints it"},
    {"join --token abcdef. 0123456789 abcdef a:1", "the value of --token is cut in pieces", ""},
    {"join a:1 --token abcdef.0123456789abcdef ef", "unexpected argument \"ef\"", ""},
    {"join a:1 --discovery-token-ca-cert-hash sha256: " HASH,
     "the value of --discovery-token-ca-cert-"
     "hash is cut in pieces, by the end of a line or a blank",
     ""},
    {"join a:1 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:" HASH
     " " HASH,
     "unexpected argument \"" HASH "\"", ""},
    {"join 10.0.0.10:6443--token abcdef.0123456789abcdef", "a blank is missing before --token",
     "write 10.0.0.10:6443 --token"},
    {"join a:1 --token abcdef.0123456789abcdef--discovery-token-ca-cert-hash sha256:" HASH,
     "a blank is missing before --discovery-token-ca-cert-hash",
     "it stands right behind the token"},
    {"join a:1 --discovery-token-ca-cert-hash sha256:" HASH "--node-name=x",
     "a blank is missing before --node-name", "write sha256:" HASH " --node-name"},
    {"join a:1 --tokenabcdef.0123456789abcdef", "unknown flag: --tokenabcdef.****************",
     "is a blank missing behind --token?"},
    {"join 10.0.0.10:64 43 --token abcdef.0123456789abcdef", "unexpected argument \"43\"",
     "write address and port as one word: 10.0.0.10:6443"},
    {"join 10.0.0.10 6443 --token abcdef.0123456789abcdef", "unexpected argument \"6443\"",
     "write address and port as one word: 10.0.0.10:6443"},
    {"join a:1 --discovery-token-unsafe-skip-ca-verification true", "unexpected argument \"true\"",
     "true and false stand behind an equals sign: --dry-run=true"},
    {"join --dry-run false a:1", "unexpected argument \"a:1\"",
     "true and false stand behind an equals sign: --dry-run=true"},
    {"join a:1 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:" HASH
     ";sha256:" HASH,
     "", "put a comma between two hashes, and no blank"},
    {"join a:1 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:3B:3B:3B", "",
     "that is the fingerprint of a certificate; "},
    {"join phas", "unknown command \"join phas\"", "did you mean winjoin join phase?"},
    {"join a:1 --control-plane",
     "--control-plane is not supported: a control plane does not run on Windows",
     "use the line for workers: kubeadm token create --print-join-command"},
    {"join a:1 --token a --token-file b", "use --token or --token-file, not both", ""},
    {"join a:1 --vmodule x", "invalid value \"x\" for --vmodule: not filename=N", ""},
    {"join a:1 --vmodule =1", "invalid value \"=1\" for --vmodule: not filename=N", ""},
    {"join a:1 --vmodule x=1,y=-1", "invalid value \"x=1,y=-1\" for --vmodule: not filename=N", ""},
    {"join --config D:\\none", "read the configuration: ", ""},
    {"join --config D:\\join --token x --patches y",
     "can not mix '--config' with arguments [patches token]", ""},
    {"join --config= --node-ip 1.2.3.4 --token x", "can not mix '--config' with arguments [token]",
     ""},
    {"join --token-file D:\\none", "read the token: ", ""},
    {"join", "no cluster given: an endpoint, --discovery-file or --config is missing",
     "winjoin join <ip>:6443 --token T "},
    {"join phase nothing", "", ""},
    {"join https://10.0.0.1:6443 --token abcdef.0123456789abcdef", "",
     "give only host and port: 10.0.0.1:6443"},
    {"join https://u:p@10.0.0.1:6443 --token abcdef.0123456789abcdef", "",
     "give only host and port: <ip>:6443"},
    {"join 10.0.0.1:6443/ --token abcdef.0123456789abcdef",
     "endpoint \"10.0.0.1:6443/\": it must be HOST:PORT and nothing more",
     "give only host and port: 10.0.0.1:6443"},
    {"join https://a.example/k8s/clusters/c --token abcdef.0123456789abcdef",
     "endpoint \"https://a.example/k8s/clusters/c\": it must be HOST:PORT",
     "give only host and port: a.example:6443"},
    {"join a:1 --cri-socket unix:///run/containerd/containerd.sock" GOOD, "--cri-socket \"unix:",
     "leave it out: winjoin's containerd listens at npipe:////./pipe/containerd-containerd"},
    {"join a:1 --ca-cert-hash sha256:" HASH, "unknown flag: --ca-cert-hash",
     "did you mean --discovery-token-ca-cert-hash?"},
    {"join 10.0.0.1 --token abcdef.0123456789abcdef", "", "give only host and port: 10.0.0.1:6443"},
    {"join 10.0.0.1:6443,10.0.0.2:6443 --token abcdef.0123456789abcdef", "",
     "give only host and port: 10.0.0.1:6443"},
    {"join 10.0.0.1:6443 --token abc", "",
     "a control-plane node prints the whole line: kubeadm token create --print-join-command"},
    {"join 10.0.0.10",
     "endpoint \"10.0.0.10\": missing port in address; --token is missing; "
     "--discovery-token-ca-cert-hash is missing",
     "give only host and port: 10.0.0.10:6443"},
    {"join a:1 --vxlan-port 99999" GOOD, "--vxlan-port 99999: must be between 1 and 65535", ""},
    {"join a:1 --pod-cidr 1.2.3.4" GOOD, "--pod-cidr \"1.2.3.4\": not a prefix like", ""},
    {"join a:1 --node-ip 1.2.3" GOOD, "--node-ip \"1.2.3\": not an IP address", ""},
    {"join a:1 --node-name My_Node" GOOD,
     "--node-name \"My_Node\": a node name has a-z, 0-9, '-' and '.' only",
     "a name like that: my-node"},
    {"join a:1 --ignore-preflight-errors all,Swap" GOOD,
     "--ignore-preflight-errors: don't specify individual checks", ""},
    {"join a:1 --kubernetes-version 1.37" GOOD,
     "--kubernetes-version \"1.37\": a Kubernetes version must be complete, like v1.37.1", ""},
    {"join a:1 --sandbox-image a:b:c" GOOD,
     "--sandbox-image \"a:b:c\": not an image with its tag, like registry.k8s.io/pause:3.10.1", ""},
    {"join --config https://u:p@x/join.yaml?token=1",
     "read the configuration: 'https://x/join.yaml?...' is a URL, not a file of this machine: it "
     "is "
     "not fetched",
     "download it, look at it, and give the file: Invoke-WebRequest "},
    {"join a:1 --mirror http://x" GOOD, "--mirror 'http://x': its server must be an https URL", ""},
    {"join a:1 --source-base http://x" GOOD, "--source-base 'http://x': its server must be an ",
     ""},
    {"join a:1 --register-with-taints a=b:Never" GOOD,
     "--register-with-taints 'a=b:Never': effect must be", ""},
    {"join a:1 --node-labels x.k8s.io/y=" GOOD,
     "--node-labels x.k8s.io/y=: a node is not allowed to set this label on itself",
     "an administrator can set it: kubectl label"},
    {"join a:1 --timeout 0" GOOD, "invalid value \"0\" for --timeout: must be more than 0", ""},
    {"join a:1 --verify fulll" GOOD, "invalid value \"fulll\" for --verify: use one of ",
     "did you mean full?"},
    {"join a:1 --network-mode overley" GOOD, "--network-mode: unknown network mode 'overley': use ",
     "did you mean overlay?"},
    {"join --config D:\\skip", "D:\\skip: line 8 column 13: skipPhases: ", ""},
    {"join --config D:\\ignore",
     "D:\\ignore: line 9 column 26: nodeRegistration.ignorePreflightErrors: ", ""},
    {"join --config D:\\endpoint",
     "D:\\endpoint: line 5 column 24: discovery.bootstrapToken.apiServerEndpoint: check the "
     "endpoint "
     "\"10.0.0.1:99999\": the port must be",
     ""},
};

static void calls_that_are_refused(void **state) {

    (void)state;
    program->options.progress = NULL;
    put("D:\\join", JOIN);
    put("D:\\skip", JOIN "skipPhases: [nothing]\n");
    put("D:\\ignore", JOIN "nodeRegistration:\n  ignorePreflightErrors: [all, Swap]\n");
    put("D:\\endpoint",
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n  "
        "bootstrapToken:\n    apiServerEndpoint: 10.0.0.1:99999\n    token: "
        "abcdef.0123456789abcdef\n    unsafeSkipCAVerification: true\n");
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        struct error err;

        if (called(refused[i].words, &err) != -1 || err.kind != ERROR_USAGE ||
            !text_starts_with(err.message, refused[i].message) ||
            !text_starts_with(err.hints[0], refused[i].hint))
            fail_msg("%s: '%s', '%s'", refused[i].words, err.message, err.hints[0]);
    }
    forget();
}

static void what_is_only_warned_of(void **state) {
    static const struct {
        const char *words, *warning;
    } rows[] = {
        {"join 10.0.0.10:6443" GOOD " --certificate-key x", "control-plane flags ("},
        {"join 10.0.0.10:6443" GOOD " --apiserver-bind-port 1", "control-plane flags ("},
        {"join 10.0.0.10:6443" GOOD " --apiserver-advertise-address 1", "control-plane flags ("},
        {"join 10.0.0.10:6443" GOOD " --vmodule x=1,y*=0", ""},
        {"join 10.0.0.10:6443" GOOD "", ""},
        {"join 10.0.0.10:6443 --config D:\\join",
         "the API server's address on the command line is ignored: the JoinConfiguration has it\n"},
    };

    (void)state;
    program->options.progress = NULL;
    put("D:\\join", JOIN);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err;

        if (called(rows[i].words, &err) < 0)
            fail_msg("%s: %s", rows[i].words, err.message);
        if (*rows[i].warning ? !has(&err_out, rows[i].warning) : err_out.len > 0)
            fail_msg("%s: '%s'", rows[i].words, text_str(&err_out));
    }
    forget();
}

/* kubeadm join's own flags, klog's among them, and those that it allows beside --config. */
static void flags_of_kubeadm_are_known(void **state) {
    static const char kubeadms[] =
        " apiserver-advertise-address apiserver-bind-port certificate-key control-plane "
        "cri-socket discovery-file discovery-token discovery-token-ca-cert-hash "
        "discovery-token-unsafe-skip-ca-verification dry-run+ ignore-preflight-errors+ node-name+ "
        "patches skip-phases+ tls-bootstrap-token token vmodule ";
    const struct option *o;
    size_t known = 0;

    (void)state;
    for (size_t i = 0; (o = options_at(program->set, i)); i++) {
        _cleanup_(freep) char *name =
            xasprintf(" %s%s ", o->name, o->flags & OPTION_WITH_CONFIG ? "+" : "");

        if (!(o->flags & OPTION_KUBEADM))
            continue;
        known++;
        if (!strstr(kubeadms, name))
            fail_msg("%sis not a flag of kubeadm join", name);
    }
    assert_int_equal(known, 17);
}

/* A NodeConfiguration fills what the flags leave open. */
static void a_file_stands_behind_the_flags(void **state) {
    struct error err;

    (void)state;
    program->options.progress = NULL;
    put("D:\\node",
        JOIN "---\napiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\nnetwork: {mode: "
             "l2bridge, name: mine}\n");
    if (called("join --config D:\\node --network-name yours", &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(program->options.join.network_mode, "l2bridge");
    assert_string_equal(program->options.join.network_name, "yours");
    assert_string_equal(program->options.join.endpoint, "10.0.0.1:6443");
    forget();
}

/* Where the call is clean, a file may not be: the error shows it. */
static void a_file_is_pasted_too(void **state) {
    struct error err = {0};
    char *argv[] = {(char[]){"winjoin"}, (char[]){"join"}};

    (void)state;
    (void)error_set(&err, ERROR_USAGE,
                    "D:\\a.yaml: line 1: name: \"\xe2\x80\x9c"
                    "a\"");
    words_name_pasted(2, argv, &err);
    assert_string_equal(err.hints[0],
                        "type \xe2\x80\x9c by hand: it was copied from a formatted page");
}

int main(void) {
#define CALLS_TEST(name) cmocka_unit_test_setup_teardown(name, open_calls, close_program)
    const struct CMUnitTest tests[] = {
        CALLS_TEST(calls_that_are_refused),     CALLS_TEST(what_is_only_warned_of),
        CALLS_TEST(flags_of_kubeadm_are_known), CALLS_TEST(a_file_stands_behind_the_flags),
        cmocka_unit_test(a_file_is_pasted_too),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
