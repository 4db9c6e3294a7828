/* Keeps what a join reports while it runs, and the results of its phases. */
#pragma once

#include "host/wait.h"

struct join_phase;

enum join_event_state {
    JOIN_BEGIN,
    JOIN_WAITING, /* Sent about once a second during a wait */
    JOIN_WARNING,
    JOIN_DONE,
    JOIN_SKIPPED,
    JOIN_FAILED,
};
struct join_event {
    enum join_event_state state;
    const struct join_phase *phase;
    const char *message;  /* Message in one line, or "" */
    const char *hint;     /* Command that would end the wait, or "" */
    unsigned waited_ms;   /* Time of the wait so far, of JOIN_WAITING */
    unsigned left_ms;     /* Time until the limit, of JOIN_WAITING; 0 when unknown */
    unsigned percent;     /* Progress of a download, of JOIN_WAITING; 0 when unknown */
    unsigned duration_ms; /* Time of the phase, of JOIN_DONE and JOIN_FAILED */
    enum error_kind kind; /* Kind of the error, of JOIN_FAILED */
};
typedef void join_listener(void *context, const struct join_event *event);

enum join_outcome { JOIN_PHASE_NOT_RUN, JOIN_PHASE_DONE, JOIN_PHASE_SKIPPED, JOIN_PHASE_FAILED };
struct join_phase_result {
    enum join_outcome outcome;
    unsigned duration_ms;
    bool changed; /* The phase changed the machine */
    char *detail;
    json_t *data; /* Facts of the detail; NULL when the detail has no facts */
};

/* The runner owns this. Phases add to detail and next, and by join_warn() to warnings. */
struct join_progress {
    join_listener *listener; /* Called for each event; or NULL */
    /* Called with all lines of a table each time it changes; or NULL. */
    void (*table)(void *context, const struct text_list *lines);
    void *context;
    const struct join_phase *phase; /* The running phase */
    struct text detail;             /* The most important fact of the running phase */
    struct text waiting;            /* What the running phase waited for last */
    json_t *data;                   /* Facts of the running phase, for documents: join_fact() */
    struct text_list warnings;
    struct text_list next;             /* What the user has to do afterwards */
    struct join_phase_result *results; /* One result per phase */
    uint64_t started_ms;
};

/* Returns a text from a server in one line, with control characters escaped and tokens hidden. The
 * caller frees it. */
char *join_shown(const char *words);
/* Sends an event of the running phase to the listener. */
void join_tell(const struct join_progress *progress, struct join_event event);
void join_tell_waiting(struct join_progress *progress, unsigned waited_ms, unsigned left_ms,
                       const char *hint, const char *format, ...)
    __attribute__((format(gnu_printf, 5, 6)));
/* Calls wait_until() and reports to the listener what is missing. */
enum wait_poll join_wait(struct host *host, struct join_progress *progress, struct wait *wait,
                         struct error *err);
/* Adds a fact of the running phase to its JoinResult row. Takes over `value`; NULL adds nothing. */
void join_fact(struct join_progress *progress, const char *key, json_t *value);
/* Sends a warning to the listener. Equal warnings are sent once. */
void join_warn(struct join_progress *progress, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
