/* What a run leaves on the node: its log and its report; and what status makes of them. */
#include "tests/scene/joining_scene.h"

#include "join/kubelet/kubelet_files.h"

#include "cmd/program.h"
#include "services/service_table.h"

static void files_in(const char *folder, struct text_list *ret) {
    struct error ignored = {0};

    (void)host_list(program->host, folder, ret, &ignored);
}

static size_t count(const char *folder) {
    _cleanup_(text_list_free) struct text_list files = {0};

    files_in(folder, &files);
    return files.count;
}

/* The youngest file of a folder; the caller frees. */
static char *last_of(const char *folder) {
    _cleanup_(text_list_free) struct text_list files = {0};
    _cleanup_(freep) char *path = NULL;
    char *text = NULL;
    size_t len;

    files_in(folder, &files);
    assert_true(files.count > 0);
    path = xasprintf("%s\\%s", folder, files.items[files.count - 1]);
    assert_int_equal(host_read(program->host, path, 1 << 20, &text, &len, NULL), 0);
    return text;
}

static json_t *last_report(void) {
    _cleanup_(freep) char *text = last_of(REPORTS_FOLDER);
    json_t *report = NULL;

    assert_int_equal(json_read(text, strlen(text), "report", &report, NULL), 0);
    return report;
}

static void check_lines(const char *log) {
    for (const char *line = log; *line; line += strcspn(line, "\n") + 1) {
        assert_int_equal(line[4], '-');
        assert_int_equal(line[10], 'T');
        assert_int_equal(line[19], 'Z');
        assert_true(strncmp(line + 20, " INFO  ", 7) == 0 ||
                    strncmp(line + 20, " WARN  ", 7) == 0 || strncmp(line + 20, " DEBUG ", 7) == 0);
        assert_non_null(strchr(line, '\n'));
    }
}

static void a_join_leaves_its_log_and_report(void **state) {
    _cleanup_(freep) char *log = NULL;
    _cleanup_json_ json_t *report = NULL;

    (void)state;
    words("10.0.0.10:6443");
    succeeds(verb_join);
    assert_int_equal(count(LOGS_FOLDER), 1);
    log = last_of(LOGS_FOLDER);
    check_lines(log);
    assert_non_null(strstr(log, " INFO  preflight: started\n"));
    assert_non_null(strstr(log, " INFO  kubelet: done: "));
    assert_non_null(strstr(log, " INFO  done\n"));
    assert_null(strstr(log, SCENE_TOKEN_SECRET));
    report = last_report();
    assert_string_equal(json_text_at(report, "kind"), "JoinResult");
    assert_int_equal(json_number_at(report, "exitCode", -1), 0);
    assert_non_null(json_text_at(report, "time"));
    assert_null(program->kept_log);
    assert_non_null(strstr(host_memory_log(program->host),
                           "make_folder C:\\ProgramData\\winjoin\\logs secret\n"));
    assert_non_null(strstr(host_memory_log(program->host), ".log secret "));
    assert_null(strstr(host_memory_log(program->host), ".log public "));
}

static void what_changes_nothing_leaves_nothing(void **state) {
    struct error err;

    (void)state;
    program->options.join.dry_run = true;
    succeeds(verb_join);
    program->options.join.dry_run = false;
    host_memory_set_service_state(program->host, "hns", HOST_SERVICE_ABSENT);
    http_free(program->http);
    program->http = r.http = http_memory_new(nobody_answers, NULL);
    assert_int_equal(verb(verb_join, &err), -1);
    freep(&program->options.join.verify);
    assert_int_equal(verb(verb_diag, &err), -1);
    program->options.yes = true;
    succeeds(verb_reset);
    assert_int_equal(host_file_type(program->host, WINJOIN_FOLDER), HOST_ABSENT);
    assert_null(program->kept_log);
}

static void a_join_that_fails_names_its_log(void **state) {
    _cleanup_json_ json_t *report = NULL;
    _cleanup_(freep) char *log = NULL;
    struct error err;

    (void)state;
    host_memory_end_service_starts(program->host, "kubelet", 9);
    assert_int_equal(verb(verb_join, &err), -1);
    assert_true(text_starts_with(program->kept_log, LOGS_FOLDER "\\join-"));
    log = last_of(LOGS_FOLDER);
    check_lines(log);
    assert_non_null(strstr(log, " WARN  kubelet: failed: "));
    report = last_report();
    assert_int_equal(json_number_at(report, "exitCode", -1), 1);
    assert_string_equal(json_text_at(report, "error.phase"), "kubelet");
    assert_string_equal(json_text_at(report, "log"), program->kept_log);
}

