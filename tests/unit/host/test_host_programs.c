/* Programs and services that really run: this program starts itself, as a child and through the
 * SCM. */
#define SCENE "programs"
#include "tests/scene/host_scene.h"

#include "host/service_host.h"

#define PIPE "\\\\.\\pipe\\winjoin-test-programs"

#ifdef _WIN32
#include <windows.h>

static DWORD __stdcall say_hello(void *pipe) {
    DWORD written;

    while (ConnectNamedPipe(pipe, NULL) || GetLastError() == ERROR_PIPE_CONNECTED) {
        (void)WriteFile(pipe, "hello", 5, &written, NULL);
        (void)FlushFileBuffers(pipe);
        (void)DisconnectNamedPipe(pipe);
    }
    return 0;
}

/* Says hello on a pipe, for as long as this process is there. */
static void serve_pipe(void) {
    HANDLE pipe = CreateNamedPipeA(PIPE, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE,
                                   PIPE_UNLIMITED_INSTANCES, 4096, 4096, 0, NULL);
    HANDLE thread =
        pipe == INVALID_HANDLE_VALUE ? NULL : CreateThread(NULL, 0, say_hello, pipe, 0, NULL);

    if (thread)
        (void)CloseHandle(thread);
}
#else
static void serve_pipe(void) {
}
#endif

static int work_until_stopped(void *context, struct error *err) {
    struct host *host;

    (void)context;
    if (host_open(NULL, &host, err) < 0)
        return -1;
    for (int i = 0; i < 600 && host_sleep(host, 100, NULL) == 0; i++)
        ;
    host_free(host);
    return 0;
}

static void append(void *context, const char *data, size_t len) {
    FILE *file = fopen(context, "ab");

    if (file) {
        (void)fwrite(data, 1, len, file);
        (void)fclose(file);
    }
}

/* Running is reported when this is over (host/service_host.h). */
static int short_work(void *context, struct error *err) {
    struct host *host;
    int result;

    (void)context;
    if (host_open(NULL, &host, err) < 0)
        return -1;
    result = host_sleep(host, 300, err);
    host_free(host);
    return result;
}

/* What this program does when the SCM starts it: work of its own, or itself as a hosted program. */
static int act_as_service(const char *kind, const char *program) {
    const char *argv[] = {program, "--child", "wait", strcmp(kind, "parent") == 0 ? "pipe" : NULL,
                          NULL};
    const char *environment[] = {"WINJOIN_CHILD=hosted", NULL};
    struct service_program hosted = {.argv = argv,
                                     .environment = environment,
                                     .stop_timeout_ms = 1000,
                                     .on_output = append,
                                     .context = (char *)FOLDER "-output.txt"};
    const struct service_work work = {.begin = short_work, .go_on = work_until_stopped};
    struct error err = {0};

    if (strcmp(kind, "pipe") == 0)
        serve_pipe();
    if (strcmp(kind, "work") == 0 || strcmp(kind, "pipe") == 0)
        return service_host_run(SERVICE, NULL, &work, &err) < 0;
    return service_host_run(SERVICE, &hosted, NULL, &err) < 0;
}

static void run_service(const char *kind) {
    _cleanup_(freep) char *program = host_program_path(opened);
    _cleanup_(freep) char *command = xasprintf("\"%s\" --service %s", program, kind);
    struct host_service service = {.name = (char *)SERVICE, .command = command};
    struct host_service found = {0};

    SUCCEEDS(host_service_put(opened, &service, err));
    SUCCEEDS(host_service_start(opened, SERVICE, 20000, err));
    SUCCEEDS(host_service_start(opened, SERVICE, 20000, err));
    SUCCEEDS(host_service_query(opened, SERVICE, &found, err));
    assert_int_equal(found.state, HOST_SERVICE_RUNNING);
    assert_true(found.process_id != 0);
    host_service_free(&found);
    SUCCEEDS(host_sleep(opened, 700, err)); /* the program under it says its word */
    SUCCEEDS(host_service_stop(opened, SERVICE, 20000, err));
    SUCCEEDS(host_service_stop(opened, SERVICE, 20000, err));
    expect_service(SERVICE, HOST_SERVICE_STOPPED, command);
    SUCCEEDS(host_service_delete(opened, SERVICE, 20000, err));
    expect_service(SERVICE, HOST_SERVICE_ABSENT, NULL);
}

static void service_runs(void **state) {
    (void)state;
    run_service("work");
}

