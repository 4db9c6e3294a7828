/* Runs a service's program on Linux in the foreground: there is no Service Control Manager. */
#include "host/service_host.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/posix/posix.h"

int service_host_run(const char *name, const struct service_program *program,
                     const struct service_work *work, struct error *err) {
    _cleanup_(text_list_free) struct text_list environment = {0};
    char buffer[4096];
    int ends[2], status;
    ssize_t n;
    pid_t pid;

    if (work)
        return work->begin(work->context, err) < 0 ? -1 : work->go_on(work->context, err);
    if (pipe2(ends, 0) < 0)
        return error_set_os(err, ERROR_HOST, (unsigned long)errno, "make a pipe");
    posix_child_environment(program->environment, true, &environment);
    pid = fork();
    if (pid == 0) {
        if (program->working_folder && chdir(program->working_folder) < 0)
            _exit(126);
        if (dup2(ends[1], STDOUT_FILENO) < 0 || dup2(ends[1], STDERR_FILENO) < 0)
            _exit(126);
        execve(program->argv[0], (char *const *)program->argv, environment.items);
        _exit(127);
    }
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
