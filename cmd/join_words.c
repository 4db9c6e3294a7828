/* Turns the words, flags, environment variables and files of a call into the options of a join. */

#include "base/log.h"
#include "base/redact.h"
#include "base/text.h"
#include "cmd/program.h"
#include "join/configuration/join_configuration.h"
#include "join/discovery/discovery.h"
#include "join/phases/phases.h"

enum { TOKEN_FILE_MAX = 4096 };

/* ---- reading the token ---- */

/* Reads all of standard input. From a terminal, asks for one line and does not show it. */
static char *read_standard_input(const struct program *program, size_t *ret_len) {
    char *data = xcalloc(TOKEN_FILE_MAX + 1, 1);

    if (!program->terminal.in_is_terminal) {
        *ret_len = fread(data, 1, TOKEN_FILE_MAX, stdin);
        return data;
    }
    terminal_echo(false); /* Echo is off before the prompt, so that fast typing is hidden, too. */
    (void)fputs("Bootstrap token (what you type is not shown): ", stderr);
    (void)fflush(stderr);
    if (!fgets(data, TOKEN_FILE_MAX, stdin))
        data[0] = '\0';
    terminal_echo(true);
    (void)fputc('\n', stderr);
    *ret_len = strlen(data);
    return data;
}

static int read_token_file(struct program *program, const char *path, struct error *err) {
    struct join_options *o = &program->options.join;
    _cleanup_(secret_freep) char *data = NULL;
    size_t len;

    if (text_equal(path, "-"))
        data = read_standard_input(program, &len);
    if (data ? unicode_to_utf8(&data, &len, err) < 0
             : host_read_text(program->host, path, TOKEN_FILE_MAX, &data, &len, err) < 0) {
        err->kind = ERROR_USAGE;
        return error_prefix(err, "read the token");
    }
    secret_freep(&o->token);
    /* Removes blanks and line ends before and after the token. */
    for (size_t i = 0; i < len; i++)
        if (!data[i])
            data[i] = '?'; /* A NUL byte would hide the rest. No token has '?'. */
    while (len && strchr(" \t\r\n", data[len - 1]))
        data[--len] = '\0';
    o->token = xstrdup(data + strspn(data, " \t\r\n"));
    log_hide_secret(o->token);
    return 0;
}

/* ---- reading the configuration file ---- */

/* A relative path that a user gave is relative to the folder in which winjoin was started. */
static void make_absolute(char **path) {
    if (!*path || text_equal(*path, "-") || text_starts_with(*path, "https:") ||
        text_starts_with(*path, "file:/"))
        return;
    if (!**path) { /* An empty value counts as not given, as in pflag. */
        freep(path);
        return;
    }
    text_set(path, terminal_full_path(*path));
}

static void settle_discovery_file(struct join_options *o) {
    char *path = o->discovery_file ? join_discovery_file_path(o->discovery_file) : NULL;

    text_set(&o->discovery_file, path);
    make_absolute(&o->discovery_file);
}

void program_settle_paths(struct join_options *o) {
    settle_discovery_file(o);
    join_each_option(path)
        if (path->is_path)
            make_absolute(join_option_field(o, path));
}

int program_read_config(struct program *program, const char *path, enum config_kinds kinds,
                        struct config_file *ret, struct error *err) {
    _cleanup_(freep) char *full = terminal_full_path(path);
    _cleanup_(secret_freep) char *data = NULL;
    size_t len;

    if (host_read_text(program->host, full, CONFIG_FILE_MAX, &data, &len, err) < 0) {
        (void)error_as(err, ERROR_USAGE);
        return error_prefix(err, "read the configuration");
    }
    redact_learn(data);
    if (config_file_parse(data, len, path, kinds, ret, err) < 0)
        return -1;
    output_warnings(&ret->warnings);
    return 0;
}

/* Refuses flags that must not be used together with a JoinConfiguration, as kubeadm does. A
 * NodeConfiguration alone does not name the cluster, so flags may do it. */
static int check_mixed(const struct program *program, struct error *err) {
    _cleanup_(text_list_free) struct text_list mixed = {0};
    _cleanup_(freep) char *names = NULL;
    const struct option *o;

    for (size_t i = 0; (o = options_at(program->set, i)); i++)
        if ((o->flags & OPTION_KUBEADM) && !(o->flags & OPTION_WITH_CONFIG) &&
            text_list_has(&program->flags, o->name))
            text_list_add(&mixed, o->name);
    text_list_sort(&mixed); /* pflag visits flags in this order, too. */
    names = text_list_join(&mixed, " ");
    return *names ? error_set(err, ERROR_USAGE, "can not mix '--config' with arguments [%s]", names)
                  : 0;
}

/* Checks one value of the configuration file by `check`; an error names its line and column. Values
 * that come from flags are checked later. */
