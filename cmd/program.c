/* Runs winjoin once: finds the verb, reads the options, opens the host, prints the result and
 * returns the exit code. */
#include "cmd/program.h"

#include <ctype.h>
#include <errno.h>

#include "base/build_info.h"
#include "base/nearest.h"
#include "base/redact.h"
#include "kube/kubeconfig.h"

static void log_line(void *context, enum log_level level, const char *line) {
    struct program *program = context;
    _cleanup_(freep) char *prefix = record_prefix(program->host, level);

    record_line(program, level, line);
    if ((int)level > program->options.verbosity)
        /* The user did not ask for lines of this level; only the record's log file has them. */
        return;
    if (program->log)
        (void)fprintf(program->log, "%s%s\n", prefix, line);
    else if (level == LOG_WARNING)
        output_warning("%s", line);
    else if (!text_equal(program->options.progress, "json"))
        (void)fprintf(stderr, "%s%s\n", prefix, line);
}

static char *environment(void *context, const char *name) {
    return host_environment(context, name);
}

/* Users know "/?" and "-?" from Windows' own programs. */
static bool asks_for_help(const char *word) {
    return text_equal(word, "/?") || text_equal(word, "-?");
}

/* Returns the index of the verb in argv, or 0 without one. Flags that every verb has may come
 * before it, and some of them ("-o", "--output") have their value as the next word. */
static int find_verb_word(int argc, char **argv) {
    const struct option *const tables[] = {output_options, global_group.options};

    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        bool has_value = false;

        if (word[0] != '-' || text_equal(word, "--version"))
            return i;
        for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
            for (const struct option *o = tables[t]; o->name; o++)
                has_value |=
                    o->type != OPTION_BOOL &&
                    (text_starts_with(word, "--") ? text_equal(word + 2, o->name)
                                                  : o->letter && word[1] == o->letter && !word[2]);
        i += has_value;
    }
    return 0;
}

static int parse(struct program *program, int argc, char **argv, const struct option_set *set,
                 struct error *err) {
    _cleanup_(freep) char **rest = xcalloc((size_t)argc + 1, sizeof *rest);
    _cleanup_(text_list_free) struct text_list expanded = {0};
    int n = 0, verb_at = find_verb_word(argc, argv);

    for (int i = 1; i < argc; i++)
        if (program->verb->raw && i > verb_at)
            text_list_add(&program->words, argv[i]);
        else if (asks_for_help(argv[i]))
            program->options.help = true;
        else if (i != verb_at)
            rest[n++] = argv[i];
    join_expand_pasted(n, rest, &expanded);
    return options_parse(set, (int)expanded.count, expanded.items, &program->words, err);
}

static bool is_interrupted(void *host) {
    return host_interrupted(host);
}

static int open_seams(struct program *program, program_open_host *open, struct error *err) {
    _cleanup_(freep) char *agent = xasprintf("winjoin/%s", build_version);

    if (open(program->options.rootfs, &program->host, err) < 0)
        return -1;
    program->http = http_curl_new(agent, is_interrupted, program->host);
    return 0;
}

/* Warns of WINJOIN_ variables that no verb knows, since their names are most likely misspelled. A
 * variable of another verb is fine. */
static void warn_of_variables(struct program *program) {
    _cleanup_(text_list_free) struct text_list known = {0}, there = {0};
    static const char prefix[] = "WINJOIN_";
    const struct option *tables[VERB_TABLES_MAX];

    host_environment_names(program->host, prefix, &there);
    if (!there.count)
        return;
    for (size_t i = 0; verbs[i].name; i++) {
        verb_tables(&verbs[i], tables);
        for (size_t t = 0; tables[t]; t++) {
            /* Names are compared without the prefix, which would make all of them look similar. */
            for (const struct option *o = tables[t]; o && o->name; o++) {
                _cleanup_(freep) char *name = option_variable(o->name);

                text_list_add(&known, name + strlen("WINJOIN_"));
            }
        }
    }
    for (size_t i = 0; i < there.count; i++) {
        const char *name = there.items[i] + strlen(prefix), *near;

        if (text_list_has(&known, name))
            continue;
        near = nearest_name(name, (const char *const *)known.items, known.count);
        log_message(LOG_WARNING,
                    "environment variable %s%.80s matches no flag and is ignored%s%s%s", prefix,
                    name, near ? " (did you mean WINJOIN_" : "", near ? near : "",
                    near ? "?)" : "");
    }
}

