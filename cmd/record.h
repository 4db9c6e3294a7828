/* What a run leaves on the node it worked on: its log and its report, the last ten of each kind,
 * and one entry in the Application log of Windows. */
#pragma once

#include "base/log.h"
#include "cmd/program.h"
#include "join/progress/progress.h"
#include "join/undo/journal.h"

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
