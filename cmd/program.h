/* One run of winjoin: the host that it acts on, its options, and where results and errors go. The
 * caller frees each char * that a function returns or stores through a pointer. */
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

/* The fields of all options of all verbs. */
struct program_options {
    /* Options that every verb has: */
    char *output;
    char *output_file;
    long long verbosity;
    char *log_file;
    char *progress;
    bool no_color;
    bool help;
    char *rootfs;
    /* Options that only some verbs have: */
    struct join_options join;
    bool yes;                         /* The --force flag of reset and of install. */
    char *kubeconfig, *context;       /* The cluster for diag and config. */
    char *node_selector, *image;      /* The Nodes and the probe image for diag. */
    struct text_list nodes;           /* The names of Nodes for diag. */
    bool all_nodes;                   /* diag tests all Nodes, not a sample. */
    long long watch;                  /* The pause between tests of diag, in ms. */
    char *replay, *collect, *compare; /* Files that diag reads or writes. */
    char *since;                      /* The time span that logs shows. */
    bool follow;                      /* logs keeps showing new lines. */
    char *versions;                   /* The file of versions for bundle create. */
    bool tools;                       /* bundle create adds tools such as kubectl. */
    bool images;                      /* bundle create adds the sandbox image. */
    long long tail;                   /* The count of lines that logs shows; 0 means all. */
    long long windows_build;          /* The Windows build for bundle; 0 means every build. */
    bool drain;                       /* upgrade evicts the Pods first. */
    bool show_all;
    char *old_config, *new_config;                /* Files for config migrate. */
    char *resource_group, *route_table, *network; /* The cloud's names for config routes. */
    bool as_kubeadm, remove;                      /* The flags of install. */
    char *to;                                     /* The folder for install. */
};

struct program {
    bool as_kubeadm;  /* The program was called as kubeadm. */
    bool as_kubectl;  /* The program was called as kubectl-winjoin, as kubectl calls its plugins. */
    const char *name; /* The name in texts: "winjoin", "kubeadm" or "kubectl winjoin". */
    struct host *host;
    struct http *http;
    /* A client that Ctrl-C does not stop, or NULL. diag uses it to remove its objects. */
    struct http *last;
    struct terminal terminal;
    struct program_options options;
    struct text_list words;       /* The words after the verb that are no options. */
    const struct option_set *set; /* The verb's options, and which of them were given. */
    struct text_list flags;       /* Names of the options given on the command line. */
    const struct verb *verb;
    FILE *log;             /* The file of --log-file; NULL means standard error. */
    const char *phase;     /* Id of the phase that failed, or NULL. */
    struct record *record; /* The log and report of this run, or NULL. */
    const char *kept_log;  /* Path of the log to show to the user; NULL when none was written. */
    /* The document for -o json and yaml. It is printed at the end, also with an error. */
    json_t *result;
};

/* Options that share one heading in the help. */
struct option_group {
    const char *title;            /* The heading, such as "Network". */
    const struct option *options; /* The options of the group; the last row has no name. */
};

/* A verb or a subcommand. Its function prints results by output_text() and returns 0, or -1 with
 * the error. Help, completion and manual pages are made from these rows. */
struct verb {
    const char *name;
    const char *help; /* One line for lists of verbs. */
    /* The call without "winjoin ", e.g. "join [ENDPOINT] [flags]". NULL means that the help shows
     * the calls of the subcommands. */
    const char *usage;
    const char *text; /* A paragraph for --help, or NULL. */
    struct {
        const char *what, *line; /* What the example does, and its call without "winjoin ". */
    } examples[4];               /* Examples for --help; the last row has no line. */
    /* The verb's words, separated by blanks: "FILE", "DIR", "PHASE", "SERVICE" or choices "a|b".
     * Optional words are in brackets. NULL means that the verb takes none. */
    const char *words;
    /* The verb's own -o option; NULL means text, json and yaml. Where a subcommand has one of its
     * own, it offers those three formats, too. */
    const struct option *output;
    const struct option_group *groups[8]; /* The verb's own flags, NULL-terminated. */
    /* Flags that the verb accepts but ignores, so that a call of join works with discover, too. */
    const struct option_group *taken[6];
    const struct verb *subcommands; /* The rows of the verb's subcommands, or NULL. */
    /* The function; NULL in a subcommand means that the verb's function runs. */
    int (*run)(struct program *program, struct error *err);
    bool anywhere; /* The verb needs no Windows, so kubectl winjoin has it, too. */
    /* The verb's output may hold a secret, so only the owner may read --output-file. */
    bool secret;
    bool hidden;
    bool raw; /* Everything after the verb is a word, even if it looks like an option. */
};
enum { VERB_TABLES_MAX = 32, SUBCOMMANDS_MAX = 16 };
extern const struct verb verbs[]; /* The table of verbs; the last row has no name. */
/* Finds a verb by name in a table whose last row has no name (`verbs`, or the subcommands of a
 * verb). Returns NULL when the table is NULL or has no such verb. */
