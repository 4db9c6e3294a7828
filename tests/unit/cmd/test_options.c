/* Command-line options: pflag's habits, the environment, near misses, a pasted kubeadm line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/options.h"
#include "cmd/program.h"

struct target {
    char *text;
    char *secret;
    struct text_list list;
    bool flag;
    long long number, duration, limit;
    char *choice, *mode, *plugin;
};

static const struct option table[] = {
    {"text", 't', OPTION_TEXT, 0, offsetof(struct target, text), "TEXT", "a text"},
    {"secret", 0, OPTION_SECRET, OPTION_KUBEADM, offsetof(struct target, secret), "S", "a secret"},
    {"list", 0, OPTION_LIST, 0, offsetof(struct target, list), "L", "a list"},
    {"flag", 0, OPTION_BOOL, 0, offsetof(struct target, flag), "", "a flag"},
    {"number", 'n', OPTION_NUMBER, OPTION_POSITIVE, offsetof(struct target, number), "N", "not 0"},
    {"duration", 0, OPTION_DURATION, 0, offsetof(struct target, duration), "D", "a duration"},
    {"limit", 0, OPTION_DURATION, OPTION_POSITIVE, offsetof(struct target, limit), "D", "not 0"},
    {"choice", 0, OPTION_CHOICE, 0, offsetof(struct target, choice), "auto|on|off", "a choice"},
    {"mode", 0, OPTION_CHOICE, 0, offsetof(struct target, mode), "@mode", "a mode"},
    {"plugin", 0, OPTION_CHOICE, 0, offsetof(struct target, plugin), "@plugin", "a plugin"},
    {0},
};
static const struct option *const tables[] = {table, NULL};

struct parse {
    struct target target;
    bool given[16];
    struct option_set set;
    struct text_list words;
    struct error err;
};

static int setup(void **state) {
    struct parse *p = xcalloc(1, sizeof *p);

    p->set = (struct option_set){.tables = tables, .target = &p->target, .given = p->given};
    *state = p;
    return 0;
}

static int teardown(void **state) {
    struct parse *p = *state;

    options_free(&p->set);
    text_list_free(&p->words);
    free(p);
    return 0;
}

static int parse(struct parse *p, const char *const *words) {
    int count = 0;

    while (words[count])
        count++;
    return options_parse(&p->set, count, (char *const *)words, &p->words, &p->err);
}
#define PARSE(p, ...) parse(p, (const char *const[]){__VA_ARGS__, NULL})

static void takes_every_form(void **state) {
    struct parse *p = *state;

    assert_int_equal(PARSE(p, "--text=a=b", "word", "--number", "7", "--flag", "--list", "x,y",
                           "--list=z", "--duration", "1m30s", "--choice", "on", "--", "--flag"),
                     0);
    assert_string_equal(p->target.text, "a=b");
    assert_int_equal(p->target.number, 7);
    assert_true(p->target.flag);
    assert_int_equal(p->target.list.count, 3);
    assert_string_equal(p->target.list.items[2], "z");
    assert_int_equal(p->target.duration, 90000);
    assert_string_equal(p->target.choice, "on");
    assert_int_equal(p->words.count, 2);
    assert_string_equal(p->words.items[1], "--flag");
    assert_true(p->given[0]);
    assert_false(p->given[1]);
}

static void takes_short_forms_and_false(void **state) {
    struct parse *p = *state;

    assert_int_equal(PARSE(p, "-t", "a", "-n5", "--flag=false"), 0);
    assert_string_equal(p->target.text, "a");
    assert_int_equal(p->target.number, 5);
    assert_false(p->target.flag);
}

static void refused(struct parse *p, int result, const char *words) {
    assert_int_equal(result, -1);
    assert_int_equal(p->err.kind, ERROR_USAGE);
    if (!strstr(p->err.message, words))
        fail_msg("'%s' is not in '%s'", words, p->err.message);
    error_clear(&p->err);
}

static void refuses_wrong_calls(void **state) {
    struct parse *p = *state;

    refused(p, PARSE(p, "--number", "seven"), "not a number");
    refused(p, PARSE(p, "--number=-1"), "not a number");
    refused(p, PARSE(p, "--number=0"), "for --number: must be more than 0");
    refused(p, PARSE(p, "--flag=perhaps"), "true or false");
    refused(p, PARSE(p, "--choice", "o"), "use one of auto, on, off");
    assert_string_equal(p->err.hints[0], "");
    refused(p, PARSE(p, "--choice", "auto|on"), "use one of auto, on, off");
    (void)PARSE(p, "--choice", "atuo");
    assert_string_equal(p->err.hints[0], "did you mean auto?");
    refused(p, PARSE(p, "--duration", "5 minutes"),
            "invalid value \"5 minutes\" for --duration: not a duration like 30s, 5m or 1h30m");
    refused(p, PARSE(p, "--duration", "-5s"), "not a duration like 30s");
    refused(p, PARSE(p, "--limit", "0"), "--limit: must be more than 0");
    refused(p, PARSE(p, "--limit=0s"), "--limit: must be more than 0");
    assert_int_equal(PARSE(p, "--limit", "1ms", "--duration", "0"), 0);
    refused(p, PARSE(p, "--text"), "needs an argument");
    refused(p, PARSE(p, "--tex", "a"), "unknown flag: --tex"); /* no abbreviations */
    refused(p, PARSE(p, "-x"), "unknown shorthand flag: 'x' in -x");
    refused(p, PARSE(p, "--list", "a\"b"), "unmatched quote");
    refused(p, PARSE(p, "--list", "\"a"), "unmatched quote");
    refused(p, PARSE(p, "--list", "\"a\"b"), "unmatched quote");
}