const struct verb *program_verb(const struct program *program, const char *name) {
    const struct verb *verb = program->as_kubeadm ? kubeadm_verb(name) : verb_find(verbs, name);

    /* Some commands make sense on a node only, so the kubectl plugin does not have them. */
    return verb && program->as_kubectl && !verb->anywhere ? NULL : verb;
}

bool program_is_called(const char *argv0, const char *name) {
    const char *last = argv0;
    _cleanup_(freep) char *exe = xasprintf("%s.exe", name);

    for (const char *p = argv0; *p; p++)
        if (*p == '/' || *p == '\\' || *p == ':')
            last = p + 1;
    return text_equal_nocase(last, name) || text_equal_nocase(last, exe);
}

/* Runs the verb. `unknown` is the command's word where no command has that name, or NULL. A wrong
 * command line is read completely, because -o or WINJOIN_OUTPUT says how its error is printed. */
static int run(struct program *program, int argc, char **argv, const char *unknown,
               program_open_host *open, struct error *err) {
    const struct option_set *set = program->set;
    const struct program_options *o = &program->options;
    struct text_list asked = {0};
    struct error later = {0};

    if (unknown)
        (void)program_unknown(program, unknown, err);
    if (parse(program, argc, argv, set, unknown ? &later : err) < 0 || unknown) {
        if (!*err->hints[0]) {
            const struct verb *verb = program->verb;
            const struct verb *sub =
                program->words.count ? verb_find(verb->subcommands, program->words.items[0]) : NULL;

            (void)error_hint(err, "%s %s%s%s --help lists the flags", program->name, verb->name,
                             sub ? " " : "", sub ? sub->name : "");
        }
        options_given(set, &program->flags);
        if (open_seams(program, open, &later) == 0)
            (void)options_from_environment(set, environment, program->host, &later);
        return -1;
    }
    options_given(set, &program->flags);
    if (program->options.help) {
        text_list_add(&asked, program->verb->name);
        if (program->words.count && verb_find(program->verb->subcommands, program->words.items[0]))
            for (size_t i = 0; i < program->words.count; i++)
                text_list_add(&asked, program->words.items[i]);
        text_list_free(&program->words);
        program->words = asked;
        return verb_help(program, err);
    }
    if (open_seams(program, open, err) < 0 ||
        options_from_environment(set, environment, program->host, err) < 0)
        return -1;
    if (o->log_file && !(program->log = terminal_append(o->log_file)))
        return error_set(err, ERROR_USAGE, "open log file '%s': %s", o->log_file, strerror(errno));
    log_open(log_line, program, o->verbosity > LOG_REQUEST ? (int)o->verbosity : LOG_REQUEST);
    if ((!program->verb->raw && words_check(program, err) < 0) || output_open(program, err) < 0)
        return -1;
    warn_of_variables(program);
    return program->verb->run(program, err);
}

