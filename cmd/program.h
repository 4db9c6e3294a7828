/* One run of winjoin: the host it acts on, its options, where results and errors go. */
#pragma once

#include "base/json.h"
#include "base/log.h"
#include "cmd/options.h"
#include "host/host.h"
#include "host/http.h"
#include "host/terminal.h"
#include "join/configuration/join_configuration.h"
#include "join/configuration/join_options.h"
#include "join/phases/phases.h"
#include "join/progress/progress.h"
#include "join/run.h"
#include "join/undo/journal.h"
#include "kube/client.h"

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
    bool as_kubeadm;  /* called by that name */
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
    struct record *record; /* of what this run leaves on the node, or NULL */
    const char *kept_log;  /* path of its log, for the user; NULL: it left no log */
    json_t *result;        /* with -o json and yaml: printed at the end, also beside an error */
};

/* Flags under one heading of the help. */
struct option_group {
    const char *title;            /* "Network" */
    const struct option *options; /* ended by a row without a name */
};

/* A verb, or a subcommand of one. Its function prints results by output_text() and answers 0 or -1
 * with the error. Help, completion and manual pages are made of these rows. */
struct verb {
    const char *name;
    const char *help; /* one line */
    /* behind "winjoin ", e.g. "join [ENDPOINT] [flags]"; NULL: a line for each subcommand */
    const char *usage;
    const char *text; /* a paragraph for --help, or NULL */
    struct {
        const char *what, *line; /* "winjoin" comes before the line */
    } examples[4];               /* ended by a row without a line */
    /* what its words are: "FILE", "DIR", "PHASE", "SERVICE" or the choices "a|b", in brackets
     * those that may be left out, with blanks between; NULL: it takes none */
    const char *words;
    /* its own -o; NULL: text, json and yaml. Where a subcommand has one, it holds those three,
     * too */
    const struct option *output;
    const struct option_group *groups[8]; /* its flags, NULL-terminated */
    /* flags that it takes, but has no use for: a whole line of join may stand behind discover */
    const struct option_group *taken[6];
    const struct verb *subcommands; /* ended by a row without a name; or NULL */
    int (*run)(struct program *program, struct error *err); /* NULL in a subcommand: the verb's */
    bool anywhere; /* it needs no Windows: kubectl winjoin has it, too */
    bool secret;   /* what it prints may hold one: --output-file is for its owner alone */
    bool hidden;
    bool raw; /* everything behind the verb is a word, also what looks like an option */
};
enum { VERB_TABLES_MAX = 32, SUBCOMMANDS_MAX = 16 };
extern const struct verb verbs[]; /* the last one has no name */
/* The verb of that name in a table whose last row has no name (`verbs`, or the subcommands of a
 * verb); NULL: it has none, or the table is NULL. */
const struct verb *verb_find(const struct verb *table, const char *name);
/* Every table of flags that the verb and its subcommands take, NULL-terminated. */
void verb_tables(const struct verb *verb, const struct option *ret[VERB_TABLES_MAX]);
/* ERROR_USAGE, for a word that names no subcommand, with the nearest. */
int verb_unknown_subcommand(const struct verb *verb, const char *word, struct error *err);

/* The whole program. argv is UTF-8; `open` makes the host for --rootfs (NULL = this machine).
 * Answers the exit code. */
typedef int program_open_host(const char *rootfs, struct host **ret, struct error *err);
int program_run(int argc, char **argv, program_open_host *open);

/* A verb of the program under the name by which it was called; NULL: it has none of this name. */
const struct verb *program_verb(const struct program *program, const char *name);
/* ERROR_USAGE: there is no verb of this name; with a hint at the one that may have been meant, in
 * kubeadm's words where the program is called so. */
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
/* How many of the first words of a call a pasted line brought along: "winjoin kubeadm join ...",
 * "winjoin sudo kubeadm join ...", "winjoin join join ...". */
int words_skip_pasted(int argc, char *const *argv);
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

/* The only place that prints: results to stdout, errors, hints and warnings to stderr. */