static void a_log_that_cannot_be_written_is_told_once(void **state) {
    const char *first;

    (void)state;
    assert_int_equal(host_make_folder(program->host, WINJOIN_FOLDER, HOST_SECRET, NULL), 0);
    assert_int_equal(host_write(program->host, LOGS_FOLDER, "x", 1, HOST_PUBLIC, NULL), 0);
    succeeds(verb_join);
    first = strstr(text_str(&err_out), LOGS_FOLDER);
    assert_non_null(first);
    assert_null(strstr(first + 1, LOGS_FOLDER));
}

static void the_last_ten_are_kept(void **state) {
    _cleanup_(text_list_free) struct text_list files = {0};
    size_t joins = 0;

    (void)state;
    for (int i = 0; i < 12; i++)
        succeeds(verb_join);
    assert_int_equal(count(REPORTS_FOLDER), 10);
    assert_int_equal(count(LOGS_FOLDER), 10);
    program->options.yes = true;
    succeeds(verb_reset);
    files_in(LOGS_FOLDER, &files);
    for (size_t i = 0; i < files.count; i++)
        joins += text_starts_with(files.items[i], "join-");
    assert_int_equal(joins, 10);
    assert_int_equal(files.count, 11);
    assert_int_equal(count(WINJOIN_FOLDER), 2); /* a reset leaves logs and reports alone */
}

/* ---- status ---- */

static const char *state_of_node(int wanted) {
    struct error err;

    assert_int_equal(verb(verb_status, &err), wanted);
    return result_text("state");
}

static void a_well_node(void **state) {
    (void)state;
    assert_string_equal(state_of_node(-1), "not-joined");
    assert_true(json_is_false(json_at(program->result, "joined")));
    assert_has(&out, "   not joined\n");
    succeeds(verb_join);
    assert_string_equal(state_of_node(0), "joined");
    assert_true(json_is_true(json_at(program->result, "well")));
    assert_has(&out, "win-7k2   Ready   joined 20");
    assert_string_equal(result_text("lastJoin.outcome"), "done");
    assert_string_equal(result_text("versions.hns"), "13.2");
    assert_int_equal(json_array_size(json_at(program->result, "problems")), 0);
    host_memory_end_service(program->host, "kubelet", 255);
    assert_string_equal(state_of_node(-1), "joined");
    assert_string_equal(result_text("problems.0"), "kubelet is stopped");
    assert_has(&out, "last exit code 255");
}

static void what_was_changed_by_hand_is_shown(void **state) {
    (void)state;
    succeeds(verb_join);
    assert_string_equal(state_of_node(0), "joined");
    assert_null(json_at(program->result, "drift.changed"));
    assert_int_equal(host_write(program->host, KUBELET_CONFIG_FILE, "{}", 2, HOST_PUBLIC, NULL), 0);
    assert_string_equal(state_of_node(0), "joined");
    assert_string_equal(result_text("drift.changed.0.target"), KUBELET_CONFIG_FILE);
    assert_string_equal(result_text("drift.changed.0.command"), "winjoin join phase files");
    assert_has(&out, "drift            file " KUBELET_CONFIG_FILE
                     ": its content differs; repair: winjoin join phase files\n");
    assert_int_equal(host_remove(program->host, KUBELET_CONFIG_FILE, NULL), 0);
    assert_string_equal(state_of_node(-1), "joined");
    assert_string_equal(result_text("problems.0"),
                        "file '" KUBELET_CONFIG_FILE "' is missing: winjoin join phase files");
}

static void a_server_that_is_away_costs_a_moment(void **state) {
    uint64_t begin;

    (void)state;
    succeeds(verb_join);
    http_free(program->http);
    program->http = r.http = http_memory_new(nobody_answers, NULL);
    begin = host_monotonic_ms(program->host);
    assert_string_equal(state_of_node(-1), "joined");
    assert_true(host_monotonic_ms(program->host) - begin < 1000);
    assert_string_equal(result_text("api.outcome"), "unreachable");
    assert_has(&out, "   Ready unknown   ");
}

/* Nor does an HNS whose calls do not come back; the rest is shown. */
static void an_hns_that_hangs_costs_seconds(void **state) {
    struct error err;
    uint64_t begin;

    (void)state;
    succeeds(verb_join);
    host_memory_hang_hns(program->host);
    begin = host_monotonic_ms(program->host);
    assert_int_equal(verb(verb_status, &err), -1);
    assert_in_range(host_monotonic_ms(program->host) - begin, 5000, 7000);
    assert_int_equal(error_exit_code(err.kind), 1);
    assert_string_equal(err.message, "this node is not well: HNS did not answer within 5 s");
    assert_has(&out, "networks         unknown: HNS did not answer within 5 s\n");
    assert_has(&out, "win-7k2   Ready   joined 20");
    assert_non_null(strstr(err.hints[0], "Restart-Service hns -Force"));
}

