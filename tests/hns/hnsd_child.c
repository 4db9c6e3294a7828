/* The child of --apply: it makes packets of the state, one JSON line at a time. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/hns/hnsd.h"

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pid_t child;
static FILE *to, *from;

int hnsd_child_start(const char *command) {
    int in[2], out[2];

    if (pipe(in) || pipe(out))
        return -1;
    child = fork();
    if (child < 0)
        return -1;
    if (!child) {
        if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0)
            _exit(127);
        for (int i = 0; i < 2; i++) {
            (void)close(in[i]);
            (void)close(out[i]);
        }
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    to = fdopen(in[1], "w");
    from = fdopen(out[0], "r");
    return to && from ? 0 : -1;
}

bool hnsd_child_runs(void) {
    return to != NULL;
}

static json_t *failed(const char *why) {
    return json_pack("{s:b, s:s}", "ok", 0, "error", why);
}

/* With the turn held. */
static json_t *ask(const json_t *request) {
    char *text, *line = NULL;
    size_t size = 0;
    json_t *answer;
    bool sent;

    if (!to)
        return failed("no data plane");
    text = json_dumps(request, JSON_COMPACT);
    sent = text && fprintf(to, "%s\n", text) > 0 && !fflush(to);
    free(text);
    if (!sent || getline(&line, &size, from) <= 0) {
        free(line);
        return failed("the data plane ended");
    }
    answer = json_loads(line, 0, NULL);
    free(line);
    return answer ? answer : failed("the data plane spoke no JSON");
}

json_t *hnsd_child_ask(const json_t *request) {
    json_t *answer;

    pthread_mutex_lock(&turn);
    answer = ask(request);
    pthread_mutex_unlock(&turn);
    return answer;
}

void hnsd_child_apply(json_t *(*state)(void)) {
    json_t *now, *answer;

    if (!to)
        return;
    pthread_mutex_lock(&turn);
    now = state();
    answer = ask(now);
    json_decref(now);
    pthread_mutex_unlock(&turn);
    if (!json_is_true(json_object_get(answer, "ok"))) {
        const char *why = json_string_value(json_object_get(answer, "error"));

        (void)fprintf(stderr, "hnsd: data plane: %s\n", why ? why : "refused");
    }
    json_decref(answer);
}

void hnsd_child_stop(void) {
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};

    if (!to)
        return;
    (void)fclose(to);
    for (int i = 0; i < 250; i++) {
        if (waitpid(child, NULL, WNOHANG) != 0)
            return;
        (void)nanosleep(&pause, NULL);
    }
    (void)kill(child, SIGTERM);
    (void)waitpid(child, NULL, 0);
}
