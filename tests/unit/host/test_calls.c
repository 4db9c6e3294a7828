/* Right and wrong calls as a person types them: what is printed, and the exit code. */
#include "tests/scene/program_scene.h"

static const struct {
    const char *line;
    int code;
    const char *out, *err; /* parts; "" = nothing at all */
} calls[] = {
    {"version", 0, "winjoin", ""},
    {"--version", 0, "winjoin", ""},
    {"version -o json", 0, "{\n", ""},
    {"version -o yaml", 0, ": ", ""},
    {"", 0, "join", ""},
    {"help status", 0, "winjoin status", ""},
    {"status --help", 0, "winjoin status", ""},
    {"status /?", 0, "winjoin status", ""},
    {"-? status", 0, "winjoin status", ""},
    {"help -o man", 3, "", "invalid value \"man\" for --output"},
    {"jion", 3, "", "error: unknown command"},
    {"jion", 3, "", "join"},
    {"-v 3 version", 0, "winjoin", ""},
    {"-o json version", 0, "{\n", ""},
    {"--output=json version", 0, "{\n", ""},
    {"--output json jion", 3, "\"message\": \"unknown command", "did you mean winjoin join?"},
    {"status --rotfs x -o json", 3, "\"message\": \"unknown flag: --rotfs\"", "error: "},
    {"status --rotfs -o yaml", 3, "  message: 'unknown flag: --rotfs'", "error: "},
    {"--token x join", 3, "", "hint: put a command's own flags after it"},
    {"jion -o json", 3, "\"kind\": \"usage\"", "error: unknown command"},
    {"join a:1 b -o json", 3, "\"kind\": \"usage\"", "error: unexpected"},
    {"join --vni x --dsr y -o json", 3, "for --vni", "for --vni"},
    /* an unknown letter: a hint only where the word is near a flag's name */
    {"status -zzz", 3, "",
     "error: unknown shorthand flag: 'z' in -zzz\nhint: winjoin status "
     "--help lists the flags\n"},
    {"status -output json", 3, "", "invalid value \"utput\" for --output"},
    {"status -rootfs x", 3, "", "hint: did you mean --rootfs?\n"},
    {"status -rotfs x", 3, "", "hint: did you mean --rootfs?\n"},
    {"status --rotfs x", 3, "", "hint: did you mean --rootfs?\n"},
    {"status --output", 3, "", "flag needs an argument: --output"},
    {"status -o man", 3, "", "invalid value \"man\" for --output"},
    {"status -o junit", 3, "", "invalid value \"junit\" for --output"},
    {"status -o kubeconfig", 3, "", "invalid value \"kubeconfig\" for --output"},
    {"diag -o man", 3, "", "invalid value \"man\" for --output"},
    {"diag -o kubeconfig", 3, "", "invalid value \"kubeconfig\" for --output"},
    {"discover -o html", 3, "", "invalid value \"html\" for --output"},
    {"help -o html", 3, "", "invalid value \"html\" for --output"},
    {"version --log-file no/such/folder/log", 3, "", "open log file 'no/such/folder/log'"},
    {"diag --kubeconfig k", 3, "", "--kubeconfig: "},
    {"diag --kubeconfig=", 3, "", "--kubeconfig: it is empty\nhint: leave --kubeconfig out for "},
    {"diag --nodes=", 3, "", "invalid value \"\" for --nodes: it is empty\n"},
    {"diag --nodes a", 3, "", "hint: use --kubeconfig FILE\n"},
    {"join --node-labels= --register-with-taints= --bundle=", 3, "",
     "invalid value \"\" for --bundle: it is empty\n"},
    {"diag --replay C:\\none.json -o html", 3, "", "error: --replay C:\\none.json: "},
    {"discover --discovery-file /none.conf", 3, "", "none.conf\": not a valid HTTPS URL"},
    {"discover --discovery-file D:\\none.conf", 3, "",
     "error: --discovery-file \"D:\\none.conf\": not a valid HTTPS URL or a file on disk"},
    {"discover --discovery-file https://127.0.0.1:1/d.conf --progress json", 1, "",
     "\"message\":\"fetching https://127.0.0.1:1/d.conf\""},
    {"bundle create", 3, "",
     "error: DIR is missing: winjoin bundle create DIR FILE.zip [flags]\n"
     "hint: or winjoin bundle create --kubernetes-version VERSION FILE.zip [flags]\n"},
    {"join --vni 99999999999999999999", 3, "", "for --vni: too large\n"},
    {"join --vni ++1", 3, "", "for --vni: not a number\n"},
    {"join --vni=", 3, "", "for --vni: not a number\n"},
    {"join --mode overlay", 3, "", "unknown flag: --mode\nhint: did you mean --network-mode?\n"},
    {"test", 3, "", "unknown command \"test\"\nhint: winjoin diag tests the pod network\n"},
    {"tset", 3, "", "unknown command \"tset\"\nhint: winjoin help lists the commands\n"},
    {"reste", 3, "", "hint: did you mean winjoin reset?\n"},
    {"uninstall", 3, "", "unknown command \"uninstall\"\nhint: winjoin reset undoes a join\n"},
    {"diagnose", 3, "", "hint: winjoin diag tests the pod network\n"},
    {"nodes", 3, "", "hint: winjoin status shows the state of this node\n"},
    {"update", 3, "", "hint: winjoin upgrade replaces the programs of this node with newer ones\n"},
    {"cleanup", 3, "", "hint: winjoin reset undoes a join\n"},
    {"token create", 3, "", "hint: run it on a control plane node: kubeadm token create --print-"},
    {"kubeadm join a:1 --token x", 3, "", "--token: it has no dot"},
    {"sudo kubeadm join a:1", 3, "", "--token is missing"},
    {"join kubelet", 3, "",
     "unexpected argument \"kubelet\"\nhint: did you mean winjoin join phase kubelet?\n"},
    {"join list", 3, "", "hint: did you mean winjoin join phase list?\n"},
    {"join kubelet-start", 3, "", "hint: did you mean winjoin join phase kubelet-start?\n"},
    {"phase kubelet", 3, "", "hint: winjoin join phase NAME runs one phase of a join\n"},
    {"help join foo", 3, "", "unknown command \"join foo\"\nhint: winjoin help join shows the "},
    {"bundle create --dsr on a b", 3, "", "hint: winjoin bundle create --help lists the flags\n"},
    {"-V", 3, "", "hint: did you mean -v?\nhint: winjoin help lists the commands, winjoin version"},
    {"init", 3, "", "hint: winjoin join makes this machine a node of a cluster\n"},
    {"reset --yes", 3, "", "unknown flag: --yes\nhint: did you mean --force?\n"},
    {"reset -y", 3, "", "'y' in -y\nhint: did you mean --force?\n"},
    {"status --yes", 3, "", "unknown flag: --yes\nhint: winjoin status --help"},
    {"diag --html x.html", 3, "", "unknown flag: --html\nhint: did you mean --output html?\n"},
    {"status --html x.html", 3, "", "unknown flag: --html\nhint: winjoin status --help"},
    {"upgrade v1.38", 3, "", "hint: did you mean --kubernetes-version v1.38?\n"},
    {"status v1.38", 3, "", "unexpected argument \"v1.38\"\nhint: winjoin status"},
    {"join 10.0.0.1:6443 /token x", 3, "", "\"/token\"\nhint: did you mean --token?\n"},
    {"-v", 3, "",
     "flag needs an argument: -v\nhint: write -v 0-5\n"
     "hint: winjoin help lists the commands, winjoin version shows the version\n"},
    {"join -v", 3, "", "flag needs an argument: -v\nhint: write -v 0-5\n"},
    {"status -vv", 3, "", "invalid value \"v\" for --v: not a number\nhint: write -v 0-5\n"},
    {"join a:1 --token", 3, "", "flag needs an argument: --token\nhint: write --token TOKEN\n"},
    {"status --progress", 3, "", "hint: write --progress auto|plain|json|none\n"},
    {"join /token x", 3, "", "\"/token\"\nhint: did you mean --token?\n"},
    {"join /token:abcdef.0123456789abcdef", 3, "", "\nhint: did you mean --token?\n"},
    {"logs /since 10m", 3, "", "\"/since\"\nhint: did you mean --since?\n"},
    {"status /o json", 3, "", "\"/o\"\nhint: did you mean -o?\n"},
    {"status --o json", 3, "", "unknown flag: --o\nhint: did you mean -o?\n"},
    {"join \xe2\x80\x9c"
     "10.0.0.1:6443\xe2\x80\x9d",
     3, "", "hint: type \xe2\x80\x9c by hand: it was copied from a formatted page\n"},
    {"join \xe2\x88\x92\xe2\x88\x92token x", 3, "",
     "hint: did you mean --token?\nhint: winjoin join [ENDPOINT] [flags]\n"
     "hint: type \xe2\x88\x92 by hand: it was copied from a formatted page\n"},
    {"join \xc2\xab"
     "10.0.0.1:6443\xc2\xbb",
     3, "", "hint: type \xc2\xab by hand: it was copied from a formatted page\n"},
    {"join \xe2\x80\xb9"
     "a:1 x",
     3, "", "hint: type \xe2\x80\xb9 by hand: it was copied from a formatted page\n"},
    {"join a:1\xc2\xa0--token", 3, "",
     "by hand: it was copied from a formatted page, with an invisible"},
    {"join --token\xe2\x80\x8b x", 3, "", "hint: type \"--token\\u200b\" again by hand: it was "},
    {"join a:1 --tok\xc2\xacn x", 3, "", "unknown flag: --tok\xc2\xacn\nhint: winjoin join --help"},
    {"join <ip>:6443 --token $TOKEN", 3, "", "hint: \"<ip>:6443\" is only a name: put its value"},
    {"join a:1 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash "
     "4105a48abe558407d7c533c13c0a1500f6ff6c687ccf7ebfb1b881307c7183db",
     3, "",
     "hint: write sha256:4105a48abe558407d7c533c13c0a1500f6ff6c687ccf7ebfb1b881307c7183db\n"},
    {"join a:1 --token $TOKEN", 3, "", "hint: \"$TOKEN\" is only a name: put its value there\n"},
    {"join a:1 --token=%TOKEN%", 3, "", "hint: \"%TOKEN%\" is only a name: put its value there\n"},
    {"join a:1 --token [token]", 3, "", "hint: \"[token]\" is only a name: put its value there\n"},
    {"join a:1 --token YOUR_TOKEN", 3, "", "hint: \"YOUR_TOKEN\" is only a name: put its value"},
    {"join a:1 --token xxxxxx.xxxxxxxxxxxxxxxx --discovery-token-ca-cert-hash sha256:xx", 3, "",
     "is only a name: put its value there\n"},
    {"join $(API):6443", 3, "", "hint: \"$(API):6443\" is only a name: put its value there\n"},
    {"join a:1 --token 'abcdef.0123456789abcdef'", 3, "",
     "hint: leave out the single quotes: cmd.exe passes them on\n"},
    {"join {{ip}}:6443", 3, "", "hint: \"{{ip}}:6443\" is only a name: put its value there\n"},
    {"diag --kubeconfig ~/.kube/config", 3, "",
     "hint: \"~/.kube/config\": write the whole path in place of ~\n"},
    {"join fd00::1:6443", 3, "", "hint: give an IPv6 address in brackets: [fd00::1]:6443\n"},
    {"restart", 3, "", "hint: its services are Windows' own: Restart-Service kubelet; "},
    {"drain", 3, "", "hint: winjoin upgrade --drain, or for other reasons kubectl drain NODE\n"},
    {"join --network-plugin Flannel", 3, "", "hint: did you mean flannel?\n"},
    {"config cluster --kubeconfig C:\\none", 3, "", "error: --kubeconfig: "},
    {"logs", 0, "", "warning: there are no logs on this machine\n"},
    {"logs --since 1h kubelet", 0, "", "warning: no log has a line of that time\n"},
    {"logs -o json", 0, "\"lines\": []", ""},
    {"join --network-plugin Calico", 3, "",
     "hint: Calico makes the network as a DaemonSet: use --network-plugin external\n"},
    {"logs kublet", 3, "", "no such service\nhint: did you mean kubelet?"},
    {"bundle", 3, "", "error: winjoin bundle: its command is missing\nhint: winjoin bundle --help"},
    {"bundle verfy a", 3, "",
     "unknown command \"bundle verfy\"\nhint: did you mean winjoin bundle verify?"},
    {"bundle show", 3, "", "error: FILE is missing: winjoin bundle show FILE"},
    {"bundle diff a", 3, "", "error: FILE is missing: winjoin bundle diff FILE FILE"},
    {"bundle create a", 3, "",
     "error: give a folder and a file, or --kubernetes-version and a file"},
    {"bundle create --kubernetes-version v1.37.1 a b", 3, "", "error: give a folder and a file"},
    {"bundle create --kubernetes-version 1.37 a.zip", 3, "", "must be complete, like v1.37.1"},
    {"bundle create --kubernetes-version v1.37.1 --source-base none a.zip", 3, "",
     "error: --source-base none forbids fetching programs\n"},
    {"bundle create a b c", 3, "",
     "unexpected argument \"c\"\nhint: winjoin bundle create DIR FILE.zip"},
    {"config", 3, "", "error: winjoin config: its command is missing"},
    {"config valdate", 3, "",
     "unknown command \"config valdate\"\nhint: did you mean winjoin config validate?"},
    {"config validate f", 3, "",
     "unexpected argument \"f\"\nhint: winjoin config validate --config FILE"},
    {"config validate --vni 5000", 3, "", "--vni is not a flag of winjoin config validate"},
    {"config print", 3, "",
     "the argument is missing: use one of join-defaults, catalog, kubeadm-objects"},
    {"config print join-defaults -o json", 0, "\"kind\": \"List\"", ""},
    {"config print catalog -o json", 0, "\"kind\": \"", ""},
    {"config print join-defaults -o az", 3, "", "use one of text, json, yaml"},
    {"version --output-file -", 0, "winjoin ", ""},
    {"config print joindefaults", 3, "", "hint: did you mean join-defaults?"},
    {"config print join-defaults x", 3, "", "unexpected argument \"x\""},
    {"completion", 3, "", "the argument is missing: use one of powershell, bash"},
    {"completion powershel", 3, "", "hint: did you mean powershell?"},
    {"help conifg", 3, "", "hint: did you mean winjoin config?"},
    {"help config cluster x", 3, "", "unexpected argument \"x\""},
    {"help join phase kubelte", 3, "", "hint: did you mean kubelet?"},
    {"join phase kubelte --help", 3, "",
     "invalid phase name: kubelte\nhint: did you mean kubelet?"},
    {"help config valdate", 3, "", "hint: did you mean winjoin config validate?"},
    {"status foo", 3, "", "unexpected argument \"foo\"\nhint: winjoin status [flags]"},
    {"certs renw", 3, "", "hint: did you mean winjoin certs renew?"},
    {"certs renew", 1, "", "this machine has no node certificate"},
    {"reset all", 3, "", "unexpected argument \"all\""},
    {"diag report.json", 3, "", "unexpected argument \"report.json\""},
    {"diag replay r.json", 3, "", "unexpected argument \"replay\"\nhint: did you mean --replay?"},
    {"version json", 3, "", "unexpected argument \"json\""},
    {"capabilities x", 3, "", "unexpected argument \"x\""},
    {"preflight a:1 b:1", 3, "", "unexpected argument \"b:1\""},
    {"join a:1 \xe2\x80\x94token x", 3, "", "hint: did you mean --token?"},
    {"join phse list", 3, "", "hint: did you mean winjoin join phase?"},
    {"service star x", 3, "", "unknown argument \"star\": use run"},
    {"bundle show C:\\no.zip", 3, "", "no.zip"},
    {"bundle verify C:\\no.zip -o json", 3, "\"kind\": \"usage\"", "no.zip"},
};

