/* Runs a program and writes what it took into a file: spawn FILE PROGRAM [ARGUMENT...].
 * A tiny static program does this because the peak memory of a child begins with its parent's. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_STARTED = 127, SIGNALLED = 128, USAGE = 2 };

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    double begin = now(), wall;
    struct rusage used;
    int status, code;
    FILE *out;
    pid_t pid;

    if (argc < 3)
        return USAGE;
    pid = fork();
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        _exit(NOT_STARTED);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) < 0)
        return NOT_STARTED;
    wall = now() - begin;
    code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
    out = fopen(argv[1], "w");
    if (!out)
        return NOT_STARTED;
    fprintf(out, "{\"code\":%d,\"wall\":%.6f,\"cpu\":%.6f,\"peak\":%.3f}\n", code, wall,
            seconds(used.ru_utime) + seconds(used.ru_stime), (double)used.ru_maxrss / 1024);
    return fclose(out) ? NOT_STARTED : code;
}
