/* Runs the process of a Windows service: answers the Service Control Manager (SCM) and runs a
 * console program or winjoin's own work. Implemented in host/win32/service_host.c and
 * host/posix/service_host.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A console program to run as a service. All members are borrowed for the call. */
struct service_program {
    const char *const *argv; /* Arguments, terminated by NULL; argv[0] is the program's path. */
    /* Additional variables NAME=value, terminated by NULL; may be NULL. */
    const char *const *environment;
    const char *working_folder; /* Working folder, or NULL. */
    unsigned stop_timeout_ms;   /* Time from Ctrl-Break until the job is terminated. */
    /* Called with each piece of the program's standard output and standard error. */
    void (*on_output)(void *context, const char *data, size_t len);
    /* Called when the program has ended; may be NULL. `asked` is true after a request to stop. */
    void (*on_end)(void *context, bool asked, unsigned exit_code);
    void *context;
};

/* Work of a service inside this process. `begin` ends before the service is reported as running, so
 * that dependent services start after it; when it fails, the service ends. `go_on` must return soon
 * after host_interrupted() becomes true, which a stop or shutdown request causes. */
struct service_work {
    int (*begin)(void *context, struct error *err);
    int (*go_on)(void *context, struct error *err);
    void *context;
};

/* Runs either a program or a function (`work`) as service `name`; the other one is NULL. A program
 * starts in a job that ends with this process, and the service is reported as running. Its output
 * is handed on. A stop or shutdown request becomes Ctrl-Break and, after the grace time, the end of
 * the job. Returns when the service has stopped. When a program ended by itself, the SCM gets its
 * exit code, so that the recovery actions apply. On Linux both run in the foreground. Fails with
 * ERROR_USAGE when the SCM did not start this process. */
int service_host_run(const char *name, const struct service_program *program,
                     const struct service_work *work, struct error *err);
