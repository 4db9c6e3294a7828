/* The process behind a service: answers the Service Control Manager and hosts a console program, or
 * work of our own. Platform files: host/win32/service_host.c, host/posix/service_host.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Borrowed for the call. */
struct service_program {
    const char *const *argv;        /* NULL-terminated, argv[0] is the program's path */
    const char *const *environment; /* additional NAME=value, NULL-terminated, or NULL */
    const char *working_folder;     /* or NULL */
    unsigned stop_timeout_ms;       /* from Ctrl-Break to the end of the job */
    /* Told each piece that the program writes to standard output or standard error. */
    void (*on_output)(void *context, const char *data, size_t len);
    /* Told once, when it has ended; `asked`: by a stop or the shutdown. Or NULL. */
    void (*on_end)(void *context, bool asked, unsigned exit_code);
    void *context;
};

/* Work inside this process. `begin` is over before the service is reported as running, so that what
 * depends on it starts after it; where it fails, the service ends. `go_on` returns soon after
 * host_interrupted(), which a stop and the shutdown cause. */
struct service_work {
    int (*begin)(void *context, struct error *err);
    int (*go_on)(void *context, struct error *err);
    void *context;
};

/* Runs a program, or work, as service `name`; the other one is NULL. A program is started in a job
 * that ends with us, and the service reported as running; its output is handed on, stop and
 * shutdown become Ctrl-Break and, after the grace time, the end of the job. Returns when the
 * service has stopped; a program that ended by itself is reported to the SCM with its exit code, so
 * that the recovery actions apply. On Linux both run in the foreground. ERROR_USAGE when this
 * process was not started by the SCM. */
int service_host_run(const char *name, const struct service_program *program,
                     const struct service_work *work, struct error *err);