const struct verb *verb_find(const struct verb *table, const char *name);
/* Lists every table of flags that the verb and its subcommands take. NULL ends the list. */
void verb_tables(const struct verb *verb, const struct option *ret[VERB_TABLES_MAX]);
/* Fails with ERROR_USAGE for a word that names no subcommand; a hint names the nearest one. */
int verb_unknown_subcommand(const struct verb *verb, const char *word, struct error *err);

/* Runs the whole program and returns the exit code. argv is UTF-8. `open` opens the host of
 * --rootfs, or this machine where rootfs is NULL. */
typedef int program_open_host(const char *rootfs, struct host **ret, struct error *err);
int program_run(int argc, char **argv, program_open_host *open);

/* Finds a verb by name among those that the program has under the name it was called by (winjoin,
 * kubeadm, kubectl-winjoin); NULL when the program has no such verb. */
const struct verb *program_verb(const struct program *program, const char *name);
/* Fails with ERROR_USAGE because there is no verb of this name. A hint names the verb that was
 * probably meant. When winjoin was called as kubeadm, the texts are kubeadm's. */
int program_unknown(const struct program *program, const char *name, struct error *err);
/* Is argv[0] this name? Folders before it, ".exe" after it and case do not matter. */
bool program_is_called(const char *argv0, const char *name);

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

