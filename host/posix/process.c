/* Runs a program of this machine with limits of time and output. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/command_line.h"
#include "host/posix/posix.h"

enum { OUTPUT_MAX = 1024 * 1024, POLL_MS = 200 };

void posix_child_environment(const char *const *additional, bool talks, struct text_list *ret) {
    for (char **item = environ; item && *item; item++) {
        size_t len = strcspn(*item, "=");
        bool replaced = false;
        char *handed;

        for (const char *const *other = additional; other && *other; other++)
            replaced |= strcspn(*other, "=") == len && strncmp(*other, *item, len) == 0;
        handed = replaced ? NULL : child_variable(*item, talks);
        if (handed)
            text_list_add_owned(ret, handed);
    }
    for (; additional && *additional; additional++)
        text_list_add(ret, *additional);
}

/* A running program and our ends of its pipes (-1 when closed). */
struct child {
    pid_t pid;
    int in, out;
    const char *input; /* The part of the input that was not written to the program yet. */
    size_t left;
    uint64_t deadline;
    struct text output;
};

static void close_end(int *fd) {
    if (*fd >= 0)
        (void)close(*fd); /* A failed close of a pipe loses nothing. */
    *fd = -1;
}

/* Writes input and collects output until the program has ended. Returns -1 when the time is over,
 * the program wrote too much, or the user asked to stop. */
static int converse(struct host *host, struct child *child, bool undoes, int *ret_status) {
    const struct timespec pause = {.tv_nsec = 5 * 1000000};
    bool closed = false;

    if (!child->left)
        close_end(&child->in);
    while (!closed && !child->output.overflow && (undoes || !host_interrupted(host))) {
        struct pollfd fds[2] = {{.fd = child->out, .events = POLLIN},
                                {.fd = child->in, .events = POLLOUT}};
        uint64_t now = rootfs_monotonic_ms(NULL);
        char buffer[4096];
        ssize_t n;

        if (now >= child->deadline)
            return -1;
        if (poll(fds, 2,
                 (int)(child->deadline - now > POLL_MS ? POLL_MS : child->deadline - now)) <= 0)
            continue;
        if (child->in >= 0 && fds[1].revents) {
            n = write(child->in, child->input, child->left);
            child->input += n > 0 ? n : 0;
            child->left -= n > 0 ? (size_t)n : 0;
            if (!child->left || (n < 0 && errno != EINTR && errno != EAGAIN))
                close_end(&child->in); /* The program may not want to read all input. */
        }
        if (!fds[0].revents)
            continue;
        n = read(child->out, buffer, sizeof buffer);
        closed = n <= 0;
        text_add_bytes(&child->output, buffer, closed ? 0 : (size_t)n);
    }

    /* A program may close its output and continue, so wait for its end, with the same deadline. */
    while (closed && waitpid(child->pid, ret_status, WNOHANG) != child->pid) {
        if (rootfs_monotonic_ms(NULL) >= child->deadline)
            return -1;
        /* When a signal ends the pause early, the loop checks again. */
        (void)nanosleep(&pause, NULL);
    }
    return closed ? 0 : -1;
}

static int give_up(struct host *host, const struct child *child, const struct host_process *process,
                   struct error *err) {
    const char *name = process->argv[0];
    int status;

    (void)kill(-child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (child->output.overflow)
        return error_set(err, ERROR_MALFORMED, "run '%s': its output is longer than %d bytes", name,
                         OUTPUT_MAX);
    if (!process->undoes && host_interrupted(host))
        return error_set(err, ERROR_INTERRUPTED, "run '%s': interrupted", name);
    return error_set(err, ERROR_TIMED_OUT, "run '%s': it did not finish within %u ms", name,
                     process->timeout_ms);
}

static int start(const struct host_process *process, const char *program, struct child *child,
                 struct error *err) {
    _cleanup_(text_list_free) struct text_list environment = {0};
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) < 0)
        return error_set_os(err, ERROR_HOST, (unsigned long)errno, "make a pipe");
    if (pipe2(out, O_CLOEXEC) < 0) {
        close_end(&in[0]), close_end(&in[1]);
        return error_set_os(err, ERROR_HOST, (unsigned long)errno, "make a pipe");
    }
    posix_child_environment(process->environment, false, &environment);
    child->pid = fork();
    if (child->pid == 0) {
        /* The child gets a process group, so that its own children can be killed with it. */
        (void)setpgid(0, 0);
        (void)signal(SIGPIPE, SIG_DFL);
        if (dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0 ||
            (process->with_errors && dup2(out[1], STDERR_FILENO) < 0))
            _exit(126);
        execve(program, (char *const *)process->argv, environment.items);
        _exit(127);
    }
    close_end(&in[0]), close_end(&out[1]);
    child->in = in[1];
    child->out = out[0];
    if (child->pid < 0)
        return error_set_os(err, ERROR_HOST, (unsigned long)errno, "run '%s'", program);
    (void)fcntl(child->in, F_SETFL, O_NONBLOCK); /* Do not block when the program does not read. */
    return 0;
}

int rootfs_run(struct host *host, const struct host_process *process, int *ret_exit_code,
               char **ret_output, struct error *err) {
    _cleanup_(freep) char *program = NULL;
    struct child child = {.in = -1,
                          .out = -1,
                          .input = process->input,
                          .left = process->input ? strlen(process->input) : 0,
                          .deadline = rootfs_monotonic_ms(NULL) + process->timeout_ms,
                          .output = {.cap = OUTPUT_MAX}};
    int result, status = 0;

    if (process->argv[0][0] == '/')
        program = xstrdup(process->argv[0]);
    else if (rootfs_path(rootfs_of(host), process->argv[0], &program, err) < 0)
        return -1;
    if (access(program, X_OK) < 0)
        return error_set_os(err, ERROR_ABSENT, (unsigned long)errno, "run '%s'", process->argv[0]);
    result = start(process, program, &child, err);
    if (result == 0 && converse(host, &child, process->undoes, &status) < 0) {
        result = give_up(host, &child, process, err);
    } else if (result == 0) {
        *ret_exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        *ret_output = text_take(&child.output);
    }
    close_end(&child.in);
    close_end(&child.out);
    text_free(&child.output);
    return result;
}
