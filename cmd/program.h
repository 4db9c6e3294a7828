/* One run of winjoin: the host it acts on, its options, where results and errors go. */
#pragma once

#include "cmd/options.h"
#include "host/host.h"
#include "host/http.h"
#include "host/terminal.h"
#include "join/configuration/config_file.h"
#include "join/configuration/join_options.h"

/* Every option of every verb has its field here. */
struct program_options {
    /* everywhere */
    char *output;
    char *output_file;
    long long verbosity;
    char *log_file;
    char *progress;
    bool no_color;
    bool help;
    char *rootfs;
    /* verbs' own */
    struct join_options join;
    bool yes;                         /* reset --force */
    char *kubeconfig, *context;       /* diag, config */
    char *node_selector, *image;      /* diag */
    struct text_list nodes;           /* diag */
    bool all_nodes;                   /* diag */
    long long watch;                  /* diag */
    char *replay, *collect, *compare; /* diag */
    char *since;                      /* logs */
    bool follow;                      /* logs */
    char *versions;                   /* bundle create */
    bool tools;                       /* bundle create */
    bool images;                      /* bundle create */
    long long tail;                   /* logs; 0: all lines */
    long long windows_build;          /* bundle; 0: each */
    bool drain;                       /* upgrade */
    bool show_all;
    char *old_config, *new_config;                /* config migrate */
    char *resource_group, *route_table, *network; /* config routes */
    bool as_kubeadm, remove;                      /* install */
    char *to;                                     /* install */
};

struct program {
    bool as_kubeadm;  /* called by that name (cmd/kubeadm.h) */
    bool as_kubectl;  /* called as kubectl-winjoin, as kubectl calls its plugins */
    const char *name; /* what it is called in texts: "winjoin", "kubeadm", "kubectl winjoin" */
    struct host *host;
    struct http *http;
    struct http *last; /* not ended by Ctrl-C: removes what diag made in a cluster; or NULL */
    struct terminal terminal;
    struct program_options options;
    struct text_list words;       /* what is no option, behind the verb */
    const struct option_set *set; /* the verb's options, with what is given */
    struct text_list flags;       /* names of those that stand on the command line */
    const struct verb *verb;
    FILE *log;             /* of --log-file, or NULL: standard error */
    const char *phase;     /* of the error object, or NULL */
    struct record *record; /* of what this run leaves on the node, or NULL (cmd/record.h) */
    const char *kept_log;  /* path of its log, for the user; NULL: it left no log */
    json_t *result;        /* with -o json and yaml: printed at the end, also beside an error */
};

/* Flags under one heading of the help. */
struct option_group {
    const char *title;            /* "Network" */
    const struct option *options; /* ended by a row without a name */
};

/* A verb, or a subcommand of one. Its function prints results by cmd/output.h and answers 0 or -1
 * with the error. Help, completion and manual pages are made of these rows. */
struct verb {
    const char *name;
    const char *help;  /* one line */
    const char *usage; /* behind "winjoin ", e.g. "join [ENDPOINT] [flags]"; NULL: a line for each
                          subcommand */
    const char *text;  /* a paragraph for --help, or NULL */
    struct {
        const char *what, *line; /* "winjoin" comes before the line */
    } examples[4];               /* ended by a row without a line */
    const char *words; /* what its words are: "FILE", "DIR", "PHASE", "SERVICE" or the choices
                          "a|b", in brackets those that may be left out, with blanks between;
                          NULL: it takes none */
    const struct option *output; /* its own -o; NULL: text, json and yaml. Where a subcommand has
                                    one, it holds those three, too */
    const struct option_group *groups[8]; /* its flags, NULL-terminated */
    const struct option_group *taken[6]; /* flags that it takes, but has no use for: a whole line of
                                            join may stand behind discover */
    const struct verb *subcommands;      /* ended by a row without a name; or NULL */
    int (*run)(struct program *program, struct error *err); /* NULL in a subcommand: the verb's */
    bool anywhere; /* it needs no Windows: kubectl winjoin has it, too */
    bool secret;   /* what it prints may hold one: --output-file is for its owner alone */
    bool hidden;
    bool raw; /* everything behind the verb is a word, also what looks like an option */
};
enum { VERB_TABLES_MAX = 32, SUBCOMMANDS_MAX = 16 };
extern const struct verb verbs[]; /* the last one has no name */
/* By name, or NULL. */
const struct verb *verb_find(const char *name);
/* The subcommand that a word names, or NULL. */
const struct verb *verb_subcommand(const struct verb *verb, const char *word);
/* Every table of flags that the verb and its subcommands take, NULL-terminated. */
void verb_tables(const struct verb *verb, const struct option *ret[VERB_TABLES_MAX]);
/* ERROR_USAGE, for a word that names no subcommand, with the nearest. */
int verb_unknown_subcommand(const struct verb *verb, const char *word, struct error *err);
/* ERROR_USAGE that says which one may have been meant. */
int verb_unknown(const char *name, struct error *err);

