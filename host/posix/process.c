/* Runs a program of this machine, bounded in time and output. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/posix/posix.h"

enum { OUTPUT_MAX = 1024 * 1024 };

static uint64_t now_ms(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void child(const struct host_process *process, const char *program, int in, int out) {
    (void)setpgid(0, 0); /* so that what it starts can be ended with it */
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
        _exit(126);
    for (size_t i = 0; process->environment && process->environment[i]; i++)
        (void)putenv((char *)process->environment[i]);
    execv(program, (char *const *)process->argv);
    _exit(127);
}

/* Feeds input and collects output until the program closes its end or time is up. */
static int converse(int in, int out, const char *input, uint64_t deadline, struct text *output) {
    size_t left = input ? strlen(input) : 0;

    for (;;) {
        struct pollfd fds[2] = {{.fd = out, .events = POLLIN},
                                {.fd = left ? in : -1, .events = POLLOUT}};
        uint64_t now = now_ms();
        char buffer[4096];
        ssize_t n;

        if (now >= deadline || poll(fds, 2, (int)(deadline - now)) <= 0)
            return -1;
        if (fds[1].revents) {
            n = write(in, input, left);
            input += n > 0 ? n : 0;
            left = n > 0 ? left - (size_t)n : 0;
        }
        if (!left && in >= 0) {
            (void)close(in); /* end of its input */
            in = -1;
        }
        if (!fds[0].revents)
            continue;
        n = read(out, buffer, sizeof buffer);
        if (n <= 0)
            return 0;
        text_add_bytes(output, buffer, (size_t)n);
    }
}

static int collect(pid_t pid, int in, int out, const struct host_process *process,
                   int *ret_exit_code, char **ret_output, struct error *err) {
    struct text output = {.cap = OUTPUT_MAX};
    int status, late = converse(in, out, process->input, now_ms() + process->timeout_ms, &output);

    (void)close(out);
    if (late < 0)
        (void)kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (late < 0) {
        text_free(&output);
        return error_set(err, ERROR_TIMEOUT, "run '%s': not done after %u ms", process->argv[0],
                         process->timeout_ms);
    }
    *ret_exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    *ret_output = text_take(&output);
    return 0;
}

int posix_run(struct host *host, const struct host_process *process, int *ret_exit_code,
              char **ret_output, struct error *err) {
    _cleanup_(freep) char *program = NULL;
    int in[2], out[2];
    pid_t pid;

    if (process->argv[0][0] == '/')
        program = xstrdup(process->argv[0]);
    else if (posix_path(posix_of(host), process->argv[0], &program, err) < 0)
        return -1;
    if (access(program, X_OK) < 0)
        return error_set_os(err, ERROR_NOT_FOUND, (unsigned long)errno, "run '%s'",
                            process->argv[0]);
    if (pipe2(in, O_CLOEXEC) < 0)
        return error_set_os(err, ERROR_HOST, (unsigned long)errno, "make a pipe");
    if (pipe2(out, O_CLOEXEC) < 0) {
        (void)close(in[0]), (void)close(in[1]);
        return error_set_os(err, ERROR_HOST, (unsigned long)errno, "make a pipe");
    }
    pid = fork();
    if (pid == 0)
        child(process, program, in[0], out[1]);
    (void)close(in[0]), (void)close(out[1]);
    if (pid < 0) {
        (void)close(in[1]), (void)close(out[0]);
        return error_set_os(err, ERROR_HOST, (unsigned long)errno, "start '%s'", program);
    }
    return collect(pid, in[1], out[0], process, ret_exit_code, ret_output, err);
}