extern const struct option_group global_group; /* Options that every verb has, beside -o. */
extern const struct option output_options[];   /* The -o option of most verbs. */
/* Makes the flag of one row of join's options. */
#define JOIN_FLAG(field, type, flag, flags, argument, help, ...)                                   \
    {flag, 0, OPTION_##type, flags, offsetof(struct program_options, join.field), argument, help},
/* Groups of join's flags (cmd/flags.c). Other verbs use some of these groups, too. */
extern const struct option_group join_cluster_group, join_node_group, join_checks_group,
    join_run_group;
extern const struct option_group diag_group, diag_cluster_group;
/* Flags of prepare, upgrade and certs renew, which share some of join's options. */
extern const struct option_group prepare_programs_group, prepare_group, upgrade_group, certs_group;
/* Flags whose values the cluster-wide defaults may also hold. */
extern const struct option_group join_network_group, join_programs_group;

/* Removes blank words and checks the rest against what the verb and its subcommand take. Fails with
 * ERROR_USAGE; a hint names the nearest correct word. */
int words_check(struct program *program, struct error *err);
/* Counts the first words of a call that came with a pasted line, as in "winjoin kubeadm join ...",
 * "winjoin sudo kubeadm join ..." or "winjoin join join ...". */
int words_skip_pasted(int argc, char *const *argv);
/* Adds a hint where a word is a placeholder that was not replaced ("<token>", "$TOKEN", ~), or has
 * a character of a formatted page (typographic quotes, dashes or blanks), which a shell does not
 * treat specially. */
void words_name_pasted(int argc, char **argv, struct error *err);
/* Reads a configuration file for --config or config validate. `path` is as the user gave it. Fails
 * with ERROR_USAGE. */
int program_read_config(struct program *program, const char *path, enum config_kinds kinds,
                        struct config_file *ret, struct error *err);
/* Checks the file's JoinConfiguration. Fails with ERROR_USAGE and the place in the file. */
int program_check_file(const struct program *program, const struct config_file *file,
                       struct error *err);
/* Copies the words of a call to `ret`. Where a whole line was pasted ("sudo kubeadm join ...", as
 * words or as one text, with a prompt, quotes or continued lines), only its words after "join" are
 * copied. */
void join_expand_pasted(int argc, char *const *argv, struct text_list *ret);
/* Removes empty words and line continuation characters. */
void join_drop_blank_words(struct text_list *words);
/* Fails with ERROR_USAGE for a pasted line whose token or hash is cut in pieces, or that lacks a
 * blank before a flag. The error shows no part of a token. */
int join_check_pasted(const struct program *program, struct error *err);
/* Makes the paths of bundle, lock, patches and discovery file absolute. The user may have given
 * relative ones. */
void program_settle_paths(struct join_options *options);
/* Fills the join options from --config, --token-file, --token - and the endpoint word, and makes
 * kubeadm's checks of them before anything changes. */
int program_prepare_join(struct program *program, struct error *err);
/* Fails with ERROR_USAGE where no endpoint, discovery file or configuration names the cluster.
 * Verbs that need a cluster call it. */
int program_need_discovery(const struct program *program, struct error *err);

/* Functions of cmd/output.c, the only file that prints: results to stdout, errors, hints and
 * warnings to stderr. */

/* Prints text for a person. With -o json or yaml it prints nothing. */
void output_text(const struct program *program, const char *text);
void output_format(const struct program *program, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
/* Prints bytes unchanged, whatever -o says (kubeconfig, completion). */
void output_bytes(const void *data, size_t len);
/* Flushes stdout, so that a reader sees the output now. Returns false when a write has failed. */
bool output_flush(void);
/* Sets the verb's document, which is printed at the end for -o json and yaml. Takes the
 * reference. */
void output_result(struct program *program, json_t *document);
/* Prints one of many documents at once, on a line of its own. */
void output_line(const json_t *document);
/* Does -o ask for json or yaml? */
bool output_is_document(const struct program *program);
/* With --output-file, sends all further results to that file instead of stdout. Fails as
 * output_path(). */
int output_open(struct program *program, struct error *err);
/* Prints the document, with `error` in it after a failure, and writes the file of --output-file:
 * completely or not at all, and readable by its owner only where the verb's results may hold a
 * secret. An empty result leaves the file unchanged. Fails as host_write(). */
int output_finish(struct program *program, const struct error *failure, struct error *err);
/* Flushes stdout at the end of the program. Returns -1 when output was lost, and prints an error
 * unless the reader closed the pipe. */
int output_end(void);
/* Prints "error: ..." and "hint: ..." lines. */
void output_error(const struct error *err);
void output_warning(const char *format, ...) __attribute__((format(gnu_printf, 1, 2)));
void output_warnings(const struct text_list *list);
/* Makes the absolute path of a file that a result is written to. Fails with ERROR_USAGE for an
 * empty name, a folder, a symbolic link (which would be replaced) or a folder that does not exist;
 * `what` names the flag or word in the error. */
int output_path(struct program *program, const char *what, const char *given, char **ret,
                struct error *err);
/* May stdout (or stderr) get colors, or UTF-8 characters such as check marks? */
bool output_color(const struct program *program, bool on_stderr);
bool output_utf8(const struct program *program, bool on_stderr);

/* Shows the progress of a join on stderr, as lines for a person or as one JSON object per line. */

enum progress_mode {
    PROGRESS_NONE,
    PROGRESS_PLAIN, /* One line at the end of each phase, and more during a long wait. */
    /* On a terminal with ANSI sequences: one line shows the current wait and is rewritten in
     * place. */
    PROGRESS_LIVE,
    PROGRESS_JSON,
};
struct progress {
    enum progress_mode mode;
    bool utf8, color;
    unsigned columns, lines;   /* Size of the terminal in characters. */
    size_t table;              /* Count of lines of the table that is above the wait line. */
    struct host *host;         /* The host, for its clock. */
    struct program *program;   /* The program whose record gets each event. */
    bool line_open;            /* The terminal shows a wait line. */
    unsigned last_told_ms;     /* PROGRESS_PLAIN: when the wait was last printed. */
    struct join_event waiting; /* The current wait, printed again as time passes. Its texts: */
    char *message, *hint;
    char *told_hint;            /* The last hint that was shown in this phase. */
    uint64_t told_ms, drawn_ms; /* When `waiting` began, and when it was last shown. */
    unsigned turn;              /* Position of the spinner. */
    struct text_list warnings;  /* Warnings of the running phase, shown under its line. */
};
/* Chooses the mode from --progress. "auto" means live on a terminal, otherwise plain. */
void progress_open(struct progress *progress, struct program *program);
/* Makes a line of --progress json, without line end: {"time","phase","state","message","hint",
 * "waitedSeconds","leftSeconds","durationSeconds"}. Members that do not apply are absent. "state"
 * is "started", "waiting", "warning", "done", "skipped" or "failed". Pure. */
char *progress_json(const struct join_event *event, int64_t now);
/* Shortens a message to `room` bytes by cutting its middle. Its start says what is done and its end
 * why it waits, so both stay. Pure. */
char *progress_fit(const char *message, size_t room);
/* Shows an event. This is the join_progress callback; context is the struct progress. */
void progress_show(void *context, const struct join_event *event);
/* Shows these lines above the wait line, in place of the earlier table. Does nothing unless the
 * terminal is live and high enough. */
void progress_table(struct progress *progress, const struct text_list *lines);
/* Removes the wait line, because nothing is waited for now. */
void progress_clear(struct progress *progress);
void progress_close(struct progress *progress);

/* Puts the failed phase's name before the error at the end of a run, unless the error already
 * begins with it. Also sets program->phase. */
void progress_name_phase(struct program *program, const struct join_progress *run, int result,
                         struct error *err);

/* What a run leaves on its node: a log and a report (the last ten of each kind are kept) and one
 * entry in the Application log of Windows. */

/* Logs and reports are in winjoin's own folders, which only SYSTEM and Administrators can read.
 * Their names are KIND-YYYYMMDD-HHMMSS, in UTC. */
enum { RECORDS_KEPT = 10, EVENT_ID_BASE = 1000 };

/* Starts to collect log lines (up to LOG_REQUEST) and events. `kind` is "join", "phase", "reset" or
 * "diag" and is not copied. Nothing is written before winjoin has begun to change this machine:
 * until `journal` (borrowed) has entries or, where it is NULL, until record_begun(). */
void record_open(struct program *program, const char *kind, const struct journal *journal);
void record_begun(struct program *program);
/* record_line() adds a log line. record_event() adds the begin, wait, warning or end of a phase and
 * writes the log file. */
void record_line(struct program *program, enum log_level level, const char *line);
void record_event(struct program *program, const struct join_event *event);
/* Writes the rest of the log, and the report: the result's document with time, exitCode, log and
 * error. A log that cannot be written causes a warning. After a failed run program->kept_log is the
 * path of its log, until record_free().
 *
 * The entry in the Application log has the source winjoin and the id EVENT_ID_BASE + exit code. Its
 * type is error, warning where the node has joined but flows fail, or information. `what` is
 * "join", "reset" or "diag"; `node` may be NULL; result and err are those of the run. An entry that
 * cannot be written is ignored. */
void record_end(struct program *program, const char *what, const char *node, int result,
                const struct error *err);
void record_free(struct program *program);

/* Returns the last report of that kind, with its path as "report"; new reference. NULL when none
 * was written since the last successful reset: an older report is about a former node. */
json_t *record_last(struct host *host, const char *kind);
/* Returns the name of a log of that kind which is newer than all its reports and than the last
 * successful reset: its run is still going on, or was killed. NULL when there is no such log. */
char *record_unfinished(struct host *host, const char *kind);

/* Returns the start of a log line, such as "2026-11-22T10:15:02Z INFO  ". */
char *record_prefix(struct host *host, enum log_level level);

/* When a copy of winjoin or a link to it is named kubeadm or kubeadm.exe, it acts as kubeadm on a
 * worker: it has kubeadm's commands, flags, output and exit codes. */

struct verb;

/* Returns the row of a kubeadm command, or NULL when kubeadm has none of that name. Commands that a
 * worker cannot run have a row, too, which says where to run them. */
const struct verb *kubeadm_verb(const char *name);
/* Adds what kubeadm --help prints. */
void kubeadm_overview(struct text *out);
/* Returns the exit code of kubeadm 1.34 and newer: 1 for every failure, and winjoin's own code for
 * an interruption. */
int kubeadm_exit_code(enum error_kind kind);
/* Sets the defaults of kubeadm for options that the call does not give: DaemonSets provide the Pod
 * network and kube-proxy and the join does not wait for them; services that the image already has
 * are adopted. */
void kubeadm_settle(struct join_options *options);
/* A text that marks winjoin's programs: no real kubeadm contains it. */
extern const char kubeadm_mark[];

/* ---- output of a join that was called as kubeadm ---- */

struct kubeadm_phase {
    const char *id;    /* The id of winjoin's phase. */
    const char *name;  /* The phase of kubeadm that does the same work. */
    const char *begin; /* The text that kubeadm prints on stdout when its phase begins, or "". */
};
const struct kubeadm_phase *kubeadm_phase(const struct join_phase *phase);
/* What kubeadm prints on stdout when a worker has joined. */
extern const char kubeadm_joined_text[];

/* JSON Schemas (2020-12) of all documents that winjoin prints, publishes or reads. They are made
 * from templates/documents.yaml and from the tables of the configuration readers. */

/* Adds the names of all documents, printed ones first, and to `of` in the same order which command
 * prints or reads each. */
void schema_names(struct text_list *names, struct text_list *of);
/* Returns the schema of this document, or NULL when no document has that name. New reference. */
json_t *schema_make(const char *name);
/* The members of a document that winjoin reads, as commented lines of YAML with their descriptions.
 * The caller frees the text. */
char *schema_commented(const char *name);

/* --kubeconfig and --context name a cluster, for every verb that talks to one. */

/* Opens a client with the credentials of that kubeconfig. A credential plugin may run a program, as
 * in kubectl. `unnamed` is the file used without the flag. The caller calls kube_client_close().
 * Fails with ERROR_USAGE for a file that cannot be read, with ERROR_UNSUPPORTED for impersonation,
 * and as kubeconfig_run_plugin() and kube_client_open(). */
int given_cluster_open(struct program *program, const char *unnamed, struct kube_client *ret,
                       struct error *err);

/* The state of this node in one document, NodeStatus. */

/* Reads the machine, the API server (0.7 s at most) and the reports of earlier runs. docs/status.md
 * describes the fields. New reference; fails as host_facts(). */
int node_status_make(struct program *program, json_t **ret, struct error *err);
