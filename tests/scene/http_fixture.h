/* A real TLS server on loopback, and a client. On Windows, where a Wine prefix has no python3 for
 * the server, the tests on the wire are skipped. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/memory.h"
#include "host/host.h"
#include "host/http.h"
#include "host/socket.h"

struct fixture {
    bool windows;   /* which has no python3 for the server */
    json_t *server; /* what it told at its start */
    const char *ca, *certificate, *key;
    struct http *http;
    bool interrupted;
};

static struct fixture fixture;

static inline bool is_interrupted(void *context) {
    return *(bool *)context;
}

static inline int start_server(void **state) {
    const char *argv[] = {"/usr/bin/python3", "tests/unit/http_server.py", NULL};
    struct host_process process = {.argv = argv, .timeout_ms = 30000};
    _cleanup_(freep) char *output = NULL;
    struct host_facts facts;
    struct error err = {0};
    struct host *host;
    int code = -1;

    (void)state;
    fixture.http = http_curl_new("winjoin-test", is_interrupted, &fixture.interrupted);
    if (host_open(NULL, &host, &err) < 0)
        return -1;
    fixture.windows = host_facts(host, &facts, NULL) == 0;
    if (!fixture.windows && host_run(host, &process, &code, &output, &err) == 0 && code == 0 &&
        json_read(output, strlen(output), "server", &fixture.server, &err) == 0) {
        fixture.ca = json_text_at(fixture.server, "ca");
        fixture.certificate = json_text_at(fixture.server, "certificate");
        fixture.key = json_text_at(fixture.server, "key");
    }
    host_free(host);
    return 0;
}

/* A request to a path of the server, trusting its CA. */
static inline struct http_request request_for(char url[128], const char *path) {
    if (fixture.windows)
        skip();
    if (!fixture.ca)
        fail_msg("tests/unit/http_server.py did not start");
    (void)snprintf(url, 128, "https://127.0.0.1:%lld%s", json_number_at(fixture.server, "port", 0),
                   path);
    fixture.interrupted = false;
    return (struct http_request){.url = url, .ca_pem = fixture.ca, .timeout_ms = 5000, .proxy = ""};
}

static inline int stop_server(void **state) {
    (void)state;
    if (fixture.ca) {
        char url[128];
        struct http_request request = request_for(url, "/quit");
        struct http_response response = {0};

        (void)http_perform(fixture.http, &request, &response, NULL); /* it ends by itself, too */
        http_response_free(&response);
    }
    http_free(fixture.http);
    json_decref(fixture.server);
    return 0;
}