/* What this build cannot do is not offered, and is refused with what it can. */
static void choices_of_other_tables(void **state) {
    struct parse *p = *state;
    _cleanup_(text_free) struct text help = {0};

    options_help(table, &help);
    assert_non_null(strstr(text_str(&help), "overlay"));
    assert_non_null(strstr(text_str(&help), "l2bridge"));
    assert_non_null(strstr(text_str(&help), "a plugin: win-overlay, sdnoverlay, "));
    refused(p, PARSE(p, "--mode", "overlai"), "unknown network mode 'overlai': use overlay");
    refused(p, PARSE(p, "--plugin", "calico"), "use win-overlay, sdnoverlay");
    assert_int_equal(PARSE(p, "--mode", "l2bridge", "--plugin", "win-bridge"), 0);
    assert_string_equal(p->target.mode, "l2bridge");
    assert_string_equal(p->target.plugin, "win-bridge");
}

static void says_what_was_meant(void **state) {
    struct parse *p = *state;

    assert_int_equal(PARSE(p, "--numbr", "1"), -1);
    assert_string_equal(p->err.hints[0], "did you mean --number?");
    error_clear(&p->err);
    assert_int_equal(PARSE(p, "--NUMBER", "1"), -1);
    assert_string_equal(p->err.hints[0], "did you mean --number?");
    error_clear(&p->err);
    assert_int_equal(PARSE(p, "-number", "1"), -1);
    error_clear(&p->err);
    assert_int_equal(PARSE(p, "-choice", "on"), -1);
    assert_string_equal(p->err.hints[0], "did you mean --choice?");
    error_clear(&p->err);
    assert_int_equal(PARSE(p, "--nope", "1"), -1);
    assert_string_equal(p->err.hints[0], "");
    error_clear(&p->err);
    assert_int_equal(PARSE(p, "--zzzzzzzz", "1"), -1);
    assert_string_equal(p->err.hints[0], "");
}

/* kubeadm takes "" for its default; of winjoin's own flags it is a variable that was never set. */
static void an_empty_text_is_refused(void **state) {
    struct parse *p = *state;

    assert_int_equal(PARSE(p, "--text", ""), -1);
    assert_string_equal(p->err.message, "invalid value \"\" for --text: it is empty");
    assert_int_equal(p->err.kind, ERROR_USAGE);
    assert_null(p->target.text);
    error_clear(&p->err);
    assert_int_equal(PARSE(p, "--text="), -1);
    error_clear(&p->err);
    assert_int_equal(PARSE(p, "--secret="), 0);
    assert_string_equal(p->target.secret, "");
}

static char *environment(void *context, const char *name) {
    (void)context;
    if (text_equal(name, "WINJOIN_TEXT"))
        return xstrdup("from the environment");
    return text_equal(name, "WINJOIN_NUMBER") ? xstrdup("9") : NULL;
}

static void what_is_a_word(void **state) {
    struct parse *p = *state;
    struct text_list words = {0};
    char *argv[] = {(char *)"a",  (char *)"-",      (char *)"--flag",
                    (char *)"--", (char *)"--text", (char *)"-n"};
    _cleanup_(freep) char *all = NULL;

    assert_int_equal(options_parse(&p->set, ARRAY_SIZE(argv), argv, &words, &p->err), 0);
    all = text_list_join(&words, " ");
    assert_string_equal(all, "a - --text -n");
    assert_true(p->target.flag);
    text_list_free(&words);
}

static void flags_win_over_the_environment(void **state) {
    struct parse *p = *state;

    assert_int_equal(PARSE(p, "--text", "from the flag"), 0);
    assert_int_equal(options_from_environment(&p->set, environment, NULL, &p->err), 0);
    assert_string_equal(p->target.text, "from the flag");
    assert_int_equal(p->target.number, 9);
}

static void help_stays_within_80_columns(void **state) {
    (void)state;
    for (size_t i = 0; verbs[i].name; i++) {
        const struct option *of_verb[VERB_TABLES_MAX];

        verb_tables(&verbs[i], of_verb);
        for (size_t t = 0; of_verb[t]; t++) {
            struct text out = {0};
            size_t column = 0;

            for (const struct option *o = of_verb[t]; o->name; o++)
                if (o->letter && !strchr("fhotv", o->letter))
                    fail_msg("--%s has the letter %d", o->name, o->letter);
            options_help(of_verb[t], &out);
            for (const char *c = text_str(&out); *c; c++) {
                column = *c == '\n' ? 0 : column + 1;
                if (column > 80)
                    fail_msg("help of %s is wider than 80 columns", verbs[i].name);
            }
            text_free(&out);
        }
    }
}