static void service_hosts_program(void **state) {
    (void)state;
    SUCCEEDS(host_remove(opened, FOLDER "-output.txt", err));
    run_service("program");
    if (!opened_windows) { /* a rehearsed service runs no program */
        assert_int_equal(host_file_type(opened, FOLDER "-output.txt"), HOST_ABSENT);
        return;
    }
    expect_content(FOLDER "-output.txt", "[wait]{hosted}");
    SUCCEEDS(host_remove(opened, FOLDER "-output.txt", err));
}

static int hear(void *context, const void *data, size_t len, struct text *reply, bool *ret_done,
                struct error *err) {
    (void)reply, (void)err;
    text_add_bytes(context, data, len);
    *ret_done = true;
    return 0;
}

static int talk_to_pipe(struct error *err) {
    _cleanup_(text_free) struct text heard = {0};
    struct host_pipe_talk talk = {.heard = hear, .context = &heard, .timeout_ms = 5000};
    struct host_pipe *pipe = NULL;
    bool done = false;

    if (host_pipe_open(opened, PIPE, &talk, &pipe, err) < 0)
        return -1;
    while (!done)
        assert_int_equal(host_pipe_turn(opened, pipe, 100, &done, err), 0);
    host_pipe_close(opened, pipe);
    assert_string_equal(text_str(&heard), "hello");
    return 0;
}

static void talk_to_service(const char *kind) {
    _cleanup_(freep) char *program = host_program_path(opened);
    _cleanup_(freep) char *command = xasprintf("\"%s\" --service %s", program, kind);
    struct host_service service = {.name = (char *)SERVICE, .command = command};
    int heard = -1;

    SUCCEEDS(host_service_put(opened, &service, err));
    SUCCEEDS(host_service_start(opened, SERVICE, 20000, err));
    for (int i = 0; i < 50 && heard < 0; i++) { /* a child is there a moment later */
        struct error not_yet;

        heard = talk_to_pipe(&not_yet);
        if (heard < 0)
            SUCCEEDS(host_sleep(opened, 100, err));
    }
    SUCCEEDS(talk_to_pipe(err));
    SUCCEEDS(host_service_delete(opened, SERVICE, 20000, err));
}

/* A service, and what it started, is talked to; another program of the same user is not. */
static void pipe_of_a_service(void **state) {
    (void)state;
    if (!opened_windows) { /* a rehearsal has no pipes */
        FAILS_WITH(ERROR_ABSENT, talk_to_pipe(err));
        return;
    }
    talk_to_service("pipe");
    talk_to_service("parent");
    serve_pipe();
    FAILS_WITH(ERROR_DENIED, talk_to_pipe(err));
}