static int check_of_file(const struct config_file *file, const char *path,
                         int check(const struct text_list *values, struct error *err),
                         struct error *err) {
    const struct yaml_place *at = yaml_place(&file->yaml, file->join, path);
    const json_t *given = json_at(file->join, path);
    _cleanup_(text_list_free) struct text_list values = {0};

    if (json_is_string(given))
        text_list_add(&values, json_string_value(given));
    else
        json_read_texts(given, &values);
    if (!at || !values.count || check(&values, err) == 0)
        return 0;
    return error_prefix(err, "%s: line %zu column %zu: %s", file->yaml.what, at->line, at->column,
                        path);
}

static int check_endpoint(const struct text_list *endpoint, struct error *err) {
    return discovery_endpoint_check(endpoint->items[0], err);
}

int program_check_file(const struct program *program, const struct config_file *file,
                       struct error *err) {
    if (!file->join)
        return 0;
    return join_configuration_check(file->join, &file->yaml, program->host, err) < 0 ||
                   check_of_file(file, "discovery.bootstrapToken.apiServerEndpoint", check_endpoint,
                                 err) < 0 ||
                   check_of_file(file, "nodeRegistration.ignorePreflightErrors", join_ignored_check,
                                 err) < 0
               ? -1
               : 0;
}

static int check_skipped(const struct text_list *names, struct error *err) {
    _cleanup_(text_list_free) struct text_list ids = {0};

    return phase_names_skipped(names, &ids, err);
}

/* Reads the file of --config. Flags and environment variables override its values. The result is
 * then checked as one document. */
static int settle_configuration(struct program *program, struct error *err) {
    struct join_options *o = &program->options.join;
    bool dry_run = o->dry_run, dry_run_given = options_is_given(program->set, "dry-run");
    _cleanup_(config_file_free) struct config_file file = {0};
    _cleanup_(text_list_free) struct text_list warnings = {0};

    if (o->config && program_read_config(program, o->config, CONFIG_JOIN, &file, err) < 0)
        return -1;
    if (file.join && o->endpoint) {
        output_warning("the API server's address on the command line is ignored: the "
                       "JoinConfiguration has it");
        freep(&o->endpoint);
    }
    if (file.join && check_mixed(program, err) < 0)
        return -1;

    join_configuration_overlay(&file.join, o);
    if (file.join) {
        if (program_check_file(program, &file, err) < 0 ||
            check_of_file(&file, "skipPhases", check_skipped, err) < 0)
            return -1;
        join_configuration_apply(file.join, o, &warnings);
        if (dry_run_given)
            o->dry_run = dry_run;
    }
    node_configuration_apply(file.node, o);
    output_warnings(&warnings);
    return 0;
}

int program_prepare_join(struct program *program, struct error *err) {
    struct join_options *o = &program->options.join;
    _cleanup_(text_list_free) struct text_list list = {0};

    if (program->words.count)
        o->endpoint = xstrdup(program->words.items[0]);
    if (o->control_plane) {
        (void)error_set(
            err, ERROR_USAGE,
            "--control-plane is not supported: a control plane does not run on Windows");
        return error_hint(err,
                          "use the line for workers: kubeadm token create --print-join-command");
    }
    if (o->certificate_key || o->apiserver_advertise_address || o->apiserver_bind_port)
        output_warning("control-plane flags (certificate-key, apiserver-advertise-address, "
                       "apiserver-bind-port) have no effect on a worker");
    /* Two tokens are refused, because join would silently ignore one of them. */
    if (text_list_has(&program->flags, "token") && text_list_has(&program->flags, "token-file"))
        return error_set(err, ERROR_USAGE, "use --token or --token-file, not both");
    /* Checks klog's form of --vmodule: "file=2,gopher*=3". */
    text_list_split(&list, o->vmodule ? o->vmodule : "", ',');
    for (size_t i = 0; i < list.count; i++) {
        const char *equals = strchr(list.items[i], '=');
        long long level;

        if (!equals || equals == list.items[i] ||
            text_to_number(equals + 1, 0, INT32_MAX, &level) < 0)
            return error_set(err, ERROR_USAGE,
                             "invalid value \"%.80s\" for --vmodule: not filename=N", o->vmodule);
    }
    if (o->config && !*o->config) {
        if (text_list_has(&program->flags, "config") && check_mixed(program, err) < 0)
            return -1;
        freep(&o->config);
    }
    make_absolute(&o->token_file);
    settle_discovery_file(o);
    if ((text_equal(o->token, "-") && read_token_file(program, "-", err) < 0) ||
        (o->token_file && read_token_file(program, o->token_file, err) < 0) ||
        settle_configuration(program, err) < 0)
        return -1;
    program_settle_paths(o); /* Makes the paths in the configuration file absolute, too. */
    if (program->as_kubeadm)
        kubeadm_settle(o);
    return join_options_check(o, err);
}

int program_need_discovery(const struct program *program, struct error *err) {
    const struct join_options *o = &program->options.join;

    if (o->endpoint || o->discovery_file)
        return 0;
    (void)error_set(err, ERROR_USAGE,
                    "no cluster given: an endpoint, --discovery-file or --config is missing");
    return error_hint(err, "%s %s <ip>:6443 --token T --discovery-token-ca-cert-hash H",
                      program->name, program->verb->name);
}