/* Text for a person, as it is; nothing with -o json or yaml. */
void output_text(const struct program *program, const char *text);
void output_format(const struct program *program, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
/* Bytes as they are, whatever -o says (kubeconfig, completion). */
void output_bytes(const void *data, size_t len);
/* true when all that was printed has arrived; who follows reads it now. */
bool output_flush(void);
/* The verb's document: kept until the end, printed for -o json and -o yaml. Takes the reference. */
void output_result(struct program *program, json_t *document);
/* A document of many, on a line of its own, at once. */
void output_line(const json_t *document);
/* true for -o json and -o yaml. */
bool output_is_document(const struct program *program);
/* With --output-file: from here on results go to that file instead of standard output. Fails as
 * output_path(). */
int output_open(struct program *program, struct error *err);
/* Prints the document, with `error` in it when failure is one; writes the file of --output-file,
 * whole or not at all, for its owner alone where the verb's results may hold a secret. With nothing
 * to write the file stays as it is. Fails as host_write(). */
int output_finish(struct program *program, const struct error *failure, struct error *err);
/* The same at the end, where bytes that did not arrive are an error: -1, said unless their reader
 * has seen enough. */
int output_end(void);
/* error: ..., hint: ... */
void output_error(const struct error *err);
void output_warning(const char *format, ...) __attribute__((format(gnu_printf, 1, 2)));
void output_warnings(const struct text_list *list);
/* Where a result goes that a person wants in a file of this name: absolute, for struct host. Fails
 * with ERROR_USAGE for an empty name, a folder, a symbolic link (which would be replaced) and a
 * folder that does not exist; `what` names the flag or word. The caller frees. */
int output_path(struct program *program, const char *what, const char *given, char **ret,
                struct error *err);
/* Colour and ticks are wanted on stdout (respectively stderr). */
bool output_color(const struct program *program, bool on_stderr);
bool output_utf8(const struct program *program, bool on_stderr);

/* Shows a join as it goes, on stderr: lines for a person, or one JSON object a line. */

enum progress_mode {
    PROGRESS_NONE,
    PROGRESS_PLAIN, /* a line at the end of each phase, and when a wait gets long */
    PROGRESS_LIVE,  /* a terminal with ANSI sequences: the waiting line is rewritten in place */
    PROGRESS_JSON,
};
struct progress {
    enum progress_mode mode;
    bool utf8, color;
    unsigned columns, lines;   /* of the terminal */
    size_t table;              /* lines of a table above the waiting line */
    struct host *host;         /* for the clock */
    struct program *program;   /* whose record gets each event */
    bool line_open;            /* a waiting line is on the terminal */
    unsigned last_told_ms;     /* plain: when the wait was last told */
    struct join_event waiting; /* what is waited for, told again as time goes by; its texts: */
    char *message, *hint;
    char *told_hint;            /* the last that was shown in this phase */
    uint64_t told_ms, drawn_ms; /* when `waiting` came, and when it was last shown */
    unsigned turn;              /* of the spinner */
    struct text_list warnings;  /* of the running phase, shown under its line */
};
/* By --progress (auto: live on a terminal, else plain) and the terminal. */
void progress_open(struct progress *progress, struct program *program);
/* A line of --progress json, without its line end: {"time","phase","state","message","hint",
 * "waitedSeconds","leftSeconds","durationSeconds"}, what does not apply absent; state is "started",
 * "waiting", "warning", "done", "skipped" or "failed". Pure; the caller frees. */
char *progress_json(const struct join_event *event, int64_t now);
/* A message cut to `room` bytes in its middle: what is done and why it waits stand at the ends.
 * Pure; the caller frees. */
char *progress_fit(const char *message, size_t room);
/* The join_progress function; context is the struct progress. */
void progress_show(void *context, const struct join_event *event);
/* Shows these lines above the waiting line, in the place of those before; on a terminal that is
 * high enough, and nowhere else. */
void progress_table(struct progress *progress, const struct text_list *lines);
/* Nothing is waited for now: takes the waiting line away. */
void progress_clear(struct progress *progress);
void progress_close(struct progress *progress);

/* At the end of a run's phases: an error says in which of them, unless it begins with that. */
void progress_name_phase(struct program *program, const struct join_progress *run, int result,
                         struct error *err);

/* What a run leaves on the node it worked on: its log and its report, the last ten of each kind,
 * and one entry in the Application log of Windows. */

/* Both in folders of winjoin's own, which SYSTEM and Administrators alone can read. A name is
 * KIND-YYYYMMDD-HHMMSS, in UTC. */
enum { RECORDS_KEPT = 10, EVENT_ID_BASE = 1000 };

/* Collects from now on what is logged (up to LOG_REQUEST) and told. `kind`: "join", "phase",
 * "reset" or "diag", not copied. Nothing is written before winjoin's work on this machine has
 * begun: as soon as `journal` (borrowed; NULL: record_begun() says so) has entries. */
void record_open(struct program *program, const char *kind, const struct journal *journal);
void record_begun(struct program *program);
/* A line of the log; a phase's begin, waits, warnings and end, which are written at once. */
void record_line(struct program *program, enum log_level level, const char *line);
void record_event(struct program *program, const struct join_event *event);
/* Writes what is left and the report: the result's document with time, exitCode, log and error. A
 * log that cannot be written is a warning. The path of a failed run's log is what program->kept_log
 * then is, until record_free().
 * The entry is of source winjoin: id EVENT_ID_BASE + exit code; an error, a warning where the node
 * has joined and flows fail, else an information. `what` is "join", "reset", "diag"; `node` may be
 * NULL. result and err are the run's. An entry that cannot be written fails nothing. */
void record_end(struct program *program, const char *what, const char *node, int result,
                const struct error *err);
void record_free(struct program *program);

/* The last report of that kind with its "report" (path), new reference; NULL: none since the last
 * reset that ended well: what is older tells of a node that is no more. */
json_t *record_last(struct host *host, const char *kind);
/* The name of a log of that kind that is younger than all reports of it and than that reset: a run
 * that goes on, or was killed. The caller frees; NULL: no such log. */
char *record_unfinished(struct host *host, const char *kind);

/* "2026-11-22T10:15:02Z INFO  ": how a line of a log begins; the caller frees. */
char *record_prefix(struct host *host, enum log_level level);

/* Called as kubeadm or kubeadm.exe, a copy or link of itself, winjoin takes kubeadm's place on a
 * worker: kubeadm's commands and flags, what it prints, its exit codes. */

struct verb;

/* The row of one of kubeadm's commands, also of those that a worker has no use for: they say where
 * to run them. NULL: kubeadm has none of that name. */
const struct verb *kubeadm_verb(const char *name);
/* What kubeadm --help prints. */
void kubeadm_overview(struct text *out);
/* As kubeadm 1.34 and newer: 1 whatever failed. An interruption keeps its own. */
int kubeadm_exit_code(enum error_kind kind);
/* What is not said in the call is done as kubeadm does it: pod network and kube-proxy are left to
 * DaemonSets, and nobody waits for them; services that the image brought are taken over. */
void kubeadm_settle(struct join_options *options);
/* In each such program, and in no kubeadm. */
extern const char kubeadm_mark[];

/* ---- A join called as kubeadm's prints what kubeadm does ---- */

struct kubeadm_phase {
    const char *id;    /* of winjoin's phase */
    const char *name;  /* kubeadm's phase, in which it does what winjoin does in that one */
    const char *begin; /* what kubeadm prints on standard output when it begins; "": nothing */
};
const struct kubeadm_phase *kubeadm_phase(const struct join_phase *phase);
/* What it prints there when a worker has joined. */
extern const char kubeadm_joined_text[];

/* JSON Schemas (2020-12) of every document that winjoin prints, publishes or reads: of
 * templates/documents.yaml, and of the tables by which configuration is read. */

/* Their names, those that are printed first, and what prints or reads each, in the same order. */
void schema_names(struct text_list *names, struct text_list *of);
/* NULL: no document has that name. New reference. */
json_t *schema_make(const char *name);

/* --kubeconfig and --context: the cluster that a person names, for every verb that asks one. */

/* A client with the credentials of that kubeconfig, a plugin's, too: it may run a program, as
 * kubectl does. `unnamed`: the file where the flag is absent. kube_client_close(). ERROR_USAGE
 * for a file that cannot be read, ERROR_UNSUPPORTED for impersonation; kubeconfig_run_plugin(),
 * kube_client_open(). */
int given_cluster_open(struct program *program, const char *unnamed, struct kube_client *ret,
                       struct error *err);

/* What this node is, as one document: NodeStatus. */

/* Asks the machine, the API server (0.7 s at most) and the reports that runs have left;
 * docs/status.md has the fields. New reference; kinds of failure: host_facts(). */
int node_status_make(struct program *program, json_t **ret, struct error *err);