/* What of these a program finds. */
static void tell_variables(void) {
    static const char *const names[] = {"WINJOIN_TOKEN", "WINJOIN_VNI", "HTTPS_PROXY",
                                        "HTTP_PROXY",    "NO_PROXY",    "DB_TOKEN"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (getenv(names[i]))
            printf("%s=%s;", names[i], getenv(names[i]));
}

/* What this program does when it runs itself: tells its arguments, a variable and its input. */
static int act_as_child(int argc, char **argv) {
    char line[4096];

    for (int i = 2; i < argc; i++)
        printf("[%s]", argv[i]);
    if (getenv("WINJOIN_CHILD"))
        printf("{%s}", getenv("WINJOIN_CHILD"));
    if (argc > 2 && strcmp(argv[2], "endless") == 0)
        for (;;)
            puts("again and again and again and again and again and again and again");
    if (argc > 2 && strcmp(argv[2], "wait") == 0) {
        struct error err;

        if (argc > 3)
            serve_pipe();
        (void)fflush(stdout);
        return work_until_stopped(NULL, &err);
    }
    if (argc > 2 && strcmp(argv[2], "variables") == 0) {
        tell_variables();
        return 5;
    }
    if (argc > 2 && strcmp(argv[2], "deaf") == 0)
        return 3;
    if (argc > 2 && strcmp(argv[2], "loud") == 0) {
        printf("out");
        (void)fflush(stdout);
        (void)fputs("err\n", stderr);
        return 4;
    }
    if (argc > 2 && strcmp(argv[2], "slow") == 0) {
        (void)fclose(stdout); /* its end is not the end of its output */
        while (fgets(line, sizeof line, stdin))
            ;
        for (volatile unsigned long i = 0; i < 1ul << 31; i++)
            for (volatile int j = 0; j < 1000; j++)
                ;
    }
    while (fgets(line, sizeof line, stdin))
        printf("<%zu>", strlen(line));
    return 7;
}

static int run_self(const char *const *arguments, const char *input, unsigned timeout_ms, int *code,
                    char **output, struct error *err) {
    _cleanup_(freep) char *program = host_program_path(opened);
    const char *environment[] = {"WINJOIN_CHILD=a b", NULL};
    const char *argv[8] = {program, "--child"};
    struct host_process process = {
        .argv = argv, .environment = environment, .input = input, .timeout_ms = timeout_ms};

    for (size_t i = 0; arguments[i]; i++)
        argv[i + 2] = arguments[i];
    return host_run(opened, &process, code, output, err);
}

static void programs_run(void **state) {
    const char *quoting[] = {"plain", "two words", "", "q\"uo\\\"te", "end\\ \\", NULL};
    const char *endless[] = {"endless", NULL}, *deaf[] = {"deaf", NULL}, *slow[] = {"slow", NULL},
               *waiting[] = {"wait", NULL};
    const char *none[] = {"C:\\no-such-program.exe", NULL};
    struct host_process absent = {.argv = none, .timeout_ms = 1000};
    _cleanup_(freep) char *long_input = xcalloc(1, 300001);
    char *output = NULL;
    int code = -1;

    (void)state;
    SUCCEEDS(run_self(quoting, "one\nthree\n", 20000, &code, &output, err));
    assert_int_equal(code, 7);
    assert_string_equal(output, "[plain][two words][][q\"uo\\\"te][end\\ \\]{a b}<4><6>");
    free(output);
    memset(long_input, 'x', 300000);
    SUCCEEDS(run_self(deaf, long_input, 20000, &code, &output, err));
    assert_int_equal(code, 3);
    free(output);
    /* at once, however long it may take */
    FAILS_WITH(ERROR_MALFORMED, run_self(endless, NULL, 3600000, &code, &output, err));
    FAILS_WITH(ERROR_TIMED_OUT, run_self(waiting, NULL, 700, &code, &output, err));
    FAILS_WITH(ERROR_TIMED_OUT, run_self(slow, NULL, 700, &code, &output, err));
    FAILS_WITH(ERROR_ABSENT, host_run(opened, &absent, &code, &output, err));
}

/* A program may read slower than it is written to: all of it comes. */
static void long_input_is_whole(void **state) {
    const char *none[] = {NULL};
    _cleanup_(freep) char *input = xcalloc(1, 300001), *output = NULL;
    size_t sum = 0;
    int code = -1;

    (void)state;
    memset(input, 'x', 300000);
    SUCCEEDS(run_self(none, input, 60000, &code, &output, err));
    for (const char *at = output; (at = strchr(at, '<')); at++)
        sum += strtoul(at + 1, NULL, 10);
    assert_int_equal(sum, 300000);
}

/* The fourth lowest descriptor that is free: what stays open below it moves it up. */
static int free_descriptor(void) {
    static const char path[] = "build/free-descriptor.txt"; /* there wherever tests run */
    FILE *files[4];
    int last = -1;

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        files[i] = fopen(path, "wb");
        assert_non_null(files[i]);
        last = fileno(files[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        assert_int_equal(fclose(files[i]), 0);
    assert_int_equal(remove(path), 0);
    return last;
}

/* A program that reads none of its input is given up: nothing of it stays open. */
static void programs_leave_nothing_open(void **state) {
    const char *waiting[] = {"wait", NULL};
    _cleanup_(freep) char *input = xcalloc(1, 300001);
    int code = -1, before = free_descriptor();
    char *output = NULL;

    (void)state;
    memset(input, 'x', 300000);
    FAILS_WITH(ERROR_TIMED_OUT, run_self(waiting, input, 700, &code, &output, err));
    assert_int_equal(free_descriptor(), before);
}

/* Errors are heard where they are asked for. */
static void programs_run_loudly(void **state) {
    _cleanup_(freep) char *program = host_program_path(opened);
    const char *argv[] = {program, "--child", "loud", NULL};
    struct host_process process = {.argv = argv, .timeout_ms = 20000};

    (void)state;
    for (int loud = 0; loud < 2; loud++) {
        _cleanup_(freep) char *output = NULL;
        int code = -1;

        process.with_errors = loud;
        SUCCEEDS(host_run(opened, &process, &code, &output, err));
        assert_int_equal(code, 4);
        assert_non_null(strstr(output, "out"));
        assert_int_equal(strstr(output, "err") != NULL, loud);
    }
}

static void set_variables(const char *const (*variables)[2], size_t count) {
    static char items[16][80]; /* they stay where they are */
    static size_t n;

    for (size_t i = 0; i < count; i++) {
        char *item = items[n++];

        assert_true(n <= ARRAY_SIZE(items));
        assert_int_equal(
            text_format(item, sizeof items[0], "%s=%s", variables[i][0], variables[i][1]), 0);
        assert_int_equal(putenv(item), 0);
    }
}

/* A token and a proxy's password are for this program alone; what else there is goes on. */
static void secrets_are_not_handed_on(void **state) {
    static const char *const variables[][2] = {{"WINJOIN_TOKEN", "abcdef.s3cr3t7q9z2w5x8v"},
                                               {"WINJOIN_VNI", "4096"},
                                               {"HTTPS_PROXY", "http://eve:s3cr3t@proxy:3128"},
                                               {"HTTP_PROXY", "http://proxy:3128"},
                                               {"NO_PROXY", "a@b,10.0.0.0/8"},
                                               {"DB_TOKEN", "its own"}};
    const char *arguments[] = {"variables", NULL};
    _cleanup_(freep) char *program = host_program_path(opened), *output = NULL, *given = NULL;
    const char *given_environment[] = {"HTTPS_PROXY=http://a:b@c", "WINJOIN_TOKEN=x",
                                       /* the beginning of its name is no other variable */
                                       "HTTP_PROXY_OF_OTHERS=x", NULL};
    const char *argv[] = {program, "--child", "variables", NULL};
    const struct host_process process = {
        .argv = argv, .environment = given_environment, .timeout_ms = 20000};
    int code = -1;

    (void)state;
    set_variables(variables, ARRAY_SIZE(variables));
    SUCCEEDS(run_self(arguments, NULL, 20000, &code, &output, err));
    assert_string_equal(output, "[variables]{a b}HTTPS_PROXY=http://proxy:3128;"
                                "HTTP_PROXY=http://proxy:3128;NO_PROXY=a@b,10.0.0.0/8;"
                                "DB_TOKEN=its own;");
    SUCCEEDS(host_run(opened, &process, &code, &given, err));
    assert_string_equal(given, "[variables]WINJOIN_TOKEN=x;HTTPS_PROXY=http://a:b@c;"
                               "HTTP_PROXY=http://proxy:3128;NO_PROXY=a@b,10.0.0.0/8;"
                               "DB_TOKEN=its own;");
    set_variables((const char *const[][2]){{"HTTPS_PROXY", ""}, {"HTTP_PROXY", ""}}, 2);
}

/* What was read is no longer there for anybody. */
static void a_secret_is_read_once(void **state) {
    static const char *const variables[][2] = {{"WINJOIN_TOKEN", "abcdef.s3cr3t7q9z2w5x8v"},
                                               {"WINJOIN_TOKEN_FILE", "D:\token"}};
    _cleanup_(freep) char *token = NULL, *again = NULL, *file = NULL, *file_again = NULL;

    (void)state;
    set_variables(variables, ARRAY_SIZE(variables));
    token = host_environment(opened, "WINJOIN_TOKEN");
    again = host_environment(opened, "WINJOIN_TOKEN");
    file = host_environment(opened, "WINJOIN_TOKEN_FILE");
    file_again = host_environment(opened, "WINJOIN_TOKEN_FILE");
    assert_string_equal(token, "abcdef.s3cr3t7q9z2w5x8v");
    assert_null(again);
    assert_null(getenv("WINJOIN_TOKEN"));
    assert_string_equal(file, "D:\token");
    assert_string_equal(file_again, "D:\token");
}

int main(int argc, char **argv) {
    const struct CMUnitTest memory[] = {cmocka_unit_test(service_runs)};
    const struct CMUnitTest own[] = {
        cmocka_unit_test(programs_run),          cmocka_unit_test(programs_leave_nothing_open),
        cmocka_unit_test(programs_run_loudly),   cmocka_unit_test(long_input_is_whole),
        cmocka_unit_test(service_runs),          cmocka_unit_test(service_hosts_program),
        cmocka_unit_test(pipe_of_a_service),     cmocka_unit_test(secrets_are_not_handed_on),
        cmocka_unit_test(a_secret_is_read_once),
    };
    int failed;

    if (argc > 1 && strcmp(argv[1], "--child") == 0)
        return act_as_child(argc, argv);
    if (argc > 2 && strcmp(argv[1], "--service") == 0)
        return act_as_service(argv[2], argv[0]);
    failed = cmocka_run_group_tests_name("host_memory", memory, open_memory, close_host);
    return failed + cmocka_run_group_tests_name("host_own", own, open_own, close_host);
}
