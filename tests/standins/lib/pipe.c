/* One JSON object a line over a named pipe. */
#include "tests/standins/lib/pipe.h"

#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/lib/lifetime.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { LINE_MAX_BYTES = 4 * 1024 * 1024, BUFFER_BYTES = 65536 };

struct connection {
    HANDLE pipe;
    pipe_answer *answer;
    pipe_http2 *http2;
};

/* A line without its newline; -1 when the other side is gone. */
static int read_line(HANDLE pipe, struct text *line) {
    char byte;
    DWORD got;

    text_clear(line);
    while (line->len < LINE_MAX_BYTES) {
        if (!ReadFile(pipe, &byte, 1, &got, NULL) || got == 0)
            return -1;
        if (byte == '\n')
            return 0;
        text_add_char(line, byte);
    }
    return -1;
}

static int write_all(HANDLE pipe, const char *at, size_t left) {
    while (left) {
        DWORD done;
        if (!WriteFile(pipe, at, (DWORD)left, &done, NULL))
            return -1;
        at += done;
        left -= done;
    }
    return 0;
}

static int write_line(HANDLE pipe, const json_t *object) {
    _cleanup_(freep) char *body = json_write(object);
    _cleanup_(freep) char *line = xasprintf("%s\n", body);

    return write_all(pipe, line, strlen(line));
}

/* `line` is the first of the preface. */
static void talk_http2(const struct connection *connection, struct text *line) {
    _cleanup_(text_free) struct text input = {0}, output = {0};
    char piece[4096];
    DWORD got;

    text_addf(&input, "%s\n", text_str(line));
    while (input.len < LINE_MAX_BYTES && connection->http2(&input, &output)) {
        if (!ReadFile(connection->pipe, piece, sizeof(piece), &got, NULL) || got == 0)
            return;
        text_add_bytes(&input, piece, got);
    }
    (void)write_all(connection->pipe, text_str(&output), output.len); /* else the client is gone */
}

static void talk(void *given) {
    struct connection *connection = given;
    struct text line = {0};

    while (read_line(connection->pipe, &line) == 0) {
        struct error err = {0};
        _cleanup_(json_decrefp_) json_t *request = NULL, *answer = NULL;
        if (connection->http2 && text_starts_with(text_str(&line), "PRI * HTTP/2.0")) {
            talk_http2(connection, &line);
            break;
        }
        if (json_read(text_str(&line), line.len, "request", &request, &err))
            answer = json_pack("{s:b,s:s}", "ok", 0, "error", err.message);
        else
            answer = connection->answer(request);
        if (write_line(connection->pipe, answer))
            break;
    }
    (void)FlushFileBuffers(connection->pipe); /* the client has what it wants, or is gone */
    (void)DisconnectNamedPipe(connection->pipe);
    CloseHandle(connection->pipe);
    text_free(&line);
    free(connection);
}

int pipe_serve(const char *path, pipe_answer *answer, pipe_http2 *http2, struct error *err) {
    while (!lifetime_over()) {
        HANDLE pipe =
            CreateNamedPipeA(path, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE | PIPE_WAIT,
                             PIPE_UNLIMITED_INSTANCES, BUFFER_BYTES, BUFFER_BYTES, 0, NULL);
        if (pipe == INVALID_HANDLE_VALUE)
            return error_set_os(err, ERROR_HOST, GetLastError(), "cannot make the pipe '%s'", path);
        if (!ConnectNamedPipe(pipe, NULL) && GetLastError() != ERROR_PIPE_CONNECTED) {
            CloseHandle(pipe);
            continue;
        }
        struct connection *connection = xmalloc(sizeof(*connection));
        *connection = (struct connection){pipe, answer, http2};
        lifetime_thread(talk, connection);
    }
    return 0;
}

static HANDLE dial(const char *path) {
    HANDLE pipe = INVALID_HANDLE_VALUE;

    for (int i = 0; i < 50 && pipe == INVALID_HANDLE_VALUE; i++) {
        pipe = CreateFileA(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
        if (pipe == INVALID_HANDLE_VALUE && (GetLastError() != ERROR_PIPE_BUSY))
            break;
        if (pipe == INVALID_HANDLE_VALUE)
            Sleep(20);
    }
    return pipe;
}

int pipe_ask(const char *path, const json_t *request, json_t **ret, struct error *err) {
    struct text line = {0};
    HANDLE pipe = dial(path);
    int result = -1;

    if (pipe == INVALID_HANDLE_VALUE)
        return error_set_os(err, ERROR_HOST, GetLastError(), "cannot open the pipe '%s'", path);
    if (write_line(pipe, request) || read_line(pipe, &line))
        (void)error_set(err, ERROR_HOST, "pipe '%s': the other side hung up", path);
    else
        result = json_read(text_str(&line), line.len, "answer", ret, err);
    CloseHandle(pipe);
    text_free(&line);
    if (result == 0 && !json_bool_at(*ret, "ok", false)) {
        const char *why = json_text_at(*ret, "error");
        (void)error_set(err, ERROR_HOST, "%s", why ? why : "refused without a word");
        json_decref(*ret);
        *ret = NULL;
        return -1;
    }
    return result;
}
