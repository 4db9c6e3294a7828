/* The Application log of Windows: one entry for each run that changes or proves something. */
#include "cmd/event.h"

#include "cmd/record.h"

void event_write(struct program *program, const char *what, const char *node, int result,
                 const struct error *err) {
    unsigned code = result < 0 ? (unsigned)error_exit_code(err->kind) : 0;
    char level = result == 0 ? 'i' : err->kind == ERROR_FLOWS ? 'w' : 'e';
    _cleanup_(freep) char *text = xasprintf("winjoin %s%s%s: %s", what, node ? " " : "",
                                            node ? node : "", result < 0 ? err->message : "done");

    record_close(program, result, err);
    (void)host_event(program->host, level, EVENT_ID_BASE + code, text, ERROR_IGNORED);
}
