/* The end of a run that changes or proves something: one entry in the Application log of Windows,
 * and its own log and report (cmd/record.h). */
#pragma once

#include "cmd/program.h"

enum { EVENT_ID_BASE = 1000 };

/* One entry of source winjoin: id EVENT_ID_BASE + exit code; an error, a warning where the node has
 * joined and flows fail, else an information. `what` is "join", "reset", "diag"; `node` may be
 * NULL. result and err are the run's. A log that cannot be written fails nothing. */
void event_write(struct program *program, const char *what, const char *node, int result,
                 const struct error *err);
