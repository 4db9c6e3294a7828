/* Whatever a server answers, over a real connection: libcurl's reading and ours of status, headers,
 * Date, Retry-After, lengths, chunks and bodies. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/http.h"

enum { BODY_MAX = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while an answer is in use */
static const uint8_t *answer;
static size_t answer_len;
static unsigned port;

/* Reads one request, sends the answer, closes. */
static void serve(int connection) {
    char head[2048];
    size_t len = 0;
    ssize_t got;

    while (len < sizeof head && (got = recv(connection, head + len, sizeof head - len, 0)) > 0) {
        len += (size_t)got;
        if (len >= 4 && memcmp(head + len - 4, "\r\n\r\n", 4) == 0)
            break;
    }
    (void)pthread_mutex_lock(&lock);
    for (size_t sent = 0; sent < answer_len;) {
        got = send(connection, answer + sent, answer_len - sent, MSG_NOSIGNAL);
        if (got <= 0)
            break;
        sent += (size_t)got;
    }
    (void)pthread_mutex_unlock(&lock);
    (void)close(connection);
}

static void *listen_for_ever(void *context) {
    int listener = *(int *)context;

    for (;;) {
        int connection = accept(listener, NULL, NULL);

        if (connection >= 0)
            serve(connection);
    }
    return NULL;
}

static struct http *start(void) {
    static int listener;
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    pthread_t thread;

    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, len) < 0 ||
        listen(listener, 16) < 0 || getsockname(listener, (struct sockaddr *)&address, &len) < 0 ||
        pthread_create(&thread, NULL, listen_for_ever, &listener) != 0)
        abort();
    (void)pthread_detach(thread);
    port = ntohs(address.sin_port);
    return http_curl_new("fuzz", NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct http *http;
    static unsigned turn;
    _cleanup_(freep) char *url = NULL;
    struct http_request request = {.timeout_ms = 2000, .max_body = BODY_MAX, .proxy = ""};
    struct http_response response = {0};
    struct error err = {0};

    if (!http)
        http = start();
    (void)pthread_mutex_lock(&lock);
    answer = data;
    answer_len = size;
    (void)pthread_mutex_unlock(&lock);
    turn++; /* other addresses of the loopback: closed connections keep their ports for a while */
    url = xasprintf("http://127.%u.%u.%u:%u/", turn >> 16 & 127, turn >> 8 & 255, (turn & 127) + 1,
                    port);
    request.url = url;
    if (http_perform(http, &request, &response, &err) == 0) {
        if (response.status < 100 || response.status > 999 || response.body_len > BODY_MAX ||
            response.retry_after < -1 || !response.body || response.body[response.body_len])
            abort();
    } else if (response.body || err.kind == ERROR_NONE || err.kind == ERROR_UNTRUSTED) {
        abort();
    }
    http_response_free(&response);
    (void)pthread_mutex_lock(&lock); /* the bytes are the fuzzer's again */
    answer_len = 0;
    (void)pthread_mutex_unlock(&lock);
    return 0;
}