static void calls_and_answers(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        int code = call(calls[i].line);

        if (code != calls[i].code)
            fail_msg("winjoin %s: %d\n%s%s", calls[i].line, code, text_str(&out),
                     text_str(&err_out));
        if (*calls[i].out ? !has(&out, calls[i].out) : out.len)
            fail_msg("winjoin %s: output: %s", calls[i].line, text_str(&out));
        if (*calls[i].err ? !has(&err_out, calls[i].err) : err_out.len)
            fail_msg("winjoin %s: error: %s", calls[i].line, text_str(&err_out));
    }
}

/* A token that a mistake has glued to something else, or has put in a wrong place. */
static void tokens_in_wrong_places(void **state) {
    static const char *const lines[] = {
        "join 10.0.0.10:6443 --tokenabcdef.0123456789abcdef",
        "join 10.0.0.10:6443 abcdef.0123456789abcdef.",
        "join 10.0.0.10:6443 -xabcdef.0123456789abcdef",
        "join 10.0.0.10:6443 --vni xabcdef.0123456789abcdef",
        "join 10.0.0.10:6443 --verify abcdef.0123456789abcdefx",
        "join --token=x https://abcdef.0123456789abcdef@10.0.0.10:6443",
        "join phase abcdef.0123456789abcdef",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxabcdef.0123456789abcdef",
        "abcdef.0123456789abcdef",
        "status -o xxxxxxxxxxxxxxxxxxabcdef.0123456789abcdef",
        "config validate --config C:\\abcdef.0123456789abcdef",
        "config printabcdef.0123456789abcdef",
        "help abcdef.0123456789abcdefg",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        assert_int_equal(call(lines[i]), 3);
        if (has(&out, "0123") || has(&err_out, "0123"))
            fail_msg("%s: %s%s", lines[i], text_str(&out), text_str(&err_out));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_answers),
        cmocka_unit_test(tokens_in_wrong_places),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
