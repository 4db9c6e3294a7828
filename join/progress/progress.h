/* What a join tells while it runs, and what it has done. */
#pragma once

#include "host/wait.h"

struct join_phase;

enum join_event_state {
    JOIN_BEGIN,
    JOIN_WAITING, /* about once a second while something is waited for */
    JOIN_WARNING,
    JOIN_DONE,
    JOIN_SKIPPED,
    JOIN_FAILED,
};
struct join_event {
    enum join_event_state state;
    const struct join_phase *phase;
    const char *message;  /* "" or one line */
    const char *hint;     /* what would end a wait, or "" */
    unsigned waited_ms;   /* waiting */
    unsigned left_ms;     /* waiting: until the limit; 0 = unknown */
    unsigned percent;     /* waiting: done of what is waited for; 0 = unknown */
    unsigned duration_ms; /* done, failed */
    enum error_kind kind; /* failed */
};
typedef void join_listener(void *context, const struct join_event *event);

enum join_outcome { JOIN_PHASE_NOT_RUN, JOIN_PHASE_DONE, JOIN_PHASE_SKIPPED, JOIN_PHASE_FAILED };
struct join_phase_result {
    enum join_outcome outcome;
    unsigned duration_ms;
    bool changed; /* the machine */
    char *detail;
    json_t *data; /* the detail's facts; NULL: none */
};

/* Kept by the runner; phases add to detail, next and, by join_warn(), to warnings. */
struct join_progress {
    join_listener *listener; /* or NULL */
    /* Told the lines of a table that fills in, each time all of them; or NULL. */
    void (*table)(void *context, const struct text_list *lines);
    void *context;
    const struct join_phase *phase; /* the one that runs */
    struct text detail;             /* the fact of that phase that matters */
    struct text waiting;            /* what that phase has last waited for */
    json_t *data;                   /* and as an object, for documents: join_fact() */
    struct text_list warnings;
    struct text_list next;             /* what is left to do by hand */
    struct join_phase_result *results; /* one a phase */
    uint64_t started_ms;
};

/* One line of what a server said, that steers no terminal, without a token. The caller frees. */
char *join_shown(const char *words);
/* Tells the listener an event of the phase that runs. */
void join_tell(const struct join_progress *progress, struct join_event event);
void join_tell_waiting(struct join_progress *progress, unsigned waited_ms, unsigned left_ms,
                       const char *hint, const char *format, ...)
    __attribute__((format(gnu_printf, 5, 6)));
/* wait_until() that tells the listener what is missing. */
enum wait_look join_wait(struct host *host, struct join_progress *progress, struct wait *wait,
                         struct error *err);
/* A fact of the phase that runs, for its row in JoinResult. Takes it over; NULL: none. */
void join_fact(struct join_progress *progress, const char *key, json_t *value);
/* Each warning is shown once. */
void join_warn(struct join_progress *progress, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
