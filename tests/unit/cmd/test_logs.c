/* winjoin logs: one stream of several files, by time. */
#include "tests/scene/program_scene.h"

#include "host/host_ops.h"
#include "join/undo/journal.h"

static void words(const char *line) {
    text_list_free(&program->words);
    text_list_split(&program->words, line, ' ');
}

/* Around the time of the host in memory, 2026-11-21T10:00:00Z. */
static void put_logs(void) {
    (void)putenv((char *)"TZ=UTC0");
    put("C:\\var\\log\\kubelet\\kubelet.log",
        "I1121 09:50:00.5 x one\r\nE1121 09:58:00 two\n  more\n");
    put("C:\\var\\log\\kubelet\\kubelet.1.log", "I1121 09:00:00.5 x old abcdef.0123456789abcdef\n");
    put("C:\\var\\log\\kubelet\\notes.txt", "I1121 09:00:00.5 no log\n");
    put("C:\\var\\log\\containerd\\containerd.log",
        "time=\"2026-11-21T09:55:00Z\" level=info msg=\"\x1b[31m\"\nnot whole");
    put(LOGS_FOLDER "\\join-20261121-095300.log", "2026-11-21T09:53:00Z INFO  done\n");
}

static void shows(const char *line, const char *since, const char *wanted) {
    struct error err;

    words(line);
    program->options.since = (char *)since;
    if (verb(verb_logs, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(text_str(&out), wanted);
    program->options.since = NULL;
}

static void all_by_time(void **state) {
    (void)state;
    put_logs();
    shows("", NULL,
          "kubelet         | I1121 09:00:00.5 x old abcdef.****************\n"
          "kubelet         | I1121 09:50:00.5 x one\n"
          "winjoin         | 2026-11-21T09:53:00Z INFO  done\n"
          "containerd      | time=\"2026-11-21T09:55:00Z\" level=info msg=\"\\x1b[31m\"\n"
          "kubelet         | E1121 09:58:00 two\n"
          "kubelet         |   more\n");
    shows("KUBELET", "5m",
          "kubelet         | E1121 09:58:00 two\n"
          "kubelet         |   more\n");
    program->options.tail = 1; /* of the one stream */
    shows("", NULL, "kubelet         |   more\n");
    program->options.tail = 0;
    shows("winjoin", NULL, "winjoin         | 2026-11-21T09:53:00Z INFO  done\n");
    shows("flanneld", NULL, "");
}

/* Counts what is read of files. */
static const struct host_ops *uncounted;
static size_t read_bytes;

static int count_part(struct host *host, const char *path, uint64_t offset, size_t max, char **ret,
                      size_t *ret_len, uint64_t *ret_size, struct error *err) {
    int result = uncounted->read_part(host, path, offset, max, ret, ret_len, ret_size, err);

    if (result == 0)
        read_bytes += *ret_len;
    return result;
}

/* A log larger than what is read at once shows its newest lines, and no piece of a line. The rest
 * is not read. */
static void the_end_of_a_long_one(void **state) {
    const size_t most = 64 * 1024 * 1024, len = most + 1024 * 1024;
    struct host_ops counting = *program->host->ops;
    _cleanup_(freep) char *whole = xmalloc(len + 32);

    (void)state;
    memset(whole, ' ', len);
    for (size_t at = 1024; at < len; at += 1024 * 1024)
        whole[at] = '\n';
    (void)text_format(whole, 32, "I1121 09:50:00.5 first\n");
    whole[23] = 'x';
    (void)text_format(whole + len, 32, "\nI1121 09:51:00.5 last\n");
    put("C:\\var\\log\\kubelet\\kubelet.log", whole);
    uncounted = program->host->ops;
    counting.read_part = count_part;
    program->host->ops = &counting;
    read_bytes = 0;
    shows("kubelet", NULL, "kubelet         | I1121 09:51:00.5 last\n");
    program->host->ops = uncounted;
    assert_in_range(read_bytes, 1, most);
}

static void as_a_document(void **state) {
    struct error err;

    (void)state;
    put_logs();
    program->options.output = (char *)"json";
    words("containerd");
    assert_int_equal(verb(verb_logs, &err), 0);
    assert_int_equal(out.len, 0);
    assert_string_equal(json_text_at(program->result, "kind"), "Logs");
    assert_string_equal(json_text_at(program->result, "lines.0.time"), "2026-11-21T09:55:00Z");
    assert_string_equal(json_text_at(program->result, "lines.0.service"), "containerd");
    program->options.follow = true;
    assert_int_equal(verb(verb_logs, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
}

/* Each time that it waits something happens; then Ctrl-C. */
static void on_sleep(void *context, struct host *host) {
    int *turn = context;

    switch ((*turn)++) {
    case 0:
        put("C:\\var\\log\\kubelet\\kubelet.log", "I1121 09:50:00.5 x one\r\nE1121 09:58:00 two\n  "
                                                  "more\nI1121 10:00:01 three\nI1121 10:0");
        break;
    case 1:
        put("C:\\var\\log\\kubelet\\kubelet.1.log",
            "I1121 09:50:00.5 x one\r\nE1121 09:58:00 two\n  more\nI1121 10:00:01 three\n"
            "I1121 10:00:02 four\n");
        put("C:\\var\\log\\kubelet\\kubelet.log", "I1121 10:00:03 five\n");
        break;
    case 2:
        break; /* nothing new */
    default:
        host_memory_interrupt(host);
    }
}

static void follows_through_a_rotation(void **state) {
    int turn = 0;

    (void)state;
    put_logs();
    host_memory_on_sleep(program->host, on_sleep, &turn);
    program->options.follow = true;
    shows("kubelet", "1m",
          "kubelet         | I1121 10:00:01 three\n"
          "kubelet         | I1121 10:00:02 four\n"
          "kubelet         | I1121 10:00:03 five\n");
}

static void wrong_calls(void **state) {
    static const struct {
        const char *line, *since, *message, *hint;
    } rows[] = {
        {"kubelt", NULL, "show the logs of \"kubelt\": no such service", "did you mean kubelet?"},
        {"zzz", NULL, "show the logs of \"zzz\": no such service",
         "services with logs: winjoin, winjoin-network, containerd, kubelet, flanneld, "
         "hybrid-overlay-node, kube-proxy"},
        {"", "10", "invalid value \"10\" for --since: not a duration", "as 30s, 10m or 2h"},
        {"", "-1m", "invalid value \"-1m\" for --since: not a duration", "as 30s, 10m or 2h"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err;

        words(rows[i].line);
        program->options.since = (char *)rows[i].since;
        assert_int_equal(verb(verb_logs, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_string_equal(err.message, rows[i].message);
        assert_string_equal(err.hints[0], rows[i].hint);
    }
}

int main(void) {
#define LOGS_TEST(name) cmocka_unit_test_setup_teardown(name, open_program, close_program)
    const struct CMUnitTest tests[] = {
        LOGS_TEST(all_by_time),   LOGS_TEST(the_end_of_a_long_one),
        LOGS_TEST(as_a_document), LOGS_TEST(follows_through_a_rotation),
        LOGS_TEST(wrong_calls),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
