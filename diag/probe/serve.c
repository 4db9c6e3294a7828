/* Runs the probe inside a pod: opens echo listeners, writes heartbeats, and answers the lists in
 * its mailbox. It keeps running whatever happens to that folder (bad content, a full disk, removed
 * and made again), and ends when nothing can be written there for a minute. */
#include <stdio.h>

#include "diag/probe/probe.h"
#include "host/socket.h"

enum {
    /* How long the echo listeners are served before the probe checks its mailbox again. */
    TURN_MS = 20,
    STEP_MS = 2, /* The same time while a measurement runs. */
    BEAT_US = 1000000,
    /* A mailbox that cannot be written for this long has no owner any more. */
    GONE_US = 60000000,
};

#define HEARTBEAT "heartbeat.txt"

struct server {
    const struct probe_server *options;
    struct socket_echo *echo; /* NULL while the ports cannot be opened. */
    struct probe_heartbeat beat;
    uint64_t beaten;     /* When a heartbeat was last tried. */
    uint64_t written;    /* When a heartbeat was last written. */
    unsigned generation; /* The number of the list to answer next: N of go-N and results-N.txt. */
    /* The measurement for that list; NULL when no measurement runs. */
    struct probe_work *work;
};

static char *path_of(const struct server *server, const char *name) {
    return xasprintf("%s/%s", server->options->mailbox, name);
}

static bool file_exists(const struct server *server, const char *name) {
    _cleanup_(freep) char *path = path_of(server, name);
    FILE *file = fopen(path, "rb");

    if (file)
        fclose(file);
    return file != NULL;
}

/* Writes a file beside it first and renames that, so that a reader sees a complete file or none. */
static int file_write(const struct server *server, const char *name, const char *data) {
    _cleanup_(freep) char *path = path_of(server, name);
    _cleanup_(freep) char *beside = xasprintf("%s.part", path);
    FILE *file = fopen(beside, "wb");
    size_t len = strlen(data);
    bool good;

    if (!file)
        return -1;
    good = fwrite(data, 1, len, file) == len;
    good = fclose(file) == 0 && good; /* The error of a full disk may appear only here. */
    if (good) {
        /* rename() of Windows does not replace a file. The file may be absent. */
        (void)remove(path);
        good = rename(beside, path) == 0;
    }
    if (!good)
        (void)remove(beside); /* A failure here cannot be handled any further. */
    return good ? 0 : -1;
}

static void beat(struct server *server) {
    const struct probe_server *o = server->options;
    struct probe_heartbeat *beat = &server->beat;
    _cleanup_(freep) char *prefix = xasprintf("%s ", o->name), *text = NULL;

    server->beaten = socket_now_us();
    /* The listeners are tried again with each heartbeat, because the address may come later than
     * the process. */
    if (!server->echo && (o->tcp_port || o->udp_port))
        server->echo = socket_echo_open(o->address, o->tcp_port, o->udp_port, prefix);
    beat->beat++;
    beat->tcp_echo = server->echo && o->tcp_port;
    beat->udp_echo = server->echo && o->udp_port;
    socket_host_name(beat->host_name, sizeof beat->host_name);
    for (char *c = beat->host_name; *c; c++)
        if (*c <= 0x20 || *c >= 0x7f)
            *c = '?';
    if (o->address[0]) {
        beat->address_count = 1;
        text_format(beat->addresses[0], sizeof beat->addresses[0], "%s", o->address);
    } else {
        beat->address_count = socket_own_addresses(beat->addresses, PROBE_ADDRESSES_MAX);
    }
    text = probe_heartbeat_write(beat);
    if (file_write(server, HEARTBEAT, text) == 0)
        server->written = server->beaten;
}

/* Begins to measure the list in the mailbox. If the list cannot be read, the results file says so
 * at once, and the asker need not wait. */
static void begin(struct server *server, const char *results) {
    _cleanup_(probe_list_free) struct probe_list list = {0};
    _cleanup_(freep) char *path = path_of(server, "probes.txt"), *text = NULL, *answer = NULL;
    FILE *file = fopen(path, "rb");
    struct error err = {0};
    size_t len = 0;

    if (file) {
        text = xmalloc(PROBE_FILE_MAX + 2);
        /* One byte more than allowed, to notice a file that is too long. */
        len = fread(text, 1, PROBE_FILE_MAX + 1, file);
        text[len] = '\0';
        fclose(file);
    }
    if (text && probe_list_parse(text, len, &list, &err) == 0) {
        server->work = probe_work_new(&list);
        return;
    }
    answer = xasprintf("winjoin-results 1\nerror %s\n", text ? err.message : "no probes.txt");
    if (file_write(server, results, answer) == 0)
        server->generation++;
}

void probe_serve(const struct probe_server *options) {
    struct server server = {.options = options, .generation = 1, .written = socket_now_us()};
    _cleanup_(freep) char *heartbeat = path_of(&server, HEARTBEAT);

    text_format(server.beat.name, sizeof server.beat.name, "%s", options->name);
    text_format(server.beat.run, sizeof server.beat.run, "%s", options->run);
    for (;;) {
        uint64_t now = socket_now_us();
        char go[32], results[32];

        if (now - server.beaten >= BEAT_US || !server.beat.beat)
            beat(&server);
        /* Begins the next generation when its file go-N is there. A generation with results was
         * answered by this probe before it was restarted, and is skipped. */
        snprintf(go, 32, "go-%u", server.generation);
        snprintf(results, 32, "results-%u.txt", server.generation);
        if (!server.work && file_exists(&server, go)) {
            if (file_exists(&server, results))
                server.generation++;
            else
                begin(&server, results);
        }
        if (server.work && probe_work_step(server.work)) {
            _cleanup_(probe_results_free) struct probe_results found = {0};
            _cleanup_(freep) char *answer = NULL;

            probe_work_end(take_ptr(server.work), &found);
            answer = probe_results_write(&found);
            if (file_write(&server, results, answer) == 0)
                /* After a failed write the list is measured again, when the disk may have room. */
                server.generation++;
        }
        if (!server.work && (file_exists(&server, "stop") || now > server.written + GONE_US))
            break;
        if (server.echo)
            socket_echo_serve(server.echo, server.work ? STEP_MS : TURN_MS);
        else
            socket_sleep(server.work ? STEP_MS : TURN_MS);
    }
    socket_echo_close(server.echo);
    /* The missing heartbeat shows that the probe ended; the folder may be gone, too. */
    (void)remove(heartbeat);
}
