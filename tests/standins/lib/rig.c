/* The rig's data plane: a line of JSON each way on 127.0.0.1:17998, or $RIG_PORT. */
#include "tests/standins/lib/rig.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <winsock2.h>

enum { RIG_PORT = 17998, ANSWER_SECONDS = 90 };

static SOCKET dial(void) {
    WSADATA data;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *port = getenv("RIG_PORT");
    DWORD limit = ANSWER_SECONDS * 1000;
    long long number = RIG_PORT;

    (void)WSAStartup(MAKEWORD(2, 2), &data); /* counted; without it the socket fails below */
    if (port)
        (void)text_to_number(port, 1, 65535, &number); /* stays the default when it is none */
    address.sin_port = htons((unsigned short)number);
    SOCKET s = socket(AF_INET, SOCK_STREAM, 0);
    if (s == INVALID_SOCKET)
        return s;
    (void)setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, (const char *)&limit, sizeof(limit));
    if (connect(s, (struct sockaddr *)&address, sizeof(address)) == 0)
        return s;
    closesocket(s);
    return INVALID_SOCKET;
}

static int exchange(SOCKET s, const char *line, struct text *answer) {
    size_t left = strlen(line);
    char buffer[4096];

    for (const char *at = line; left;) {
        int n = send(s, at, (int)left, 0);
        if (n <= 0)
            return -1;
        at += n;
        left -= (size_t)n;
    }
    for (;;) {
        int n = recv(s, buffer, sizeof(buffer), 0);
        if (n <= 0)
            return -1;
        text_add_bytes(answer, buffer, (size_t)n);
        if (buffer[n - 1] == '\n')
            return 0;
    }
}

int rig_ask(const json_t *request, json_t **ret, struct error *err) {
    _cleanup_(freep) char *body = json_write(request);
    _cleanup_(freep) char *line = xasprintf("%s\n", body);
    _cleanup_(json_decrefp_) json_t *answer = NULL;
    struct text text = {0};
    SOCKET s = dial();
    int result;

    if (s == INVALID_SOCKET)
        return error_set_os(err, ERROR_HOST, (unsigned long)WSAGetLastError(),
                            "cannot reach the rig's data plane");
    result = exchange(s, line, &text);
    closesocket(s);
    if (result)
        (void)error_set(err, ERROR_HOST, "ask the rig: no answer");
    else
        result = json_read(text_str(&text), text.len, "the rig's answer", &answer, err);
    text_free(&text);
    if (result)
        return -1;
    if (!json_bool_at(answer, "ok", false)) {
        const char *why = json_text_at(answer, "error");
        return error_set(err, ERROR_HOST, "the rig refused %s: %s", json_text_at(request, "op"),
                         why ? why : "?");
    }
    if (ret)
        *ret = take_ptr(answer);
    return 0;
}