/* The whole program. argv is UTF-8; `open` makes the host for --rootfs (NULL = this machine).
 * Answers the exit code. */
typedef int program_open_host(const char *rootfs, struct host **ret, struct error *err);
int program_run(int argc, char **argv, program_open_host *open);

/* A verb of the program under the name by which it was called; NULL: it has none of this name. */
const struct verb *program_verb(const struct program *program, const char *name);
/* ERROR_USAGE that says so. */
int program_unknown(const struct program *program, const char *name, struct error *err);
/* Is that argv[0] this name, with folders before it and ".exe" behind it or not, in any case? */
bool program_is_called(const char *argv0, const char *name);

/* Verbs' functions. */
int verb_join(struct program *program, struct error *err);
int verb_preflight(struct program *program, struct error *err);
int verb_discover(struct program *program, struct error *err);
int verb_diag(struct program *program, struct error *err);
int verb_status(struct program *program, struct error *err);
int verb_logs(struct program *program, struct error *err);
int verb_reset(struct program *program, struct error *err);
int verb_bundle(struct program *program, struct error *err);
int verb_config(struct program *program, struct error *err);
int verb_certs(struct program *program, struct error *err);
int verb_watchdog(struct program *program, struct error *err);
int verb_capabilities(struct program *program, struct error *err);
int verb_prepare(struct program *program, struct error *err);
int verb_upgrade(struct program *program, struct error *err);
int verb_probe(struct program *program, struct error *err);
int verb_service(struct program *program, struct error *err);
int verb_completion(struct program *program, struct error *err);
int verb_complete(struct program *program, struct error *err);
int verb_install(struct program *program, struct error *err);
int verb_version(struct program *program, struct error *err);
int verb_help(struct program *program, struct error *err);

extern const struct option_group global_group; /* of every verb, beside -o */
extern const struct option output_options[];   /* -o of most verbs */
/* The flag of a row of join's options. */
#define JOIN_FLAG(field, type, flag, flags, argument, help, ...)                                   \
    {flag, 0, OPTION_##type, flags, offsetof(struct program_options, join.field), argument, help},
/* Flags of join (cmd/flags.c); others take some of them, too. */
extern const struct option_group join_cluster_group, join_node_group, join_checks_group,
    join_run_group;
extern const struct option_group diag_group, diag_cluster_group;
/* Of upgrade and certs renew, which take some of join's. */
extern const struct option_group prepare_programs_group, prepare_group, upgrade_group, certs_group;
/* What may stand in the cluster-wide defaults, too. */
extern const struct option_group join_network_group, join_programs_group;

/* Takes away blank words, and holds the rest to what the verb and its subcommand take. ERROR_USAGE
 * with the nearest right word. */
int words_check(struct program *program, struct error *err);
/* Adds a hint where a word is a name that nobody replaced by its value ("<token>", "$TOKEN", ~), or
 * has a character of a formatted page (quotes, dashes, blanks), which is a letter to a shell. */
void words_name_pasted(int argc, char **argv, struct error *err);
/* Reads the file of --config and of config validate (`path` as given). ERROR_USAGE. */
int program_read_config(struct program *program, const char *path, enum config_kinds kinds,
                        struct config_file *ret, struct error *err);
/* What the file's JoinConfiguration says, each error with its place. ERROR_USAGE. */
int program_check_file(const struct program *program, const struct config_file *file,
                       struct error *err);
/* The words of a call, where a whole line was pasted ("sudo kubeadm join ...", as words or as one
 * text, with a prompt, quotes and continued lines) those of it behind "join"; the rest stays. */
void join_expand_pasted(int argc, char *const *argv, struct text_list *ret);
/* Takes away empty words and the signs that continue a line. */
void join_drop_blank_words(struct text_list *words);
/* ERROR_USAGE for a pasted line whose token or hash is cut in pieces, or that lacks a blank before
 * a flag. No part of a token is shown. */
int join_check_pasted(const struct program *program, struct error *err);
/* Paths of bundle, lock, patches and discovery file, as a person gave them, made absolute. */
void program_settle_paths(struct join_options *options);
/* Reads --config, --token-file, --token - and the endpoint word into the join options, and checks
 * them as kubeadm does before anything is touched. */
int program_prepare_join(struct program *program, struct error *err);
/* Is there a way to find the cluster? For what cannot go on without. ERROR_USAGE. */
int program_need_discovery(const struct program *program, struct error *err);
