/* The process behind a service, on Linux: there is no SCM, so it runs in the foreground. */
#include "host/service_host.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(const struct service_program *program, int output) {
    for (const char *const *e = program->environment; e && *e; e++)
        (void)putenv((char *)*e);
    if (program->working_folder && chdir(program->working_folder) < 0)
        _exit(126);
    if (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
        _exit(126);
    execv(program->argv[0], (char *const *)program->argv);
    _exit(127);
}

int service_host_program(const char *name, const struct service_program *program,
                         struct error *err) {
    char buffer[4096];
    int ends[2], status;
    ssize_t n;
    pid_t pid;

    if (pipe2(ends, 0) < 0)
        return error_set_os(err, ERROR_HOST, (unsigned long)errno, "make a pipe");
    pid = fork();
    if (pid == 0)
        child(program, ends[1]);
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return error_set_os(err, ERROR_HOST, (unsigned long)errno, "start '%s'", program->argv[0]);
    }
    while ((n = read(ends[0], buffer, sizeof buffer)) > 0)
        program->on_output(program->context, buffer, (size_t)n);
    (void)close(ends[0]);
    if (waitpid(pid, &status, 0) != pid)
        status = 1;
    if (program->on_end)
        program->on_end(program->context, false,
                        WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) : (unsigned)status);
    if (status == 0)
        return 0;
    return error_set(err, ERROR_HOST, "run service '%s': the program ended with status 0x%x", name,
                     status);
}

int service_host_work(const char *, const struct service_work *work, struct error *err) {
    return work->begin(work->context, err) < 0 ? -1 : work->go_on(work->context, err);
}
