/* The program on a host in memory: words in, what is printed and the exit code out; or one verb,
 * with a terminal that is played. Shared by the tests of the program and of its verbs. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cmd/program.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

/* ---- what is printed ---- */

enum { PRINTED_MAX = 256 * 1024 };

/* One of the two streams goes into a file, until it is read. */
struct capture {
    FILE *stream, *file;
    int was;
};

static void capture_begin(struct capture *capture, FILE *stream) {
    *capture = (struct capture){stream, tmpfile(), 0};
    assert_non_null(capture->file);
    (void)fflush(stream);
    capture->was = dup(fileno(stream));
    assert_true(dup2(fileno(capture->file), fileno(stream)) >= 0);
}

static void capture_end(struct capture *capture, struct text *ret) {
    _cleanup_(freep) char *data = xmalloc(PRINTED_MAX);
    size_t len;

    (void)fflush(capture->stream);
    assert_true(dup2(capture->was, fileno(capture->stream)) >= 0);
    close(capture->was);
    rewind(capture->file);
    len = fread(data, 1, PRINTED_MAX, capture->file);
    (void)fclose(capture->file);
    text_clear(ret);
    text_add(ret, "");
    for (size_t i = 0; i < len; i++)
        if (data[i] != '\r' || (i + 1 < len && data[i + 1] != '\n'))
            text_add_char(ret, data[i]);
}

static struct text out, err_out; /* of the last call */

static inline bool has(const struct text *text, const char *part) {
    return strstr(text_str(text), part) != NULL;
}

static inline void assert_has(const struct text *text, const char *part) {
    if (!has(text, part))
        fail_msg("'%s' is not in '%s'", part, text_str(text));
}

/* ---- calls ---- */

static const char *variable; /* of the environment, NULL = none */

static inline int open_memory(const char *rootfs, struct host **ret, struct error *err) {
    (void)rootfs, (void)err;
    *ret = host_memory_new();
    if (variable)
        host_memory_set_environment(*ret, variable, "json");
    return 0;
}

/* A line whose first word is argv[0], words parted by blanks: the exit code. */
static inline int call_as(const char *line) {
    _cleanup_(text_list_free) struct text_list words = {0};
    struct capture captured[2];
    int code;

    text_list_split(&words, line, ' ');
    capture_begin(&captured[0], stdout);
    capture_begin(&captured[1], stderr);
    code = program_run((int)words.count, words.items, open_memory);
    capture_end(&captured[1], &err_out);
    capture_end(&captured[0], &out);
    return code;
}

/* "winjoin " + line. */
static inline int call(const char *line) {
    _cleanup_(freep) char *whole = xasprintf("winjoin %s", line);

    return call_as(whole);
}

/* ---- a program whose terminal is played ---- */

static struct program *program;
static const struct option *tables[VERB_TABLES_MAX];
static struct option_set set;

static inline int nobody_answers(void *context, const struct http_request *request,
                                 struct http_response *ret, struct error *err) {
    (void)context, (void)ret;
    return error_set(err, ERROR_NETWORK, "%s: no route", request->url);
}

static inline int open_program(void **state) {
    (void)state;
    program = xcalloc(1, sizeof *program);
    program->name = "winjoin";
    program->host = host_memory_new();
    program->http = http_memory_new(nobody_answers, NULL);
    program->options.join.start_spread = -1;
    verb_tables(verb_find(verbs, "join"), tables);
    set = (struct option_set){.tables = tables, .target = &program->options};
    set.given = xcalloc(options_count(&set), sizeof *set.given);
    program->set = &set;
    return 0;
}

static inline int close_program(void **state) {
    (void)state;
    record_free(program);
    json_decref(program->result);
    text_list_free(&program->words);
    join_options_free(&program->options.join);
    http_free(program->http);
    free(set.given);
    host_free(program->host);
    free(program);
    return 0;
}

static inline void put(const char *path, const char *text) {
    assert_int_equal(host_write(program->host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

static inline int verb(int (*run)(struct program *program, struct error *err), struct error *err) {
    struct capture captured[2];
    int result;

    *err = (struct error){0};
    capture_begin(&captured[0], stdout);
    capture_begin(&captured[1], stderr);
    result = run(program, err);
    capture_end(&captured[1], &err_out);
    capture_end(&captured[0], &out);
    assert_int_equal(result, err->kind == ERROR_NONE ? 0 : -1); /* none is passed over */
    return result;
}

static inline int free_output(void **state) {
    (void)state;
    text_free(&out);
    text_free(&err_out);
    return 0;
}