static void a_join_that_failed(void **state) {
    struct error err;

    (void)state;
    host_memory_end_service_starts(program->host, "kubelet", 9);
    assert_int_equal(verb(verb_join, &err), -1);
    assert_string_equal(state_of_node(-1), "failed");
    assert_string_equal(result_text("phase"), "kubelet");
    assert_true(json_is_false(json_at(program->result, "joined")));
    assert_has(&out, "   failed in kubelet");
}

/* Its log is there, its report is not: it runs, or was killed. */
static void a_join_that_runs_or_was_killed(void **state) {
    _cleanup_(text_list_free) struct text_list reports = {0};
    _cleanup_(freep) char *path = NULL;

    (void)state;
    succeeds(verb_join);
    files_in(REPORTS_FOLDER, &reports);
    path = xasprintf("%s\\%s", REPORTS_FOLDER, reports.items[0]);
    assert_int_equal(host_remove(program->host, path, NULL), 0);
    host_memory_advance(program->host, 119000);
    assert_string_equal(state_of_node(-1), "joining");
    host_memory_advance(program->host, 1000);
    assert_string_equal(state_of_node(-1), "failed");
    assert_has(&out, "it was killed or crashed");
}

/* Which flows worked, after the younger of a join and a diag that measured some. */
static void a_proof_that_failed(void **state) {
    static const char report[] =
        "{\"kind\":\"DiagReport\",\"time\":\"2099-01-01T00:00:00Z\",\"exitCode\":5,\"flows\":["
        "{\"id\":\"pod-to-pod-ip\",\"protocol\":\"TCP\",\"outcome\":\"pass\"},"
        "{\"id\":\"pod-to-pod-ip\",\"protocol\":\"UDP\",\"outcome\":\"fail\"},"
        "{\"id\":\"pod-to-node\",\"protocol\":\"TCP\",\"outcome\":\"slow\"},"
        "{\"id\":\"pod-to-node\",\"protocol\":\"UDP\",\"outcome\":\"skip\"}]}";
#define BY_JOIN(time)                                                                              \
    "{\"kind\":\"JoinResult\",\"joined\":true,\"time\":\"" time "\",\"exitCode\":0,\"flows\":["    \
    "{\"id\":\"pod-to-pod-ip\",\"protocol\":\"TCP\",\"outcome\":\"pass\"}]}"
    static const char measured_by_join[] = BY_JOIN("2098-01-01T00:00:00Z"),
                      measured_by_younger[] = BY_JOIN("2099-01-01T00:00:01Z");

    (void)state;
    succeeds(verb_join);
    assert_string_equal(state_of_node(0), "joined");
    assert_null(json_at(program->result, "lastJoin.flows")); /* nothing was measured */
    assert_null(json_at(program->result, "lastDiag.flows"));
    put(REPORTS_FOLDER "\\diag-20990101-000000.json", report);
    assert_string_equal(state_of_node(-1), "joined");
    assert_int_equal(json_number_at(program->result, "lastDiag.flows", 0), 2);
    assert_int_equal(json_number_at(program->result, "lastDiag.flowsPass", 0), 1);
    assert_string_equal(result_text("problems.0"),
                        "the last test of the pod network failed: 1 of 2 flows worked");
    put(REPORTS_FOLDER "\\join-20980101-000000.json", measured_by_join);
    assert_string_equal(state_of_node(-1), "joined"); /* an older one */
    assert_int_equal(json_number_at(program->result, "lastDiag.flowsPass", 0), 1);
    put(REPORTS_FOLDER "\\join-20990101-000001.json", measured_by_younger);
    assert_string_equal(state_of_node(0), "joined");
    assert_int_equal(json_number_at(program->result, "lastDiag.flows", 0), 1);
    assert_int_equal(json_number_at(program->result, "lastDiag.flowsPass", 0), 1);
}

static void a_journal_that_is_damaged(void **state) {
    struct error err;

    (void)state;
    succeeds(verb_join);
    put(JOURNAL_FILE, "{\"kind\":\"net\nmore\n");
    assert_int_equal(verb(verb_status, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
}

int main(void) {
#define RECORD_TEST(name) cmocka_unit_test_setup_teardown(name, open_joining, close_joining)
    const struct CMUnitTest tests[] = {
        RECORD_TEST(a_join_leaves_its_log_and_report),
        RECORD_TEST(what_changes_nothing_leaves_nothing),
        RECORD_TEST(a_join_that_fails_names_its_log),
        RECORD_TEST(a_log_that_cannot_be_written_is_told_once),
        RECORD_TEST(the_last_ten_are_kept),
        RECORD_TEST(a_well_node),
        RECORD_TEST(what_was_changed_by_hand_is_shown),
        RECORD_TEST(a_server_that_is_away_costs_a_moment),
        RECORD_TEST(an_hns_that_hangs_costs_seconds),
        RECORD_TEST(a_join_that_failed),
        RECORD_TEST(a_join_that_runs_or_was_killed),
        RECORD_TEST(a_proof_that_failed),
        RECORD_TEST(a_journal_that_is_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