static char *expanded(const char *const *words) {
    struct text_list list = {0};
    int count = 0;
    char *joined;

    while (words[count])
        count++;
    join_expand_pasted(count, (char *const *)words, &list);
    joined = text_list_join(&list, "|");
    text_list_free(&list);
    return joined;
}

static int skipped(const char *const *words) {
    int count = 0;

    while (words[count])
        count++;
    return words_skip_pasted(count, (char *const *)words);
}

#define SKIPPED(...) skipped((const char *const[]){"winjoin", __VA_ARGS__, NULL})

static void words_in_front_go(void **state) {
    (void)state;
    assert_int_equal(SKIPPED("join", "a:1"), 0);
    assert_int_equal(SKIPPED("join", "join", "a:1"), 1);
    assert_int_equal(SKIPPED("join", "join"), 1);
    assert_int_equal(SKIPPED("kubeadm", "join", "a:1"), 1);
    assert_int_equal(SKIPPED("sudo", "/usr/bin/kubeadm", "join", "a:1"), 2);
    assert_int_equal(SKIPPED(".\\winjoin.exe", "status"), 1);
    assert_int_equal(SKIPPED("kubeadm"), 0);
    assert_int_equal(SKIPPED("status", "kubeadm"), 0);
    assert_int_equal(SKIPPED("reset", "reset"), 0);
}

static void takes_a_pasted_line_apart(void **state) {
    static const struct {
        const char *words[7], *expanded;
    } rows[] = {
        {{"sudo kubeadm join a:1 --token t \\\n\t--x sha256:aa ", "--dry-run"},
         "a:1|--token|t|--x|sha256:aa|--dry-run"},
        {{"root@cp:~# sudo -E /usr/bin/kubeadm join a:1"}, "a:1"},
        {{"'kubeadm join a:1 --x \"b c\"'"}, "a:1|--x|b c"},
        {{"kubeadm join 'a:1' \"--x=b c\""}, "a:1|--x=b c"},
        {{"kubeadm join a:1 --x 'b \\\n c'"}, "a:1|--x|b \\\n c"},
        {{"C:\\k\\Kubeadm.EXE join a:1"}, "a:1"},
        {{"--v", "1", "sudo", "-E", "kubeadm", "join"}, "--v|1"},
        {{"--v", "1", "kubeadm", "join"}, "--v|1"},
        {{"--v", "$", "sudo", "kubeadm", "join", "a:1"}, "--v|a:1"},
        {{"winjoin", "join", "kubeadm", "join", "a:1"}, "a:1"},
        {{"a b", "kubeadm"}, "a b|kubeadm"},
        {{"kubeadm"}, "kubeadm"},
        {{"kubeadm", "init", "join"}, "kubeadm|init|join"},
        {{"xkubeadm", "join"}, "xkubeadm|join"},
        {{"--adapter", "my kubeadm"}, "--adapter|my kubeadm"},
        {{"--bundle", "D:\\winjoin", "--token", "t"}, "--bundle|D:\\winjoin|--token|t"},
        {{"a:1 b"}, "a:1 b"},
        {{"C:\\>kubeadm join a:1"}, "a:1"},
        {{"C:\\> kubeadm join a:1"}, "a:1"},
        {{"PS", "C:\\>kubeadm", "join", "a:1"}, "a:1"},
        {{"PS", "C:\\>", "kubeadm", "join", "a:1"}, "a:1"},
        {{"--v", "1", "[root@cp", "~]#kubeadm", "join", "a:1"}, "--v|1|a:1"},
        {{"kubeadm join a:1 --t b\\\n--x^\r\n\t--y`\n c\\d"}, "a:1|--t|b|--x|--y|c\\d"},
        {{""}, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text = expanded(rows[i].words);

        if (!text_equal(text, rows[i].expanded))
            fail_msg("'%s' is not '%s'", text, rows[i].expanded);
    }
}

static void drops_blank_words(void **state) {
    static const char *const words[] = {"", "a", "\\", "^", "`", "\\\n", " \t", "\\x", "b"};
    struct text_list list = {0};
    _cleanup_(freep) char *text = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        text_list_add(&list, words[i]);
    join_drop_blank_words(&list);
    text = text_list_join(&list, "|");
    assert_string_equal(text, "a|\\x|b");
    assert_null(list.items[list.count]);
    text_list_free(&list);
    join_drop_blank_words(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(takes_every_form, setup, teardown),
        cmocka_unit_test_setup_teardown(takes_short_forms_and_false, setup, teardown),
        cmocka_unit_test_setup_teardown(refuses_wrong_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(choices_of_other_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(says_what_was_meant, setup, teardown),
        cmocka_unit_test_setup_teardown(an_empty_text_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_a_word, setup, teardown),
        cmocka_unit_test_setup_teardown(flags_win_over_the_environment, setup, teardown),
        cmocka_unit_test(help_stays_within_80_columns),
        cmocka_unit_test(words_in_front_go),
        cmocka_unit_test(takes_a_pasted_line_apart),
        cmocka_unit_test(drops_blank_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
