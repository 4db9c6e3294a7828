/* Help and completion, which come from the tables of verbs, flags, phases and checks: each verb
 * shows its own flags, what is shown works, and nothing is offered that is refused. */
#include "tests/scene/program_scene.h"

#include "host/host.h"
#include "join/phases/phases.h"

static void assert_called(const char *line, int code) {
    int was = call(line);

    if (was != code)
        fail_msg("winjoin %s: %d\n%s%s", line, was, text_str(&out), text_str(&err_out));
}

static void a_verb_lists_its_own_flags(void **state) {
    static const struct {
        const char *line, *there, *not_there;
    } rows[] = {
        {"discover --help", "\n      --token-file FILE ", "--network-mode"},
        {"discover --help", "\nCluster:\n      --config FILE", "--vmodule"},
        {"preflight --help", "--ignore-preflight-errors CHECK", "--skip-phases"},
        {"preflight --help", "\nPrograms:\n      --bundle FILE", "--dry-run"},
        {"join --help", "--skip-phases PHASE", "--control-plane"},
        {"status --help", "show the state of this node\n\nUsage:\n  winjoin status [flags]\n",
         "--config"},
        {"reset --help", "\nReset:\n  -f, --force                 do not ask; also remove what is ",
         "--token"},
        {"diag --help", "\nThe whole cluster:\n      --kubeconfig FILE ", "--token"},
        {"config validate --help", "\nFile:\n      --config FILE", "--old-config"},
        {"config migrate --help", "--new-config FILE", "--vni"},
        {"config cluster --help", "\nNetwork:\n      --network-mode ", "--pod-cidr"},
        {"help config cluster", "Usage:\n  winjoin config cluster [flags]", "--old-config"},
        {"config --help", "\n  winjoin config print join-defaults|catalog|kubeadm-objects\n",
         "--vni"},
        {"config --help", "\n  migrate        convert an old ", "--vni"},
        {"config routes --help", "format of the result: text, az, aws, gcloud, json", "--token"},
        {"bundle create --help", "--versions FILE", "--token"},
        {"bundle verify --help", "Usage:\n  winjoin bundle verify FILE [flags]\n", "--versions"},
        {"join phase --help", "\n  pod-network    make ", "--vmodule"},
        {"join phase list --help", "\n  pod-network    make ", "--vmodule"},
        {"join phase kubelet --help",
         "register and start the kubelet; wait until it is healthy\n\nUsage:\n"
         "  winjoin join phase kubelet [ENDPOINT] [flags]\n",
         "pod-network"},
        {"help join phase ready", "again. It changes nothing on this machine.\n", "pod-network"},
        {"help join phase verify", "winjoin join phase verify", "It changes nothing"},
        {"join phase kubelet-start 10.0.0.1:6443 -h",
         "kubeadm's name for certificate, files, kubelet\n\nUsage:\n", "It changes nothing"},
        {"probe --help", "probe tcp|udp", "error"},
        {"help", "\n  join           make this machine", "  probe "},
        {"help help", "\n  join           make this machine", "  __complete "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_called(rows[i].line, 0);
        assert_has(&out, rows[i].there);
        if (has(&out, rows[i].not_there))
            fail_msg("winjoin %s names %s", rows[i].line, rows[i].not_there);
        assert_int_equal(err_out.len, 0);
    }
    assert_called("help nothing-like-it", 3);
    assert_has(&err_out, "unknown command \"nothing-like-it\"\nhint: winjoin help lists the ");
    assert_called("help rest", 3);
    assert_has(&err_out, "hint: did you mean winjoin reset?\n");
}

/* What other programs call it, and words that a pasted line brought along. */
static void words_of_others_are_known(void **state) {
    static const struct {
        const char *line, *hint;
    } rows[] = {
        {"reset --yes", "hint: did you mean --force?\n"},
        {"join --server https://10.0.0.1:6443",
         "hint: the API server's address has no flag: winjoin join <ip>:6443 --token ...\n"},
        {"join 10.0.0.1:6443 --HTTPS-Proxy http://p:1",
         "hint: a proxy is set in the environment: $env:HTTPS_PROXY = "},
        {"reset --server x", "hint: winjoin reset --help lists the flags\n"},
        {"join --hostname-override x", "hint: did you mean --node-name?\n"},
        {"kubeadm join --WhatIf", "hint: did you mean --dry-run?\n"},
        {"join join --verbose", "hint: did you mean -v 5?\n"},
        {"status --hostname x", "hint: winjoin status --help lists the flags\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_called(rows[i].line, 3);
        assert_has(&err_out, "error: unknown flag: --");
        assert_has(&err_out, rows[i].hint);
    }
}

static void values_are_named(void **state) {
    static const struct {
        const char *line, *part;
        int code;
    } rows[] = {
        {"status --help", "-o, --output text|json|yaml\n", 0},
        {"diag --help",
         "-o, --output CHOICE         format of the result: text, json, yaml, junit,\n"
         "                              html, metrics\n",
         0},
        {"discover --help", "-o, --output text|json|yaml|kubeconfig\n", 0},
        {"status --help", "--progress auto|plain|json|none\n", 0},
        {"join --help", "--dsr auto|on|off", 0},
        {"join --help",
         ": overlay,\n                              l2bridge, l2tunnel, transparent, nat\n", 0},
        {"status -o wide", "text, json, yaml\n", 3},
        {"diag -o wide", "text, json, yaml, junit, html, metrics\n", 3},
        {"discover -o wide", "text, json, yaml, kubeconfig\n", 3},
    };
    static const char *const levels[] = {"0 warnings", "1 actions", "2 retries",
                                         "3 requests", "4 calls",   "5 their"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_called(rows[i].line, rows[i].code);
        assert_has(rows[i].code ? &err_out : &out, rows[i].part);
    }
    assert_called("status --help", 0);
    for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
        assert_has(&out, levels[i]);
}

static void phases_stand_in_the_help_of_phase(void **state) {
    (void)state;
    assert_called("join phase --help", 0);
    for (size_t i = 0; join_phases[i].id; i++) {
        _cleanup_(freep) char *row = xasprintf("\n  %-14s ", join_phases[i].id);

        assert_has(&out, row);
    }
}

/* Behind "winjoin ", up to a pipe or a redirection. */
static void try_example(const char *line) {
    _cleanup_(freep) char *own = xstrndup(line, strcspn(line, "|>"));
    _cleanup_(text_list_free) struct text_list words = {0}, rest = {0};
    const struct option *of_verb[VERB_TABLES_MAX];
    struct program_options options = {0};
    bool given[256] = {0};
    struct option_set parsed = {.tables = of_verb, .target = &options, .given = given};
    struct error err = {0};
    const struct verb *verb;

    text_list_split(&words, own, ' ');
    verb = verb_find(verbs, words.items[0]);
    if (!verb)
        fail_msg("example: winjoin %s", line);
    verb_tables(verb, of_verb);
    if (options_parse(&parsed, (int)words.count - 1, words.items + 1, &rest, &err) < 0)
        fail_msg("example: winjoin %s: %s", line, err.message);
    options_free(&parsed);
}

static void every_verb_has_examples_that_parse(void **state) {
    size_t examples = 0;

    (void)state;
    for (size_t i = 0; verbs[i].name; i++) {
        if (!verbs[i].hidden && !verbs[i].subcommands && !verbs[i].examples[0].line)
            fail_msg("winjoin %s has no example", verbs[i].name);
        for (size_t e = 0; e < ARRAY_SIZE(verbs[i].examples) && verbs[i].examples[e].line; e++) {
            try_example(verbs[i].examples[e].line);
            examples++;
        }
        for (const struct verb *sub = verbs[i].subcommands; sub && sub->name; sub++) {
            if (!sub->examples[0].line || !verb_find(verbs[i].subcommands, sub->name))
                fail_msg("winjoin %s %s has no example", verbs[i].name, sub->name);
            for (size_t e = 0; e < ARRAY_SIZE(sub->examples) && sub->examples[e].line; e++)
                try_example(sub->examples[e].line);
        }
    }
    assert_true(examples > 10);
    assert_called("join --help", 0);
    assert_has(&out, "\nExamples:\n  # join a cluster\n  winjoin join 10.0.0.10:6443 --token ");
}

/* Those whose result may hold a key or a token: --output-file is for its owner alone. */
static void verbs_with_secrets(void **state) {
    _cleanup_(text_list_free) struct text_list secret = {0};
    _cleanup_(freep) char *names = NULL;

    (void)state;
    for (size_t i = 0; verbs[i].name; i++) {
        if (verbs[i].secret)
            text_list_add(&secret, verbs[i].name);
        for (const struct verb *sub = verbs[i].subcommands; sub && sub->name; sub++)
            if (sub->secret)
                text_list_add(&secret, sub->name);
    }
    names = text_list_join(&secret, " ");
    assert_string_equal(names, "discover config");
}

static void help_is_no_wider_than_80_columns(void **state) {
    (void)state;
    for (size_t i = 0; verbs[i].name; i++) {
        _cleanup_(freep) char *line_of_call = xasprintf("help %s", verbs[i].name);

        assert_called(line_of_call, 0);
        for (const char *line = text_str(&out); *line; line += strcspn(line, "\n") + 1)
            if (strcspn(line, "\n") > 80 && !text_starts_with(line, "  winjoin "))
                fail_msg("help of %s: %.*s", verbs[i].name, (int)strcspn(line, "\n"), line);
    }
}

/* A word that fits in no line stands in one of its own, with no empty line before it. */
static void a_word_that_is_too_long(void **state) {
    char word[82] = {0};
    struct text t = {0};

    (void)state;
    memset(word, 'x', sizeof word - 1);
    options_wrap(&t, word, 2, 2);
    assert_int_equal(t.len, sizeof word); /* and the line's end */
    text_free(&t);
}

/* ---- completion ---- */

static void what_may_come_next(void **state) {
    static const struct {
        const char *words, *there, *not_there;
    } rows[] = {
        {"=", "join\tmake this machine a Ready node", "__complete"},
        {"upgrade =--d", "--drain\t", "--discovery-file"},
        {"=", "\nversion\t", "probe"},
        {"=st", "status\t", "join"},
        {"nonsense =", "", "join"},
        {"config =", "validate\t", "--config"},
        {"config =m", "migrate\t", "validate"},
        {"config -o json =m", "migrate\t", "validate"},
        {"config validate =", "--config\t", "--old-config"},
        {"config validate =--", "--config\t", "--vni"},
        {"config print =", "join-defaults\ncatalog\nkubeadm-objects\n", "--vni"},
        {"config cluster =--v", "--vni\t", "--old-config"},
        {"config validate --config =", ":files\n", "--"},
        {"config validate --config=x =", "--config\t", ":files"},
        {"config validate =--config=", ":files\n", "--"},
        {"bundle create =", ":folders\n", "--"},
        {"bundle create D:\\x =", ":files\n", "--"},
        {"bundle create D:\\x D:\\y =", "--versions\t", ":files"},
        {"bundle verify =", ":files\n", "--"},
        {"bundle diff D:\\x =", ":files\n", "--"},
        {"join =", "phase\t", "--"},
        {"join =--net", "--network-mode\t", "--vni"},
        {"join =--control", "", "--control-plane"},
        {"join phase =", "list\t", "--"},
        {"join phase =", "\nkubelet-start\t", "--"},
        {"join phase =pod", "pod-network\t", "list"},
        {"join phase verify =", "--token\t", "kubelet-start"},
        {"join --network-mode =", "l2bridge\n", "--"},
        {"join --dsr =o", "on\noff\n", "auto"},
        {"join =--dsr=o", "--dsr=on\n--dsr=off\n", "auto"},
        {"join =--dry-run=t", "--dry-run=true\n", "false"},
        {"join --dry-run =--tok", "--token\t", "true"},
        {"join --skip-phases =", "verify\t", "list\t"},
        {"join --skip-phases =ready,ver", "ready,verify\t", "list"},
        {"join --ignore-preflight-errors =", "all\t", "--config"},
        {"join --ignore-preflight-errors =NodeN", "NodeName\n", "Mem"},
        {"join --token =", "", "-"},
        {"join --patches =", ":folders\n", "--"},
        {"diag --output-file =", ":files\n", "--"},
        {"diag -o =j", "json\njunit\n", "yaml"},
        {"diag =--", "--kubeconfig\t", "--network-mode"},
        {"discover =--", "--token\t", "--network-mode"},
        {"status -o =", "text\njson\nyaml\n", "kubeconfig"},
        {"status =", "--output\t", ":files"},
        {"help =co", "config\t", "join"},
        {"completion =", "powershell\nbash\nzsh\nfish\n", "--"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *line = xasprintf("__complete %s", rows[i].words);

        assert_called(line, 0);
        assert_has(&out, rows[i].there);
        if (*rows[i].there ? has(&out, rows[i].not_there) : out.len)
            fail_msg("winjoin %s: %s", line, text_str(&out));
    }
    assert_called("__complete", 3);
    assert_called("__complete join", 3);
    assert_called("__complete status =--rootf", 0);
    assert_int_equal(out.len > 0, host_rehearses);
}

static void scripts_of_the_shells(void **state) {
    static const struct {
        const char *shell, *begin, *part;
    } rows[] = {
        {"powershell", "# PowerShell completion", "\nRegister-ArgumentCompleter -Native "},
        {"bash", "# shellcheck shell=bash\n", "\ncomplete -F _winjoin winjoin\n"},
        {"zsh", "#compdef winjoin\n", "\ncompdef _winjoin winjoin\n"},
        {"fish", "# fish completion", "\ncomplete -c winjoin "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *line = xasprintf("completion %s", rows[i].shell);

        assert_called(line, 0);
        assert_true(text_starts_with(text_str(&out), rows[i].begin));
        assert_has(&out, rows[i].part);
        assert_has(&out, "__complete");
    }
    assert_called("completion csh", 3);
    assert_has(&err_out, "use one of powershell, bash, zsh, fish");
    assert_called("completion bash bash", 3);
    assert_called("completion", 3);
}

/* Who only looks may be called on any machine. */
static void phases_that_change_nothing(void **state) {
    static const char *const looks[] = {"preflight", "discovery", "configuration", "node", "ready"};

    (void)state;
    for (size_t i = 0; join_phases[i].id; i++) {
        _cleanup_(freep) char *line = xasprintf("help join phase %s", join_phases[i].id);
        bool looks_only = false;

        for (size_t k = 0; k < ARRAY_SIZE(looks); k++)
            looks_only |= text_equal(looks[k], join_phases[i].id);
        assert_called(line, 0);
        if (has(&out, "It changes nothing on this machine.") != looks_only)
            fail_msg("%s", join_phases[i].id);
    }
}

/* Commands of kubeadm lead to winjoin's. */
static void words_of_kubeadm(void **state) {
    static const char *const rows[][2] = {
        {"certs check-expiration", "hint: winjoin certs shows until when"},
        {"certs renew all", "hint: winjoin certs renew renews all"},
        {"upgrade plan", "hint: winjoin upgrade --dry-run shows"},
        {"upgrade node", "hint: winjoin upgrade alone does it"},
        {"upgrade apply v1.37.1", "hint: winjoin upgrade alone does it"},
        {"config images list", "hint: a node pulls the sandbox image alone"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_int_equal(call(rows[i][0]), 3);
        assert_has(&err_out, rows[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_kubeadm),
        cmocka_unit_test(a_verb_lists_its_own_flags),
        cmocka_unit_test(phases_that_change_nothing),
        cmocka_unit_test(words_of_others_are_known),
        cmocka_unit_test(values_are_named),
        cmocka_unit_test(phases_stand_in_the_help_of_phase),
        cmocka_unit_test(every_verb_has_examples_that_parse),
        cmocka_unit_test(verbs_with_secrets),
        cmocka_unit_test(help_is_no_wider_than_80_columns),
        cmocka_unit_test(a_word_that_is_too_long),
        cmocka_unit_test(what_may_come_next),
        cmocka_unit_test(scripts_of_the_shells),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