/* Prints the error or result, frees what the run used and returns the exit code. */
static int finish(struct program *program, struct error *err, int result) {
    struct error unwritten = {0};
    enum error_kind kind;
    bool unread = false;
    int code;

    if (result < 0 && !err->kind)
        (void)error_set(err, ERROR_HOST, "%s %s failed without giving a reason", program->name,
                        program->verb->name);
    if (result < 0) {
        const struct option_set *set = program->set;
        const struct option *o;

        /* For a flag that came from an environment variable, a hint names the variable. */
        for (size_t i = 0; (o = options_at(set, i)); i++) {
            _cleanup_(freep) char *flag = xasprintf("--%s", o->name),
                                  *name = option_variable(o->name);
            const char *at = strstr(err->message, flag);

            if (set->given[i] && at && !isalnum((unsigned char)at[strlen(flag)]) &&
                at[strlen(flag)] != '-' && !text_list_has(&program->flags, o->name) &&
                !strstr(err->message, name))
                (void)error_hint(err, "%s was set by the environment variable %s", flag, name);
        }
        output_error(err);
        if (program->kept_log)
            (void)fprintf(stderr, "log: %s\n", program->kept_log);
    }
    if (output_finish(program, result < 0 ? err : NULL, &unwritten) < 0)
        output_error(&unwritten);
    else if (output_end() < 0 && result == 0)
        unread = true;
    kind = result < 0 ? err->kind : unwritten.kind;
    code = unread ? 1 : program->as_kubeadm ? kubeadm_exit_code(kind) : error_exit_code(kind);

    record_free(program);
    json_decref(program->result);
    text_list_free(&program->words);
    text_list_free(&program->flags);
    options_free(program->set);
    join_options_free(&program->options.join);
    http_free(program->http);
    http_free(program->last);
    if (program->host)
        host_free(program->host);
    log_open(NULL, NULL, 0);
    log_forget_secrets();
    if (program->log)
        /* A failure to close the log is ignored, since the log is the place to report it. */
        (void)fclose(program->log);
    return code;
}

int program_run(int argc, char **argv, program_open_host *open) {
    const char *called = argc > 0 ? argv[0] : "";
    int skipped = words_skip_pasted(argc, argv), verb_at, result;
    const char *name, *unknown;
    /* -1 means that --start-spread was not given, since 0 is a valid value. */
    struct program program = {.options.join.start_spread = -1};
    const struct option *tables[VERB_TABLES_MAX];
    struct option_set set = {.tables = tables, .target = &program.options};
    _cleanup_(freep) bool *given = NULL;
    struct error err = {0};

    argc -= skipped;
    argv += skipped;
    verb_at = find_verb_word(argc, argv);
    unknown = name = verb_at && !asks_for_help(argv[verb_at]) ? argv[verb_at] : "help";
    terminal_open(&program.terminal);
    program.as_kubeadm = program_is_called(called, "kubeadm");
    program.as_kubectl = program_is_called(called, "kubectl-winjoin");
    program.name = program.as_kubeadm   ? "kubeadm"
                   : program.as_kubectl ? "kubectl winjoin"
                                        : "winjoin";
    for (int i = 1; i < argc; i++)
        redact_learn(argv[i]);
    program.verb = program_verb(&program, text_equal(name, "--version") ? "version" : name);
    if (program.verb)
        unknown = NULL;
    else
        program.verb = program_verb(&program, "help");
    verb_tables(program.verb, tables);
    given = xcalloc(options_count(&set), sizeof *given);
    set.given = given;
    program.set = &set;
    result = run(&program, argc, argv, unknown, open, &err);
    if (unknown && verb_at > 1)
        (void)error_hint(&err, "put a command's own flags after it");
    if (!verb_at && result < 0)
        (void)error_hint(&err, "%s help lists the commands, %s version shows the version",
                         program.name, program.name);
    if (result < 0 && err.kind == ERROR_USAGE)
        words_name_pasted(argc, argv, &err);
    return finish(&program, &err, result);
}

/* ---- the cluster of --kubeconfig and --context ---- */

int given_cluster_open(struct program *program, const char *unnamed, struct kube_client *ret,
                       struct error *err) {
    const char *given = program->options.kubeconfig;
    _cleanup_(freep) char *path = terminal_full_path(given ? given : unnamed);
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};

    if (kubeconfig_read_file(program->host, path, program->options.context, &config, err) < 0) {
        /* The command line named the file, so the machine is not at fault. */
        err->kind = ERROR_USAGE;
        return given ? error_prefix(err, "--kubeconfig") : error_hint(err, "use --kubeconfig FILE");
    }
    if (config.impersonation)
        return error_set(err, ERROR_UNSUPPORTED, "kubeconfig: impersonation (%s) is not supported",
                         config.impersonation);
    if (config.exec && !config.token && !config.client_cert_pem &&
        kubeconfig_run_plugin(program->host, path, &config, err) < 0)
        return -1;
    return kube_client_open(program->http, program->host, &config, ret, err);
}
