/* Shows a join as it goes, on stderr: lines for a person, or one JSON object a line. */
#pragma once

#include "cmd/program.h"
#include "join/run.h"

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

/* What is left to do by hand, whether or not the flows worked. */
void progress_tell_next(const struct program *program, const struct join_progress *run);
/* At the end of a run's phases: an error says in which of them, unless it begins with that. */
void progress_name_phase(struct program *program, const struct join_progress *run, int result,
                         struct error *err);
