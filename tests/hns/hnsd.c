/* hnsd: the model of HNS behind 127.0.0.1:$HNS_PORT, for the rig's computenetwork.dll and
 * vmcompute.dll.
 *
 *   hnsd [--port N] [--set JSON] [--apply COMMAND] [--record FILE]
 *
 * --set: {"adapters":[{"alias","mac","addresses":[...],"dhcp"}],"version":[M,m],"outageMs":n,
 * "keepStatic":bool}, what a reset goes back to as well. --apply: a command that is kept running
 * and is handed the whole state (hns_model_state) as one JSON line after each change; it answers
 * one line,
 * {"ok":true,...} or {"ok":false,"error":...}, before the caller gets its answer. Function "ctl"
 * with one JSON object: the model's operations (hns_model_control), record {file}, mark {text},
 * rewrite {fn, find, replace, seen?, lost?} (hnsd.h);
 * every other operation goes to the command, and its answer line back. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "tests/hns/hnsd.h"

enum { PORT_DEFAULT = 17999, BACKLOG = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the model and the record */
static struct hns_model *model;
static volatile sig_atomic_t ended;

static uint64_t now_ms(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail with this clock */
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static json_t *state(void) {
    json_t *now;

    pthread_mutex_lock(&lock);
    now = hns_model_state(model);
    pthread_mutex_unlock(&lock);
    return now;
}

/* ---- control ---- */

static json_t *own_operation(const char *op, const json_t *request) {
    const char *file = json_string_value(json_object_get(request, "file"));
    const char *text = json_string_value(json_object_get(request, "text"));

    if (!strcmp(op, "record"))
        return hnsd_record_open(file) ? json_pack("{s:s}", "error", "cannot write the record")
                                      : json_object();
    if (!strcmp(op, "rewrite"))
        return hnsd_rewrite_add(request);
    if (strcmp(op, "mark"))
        return NULL;
    hnsd_record_mark(text ? text : "");
    return json_object();
}

/* The answer to one control request. from_child: the data plane itself told us, and knows. */
static json_t *control(const char *text, bool from_child) {
    json_t *request = json_loads(text ? text : "", 0, NULL), *answer;
    const char *op = json_string_value(json_object_get(request, "op"));
    bool changed = false, ticked;

    if (!op) {
        json_decref(request);
        return json_pack("{s:s}", "error", "an object with op is expected");
    }
    pthread_mutex_lock(&lock);
    ticked = hns_model_tick(model, now_ms());
    answer = own_operation(op, request);
    if (!answer)
        answer = hns_model_control(model, request, &changed);
    pthread_mutex_unlock(&lock);
    if ((changed && !from_child) || ticked)
        hnsd_child_apply(state);
    if (!answer)
        answer = hnsd_child_runs() ? hnsd_child_ask(request)
                                   : json_pack("{s:s}", "error", "unknown operation");
    json_decref(request);
    return answer;
}

static void control_call(const struct hnsd_request *r, struct hns_answer *ret) {
    json_t *answer = control(r->n_args ? r->args[0] : NULL, !strcmp(r->exe, "dataplane"));

    memset(ret, 0, sizeof(*ret));
    ret->n = 1;
    ret->out[0] = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
}

/* ---- calls ---- */

static void sleep_ms(unsigned ms) {
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&t, NULL);
}

static void model_call(struct hnsd_request *r, struct hns_answer *ret) {
    char *object = NULL, *made[HNSD_ARGS_MAX] = {NULL};
    bool ticked;

    pthread_mutex_lock(&lock);
    ticked = hns_model_tick(model, now_ms());
    if (r->n_args && r->args[0])
        object = hns_model_handle(model, r->args[0]);
    if (hnsd_rewrite_loses(r)) {
        memset(ret, 0, sizeof(*ret));
    } else {
        hnsd_rewrite_call(r, made);
        (void)hns_model_call(model, r->function, r->args, r->n_args, ret);
    }
    hnsd_record_call(r, object, ret);
    hnsd_rewrite_answer(ret);
    pthread_mutex_unlock(&lock);
    free(object);
    for (size_t i = 0; i < HNSD_ARGS_MAX; i++)
        free(made[i]);
    if (ret->changed || ticked)
        hnsd_child_apply(state);
    if (ret->delay_ms)
        sleep_ms(ret->delay_ms);
}

static void *serve(void *argument) {
    int fd = (int)(intptr_t)argument;
    struct hnsd_request request;
    struct hns_answer answer;

    if (!hnsd_read(fd, &request)) {
        if (!strcmp(request.function, "ctl"))
            control_call(&request, &answer);
        else
            model_call(&request, &answer);
        hnsd_write(fd, &request, &answer);
        hns_answer_free(&answer);
    }
    hnsd_request_free(&request);
    (void)close(fd);
    return NULL;
}

/* ---- the port ---- */

static int listen_on(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, BACKLOG)) {
        (void)fprintf(stderr, "hnsd: cannot listen on 127.0.0.1:%d: %s\n", port, strerror(errno));
        return -1;
    }
    return fd;
}

static void take_connection(int listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    pthread_attr_t detached;
    pthread_t thread;

    if (fd < 0)
        return;
    (void)pthread_attr_init(&detached);
    (void)pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &detached, serve, (void *)(intptr_t)fd))
        (void)close(fd);
    (void)pthread_attr_destroy(&detached);
}

static void on_signal(int number) {
    (void)number;
    ended = 1;
}

/* Connections, and adapters whose outage is over, until a signal comes. Signals are let in only
 * while ppoll waits. */
static void run(int listener, const sigset_t *waiting) {
    while (!ended) {
        struct pollfd p = {.fd = listener, .events = POLLIN};
        struct timespec timeout;
        bool changed;
        int wait;

        pthread_mutex_lock(&lock);
        changed = hns_model_tick(model, now_ms());
        wait = hns_model_wait_ms(model, now_ms());
        pthread_mutex_unlock(&lock);
        if (changed)
            hnsd_child_apply(state);
        if (wait < 0 || wait > 1000)
            wait = 1000;
        timeout = (struct timespec){wait / 1000, (long)(wait % 1000) * 1000000};
        if (ppoll(&p, 1, &timeout, waiting) > 0)
            take_connection(listener);
    }
}

static void block_signals(sigset_t *ret_before) {
    const struct sigaction action = {.sa_handler = on_signal};
    sigset_t ours;

    (void)sigemptyset(&ours);
    (void)sigaddset(&ours, SIGTERM);
    (void)sigaddset(&ours, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &ours, ret_before);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

/* ---- command line ---- */

struct options {
    long long port;
    const char *apply, *record, *set;
};

static int read_options(int argc, char **argv, struct options *ret) {
    const char *port = getenv("HNS_PORT");

    for (int i = 1; i < argc; i += 2) {
        const char **value = !strcmp(argv[i], "--apply")    ? &ret->apply
                             : !strcmp(argv[i], "--record") ? &ret->record
                             : !strcmp(argv[i], "--set")    ? &ret->set
                             : !strcmp(argv[i], "--port")   ? &port
                                                            : NULL;

        if (!value || i + 1 == argc)
            return -1;
        *value = argv[i + 1];
    }
    ret->port = PORT_DEFAULT;
    return port ? text_to_number(port, 1, 65535, &ret->port) : 0;
}

static int prepare(const struct options *options) {
    struct hns_model_options own = {0};
    json_t *set, *answer;
    const char *why;
    int r = 0;

    if (getrandom(&own.seed, sizeof(own.seed), 0) != sizeof(own.seed))
        own.seed = now_ms();
    model = hns_model_new(&own);
    (void)hns_model_tick(model, now_ms());
    if (options->set) {
        set = json_loads(options->set, 0, NULL);
        json_object_set_new(set, "op", json_string("set"));
        json_object_set_new(set, "initial", json_true());
        answer = set ? hns_model_control(model, set, NULL)
                     : json_pack("{s:s}", "error", "--set is not a JSON object");
        why = json_string_value(json_object_get(answer, "error"));
        if (why) {
            (void)fprintf(stderr, "hnsd: %s\n", why);
            r = -1;
        }
        json_decref(answer);
        json_decref(set);
    }
    if (options->record && hnsd_record_open(options->record)) {
        (void)fprintf(stderr, "hnsd: cannot write '%s'\n", options->record);
        r = -1;
    }
    return r;
}

int main(int argc, char **argv) {
    struct options options = {0};
    sigset_t before;
    int listener;

    if (read_options(argc, argv, &options)) {
        (void)fprintf(stderr,
                      "usage: hnsd [--port N] [--set JSON] [--apply COMMAND] [--record FILE]\n");
        return 3;
    }
    if (prepare(&options))
        return 1;
    if (options.apply && hnsd_child_start(options.apply)) {
        (void)fprintf(stderr, "hnsd: cannot start '%s'\n", options.apply);
        return 1;
    }
    block_signals(&before);
    listener = listen_on((int)options.port);
    if (listener >= 0) {
        hnsd_child_apply(state);
        run(listener, &before);
    }
    hnsd_child_stop();
    return listener < 0;
}
