/* A reset: what it leaves, and what it says when it cannot go on. */
#include "tests/scene/join_scene.h"

/* Logs and reports of runs stay, also when they are all that is left. */
static void logs_and_reports_stay(void **state) {
    static const struct {
        const char *file;
        bool stays;
    } rows[] = {{LOGS_FOLDER "\\join-1.log", true},
                {REPORTS_FOLDER "\\diag-1.json", true},
                {WINJOIN_FOLDER "\\downloads\\x.0", false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};
        struct run r;

        open_run(&r, "overlay");
        assert_int_equal(join_once(&r, &err), 0);
        assert_int_equal(host_write(r.host, rows[i].file, "x", 1, HOST_SECRET, NULL), 0);
        assert_int_equal(reset_once(&r, &err), 0);
        assert_int_equal(host_file_type(r.host, rows[i].file),
                         rows[i].stays ? HOST_FILE : HOST_ABSENT);
        assert_int_equal(host_file_type(r.host, WINJOIN_FOLDER),
                         rows[i].stays ? HOST_FOLDER : HOST_ABSENT);
        assert_int_equal(host_file_type(r.host, JOURNAL_FILE), HOST_ABSENT);
        close_run(&r);
    }
}

/* Those around what a join made go when nothing else is in them. */
static void a_folder_with_another_s_file_stays(void **state) {
    static const char mine[] = "C:\\etc\\mine.txt";

    (void)state;
    for (int kept = 0; kept < 2; kept++) {
        struct error err = {0};
        struct run r;

        open_run(&r, "overlay");
        assert_int_equal(join_once(&r, &err), 0);
        if (kept)
            assert_int_equal(host_write(r.host, mine, "x", 1, HOST_PUBLIC, NULL), 0);
        if (reset_once(&r, &err) < 0)
            fail_msg("%s", err.message);
        assert_int_equal(host_file_type(r.host, mine), kept ? HOST_FILE : HOST_ABSENT);
        assert_int_equal(host_file_type(r.host, "C:\\etc"), kept ? HOST_FOLDER : HOST_ABSENT);
        close_run(&r);
    }
}

/* A folder waits for what is in it, and not for what is in another whose name begins alike. */
static void a_folder_waits_for_its_own_files_alone(void **state) {
    static const char folder[] = "C:\\data", held[] = "C:\\data2\\x";
    struct reset_options options = {0};
    struct reset_result result;
    struct journal journal = {0};
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(journal_open(r.host, UPGRADE_FOLDER, &journal, &err), 0);
    assert_int_equal(journal_record(&journal, JOURNAL_FOLDER_ENTRY, folder, NULL, &err), 0);
    assert_int_equal(host_make_folder(r.host, folder, HOST_PUBLIC, &err), 0);
    assert_int_equal(journal_file(&journal, held, &err), 0);
    assert_int_equal(journal_write(&journal, held, "x", 1, HOST_PUBLIC, &err), 0);
    journal_close(&journal);
    host_memory_hold(r.host, held);
    assert_int_equal(reset_upgrade(r.host, &options, &result, &err), -1);
    assert_int_equal(result.failed, 1);
    assert_int_equal(host_file_type(r.host, folder), HOST_ABSENT);
    host_memory_hold(r.host, NULL);
    error_clear(&err);
    assert_int_equal(reset_upgrade(r.host, &options, &result, &err), 0);
    assert_int_equal(host_file_type(r.host, held), HOST_ABSENT);
    close_run(&r);
}

/* Nothing is put back below a program that runs on. */
static void a_service_that_does_not_stop(void **state) {
    struct reset_options options = {0};
    struct error err = {0};
    bool stops = false;

    (void)state;
    for (size_t n = 1; !stops; n++) {
        struct host_service kubelet = {.name = (char *)"kubelet", .command = (char *)"C:\\k.exe"};
        struct reset_result result;
        struct journal journal = {0};
        struct run r;
        int outcome;

        assert_true(n < 30);
        error_clear(&err);
        open_run(&r, "overlay");
        assert_int_equal(host_service_put(r.host, &kubelet, NULL), 0);
        host_memory_set_service_state(r.host, "kubelet", HOST_SERVICE_RUNNING);
        assert_int_equal(journal_open(r.host, UPGRADE_FOLDER, &journal, &err), 0);
        assert_int_equal(journal_service(&journal, "kubelet", &err), 0);
        journal_close(&journal);
        host_memory_fail(r.host, n);
        outcome = reset_upgrade(r.host, &options, &result, &err);
        stops = text_starts_with(host_memory_failed(r.host), "service_stop");
        assert_true(!stops || outcome < 0);
        close_run(&r);
    }
}

/* What is taken off the Node nobody puts there again. */
static struct run *cleared;
static size_t clearings;

static int answer_clearing(void *context, const struct http_request *request,
                           struct http_response *ret, struct error *err) {
    struct host_service network = {0};

    if (text_equal(request->method, "PATCH")) {
        assert_int_equal(host_service_query(cleared->host, "winjoin-network", &network, NULL), 0);
        assert_int_not_equal(network.state, HOST_SERVICE_RUNNING);
        host_service_free(&network);
        clearings++;
        return scene_json(ret, 200, scene_node(&cleared->scene));
    }
    return scene_answer(context, request, ret, err);
}

static void nothing_is_said_of_the_node_again(void **state) {
    struct reset_options options = {0};
    struct reset_result result;
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(join_once(&r, &err), 0);
    cleared = &r;
    options.http = http_memory_new(answer_clearing, &r.scene);
    assert_int_equal(reset_run(r.host, &options, &result, &err), 0);
    assert_true(clearings > 0);
    http_free(options.http);
    close_run(&r);
}

/* ---- what a journal lost ---- */

/* Its lines but for the last ones. */
static void cut_journal(struct run *r, size_t lines) {
    _cleanup_(freep) char *text = NULL;
    size_t len, at = 0;

    assert_int_equal(host_read(r->host, JOURNAL_FILE, 1 << 20, &text, &len, NULL), 0);
    for (size_t i = 0; i < lines && at < len; i++)
        at += strcspn(text + at, "\n") + 1;
    assert_int_equal(host_write(r->host, JOURNAL_FILE, text, at, HOST_SECRET, NULL), 0);
}

static size_t journal_lines(struct run *r) {
    struct journal journal = {0};
    size_t count;

    assert_int_equal(journal_open(r->host, WINJOIN_FOLDER, &journal, NULL), 0);
    count = journal.count + 1; /* and the version */
    journal_close(&journal);
    return count;
}

static void note_left(void *context, const char *what, const char *how, const struct error *err) {
    if (text_starts_with(how, "left: ") || err)
        text_addf(context, "%s\n", what);
}

/* Services, networks, firewall and adapters as before the join, whatever it lost; files of which
 * nothing is known stay. Without --force it is all named, and stays. */
static void what_the_journal_lost_is_undone(void **state) {
    static const char *const modes[] = {"overlay", "l2bridge"};
    static const char *const marked[] = {
        "switch External\nfirewall winjoin kubelet\nfirewall winjoin vxlan\nnetwork flannel.4096\n"
        "service winjoin-network\nservice containerd\nservice kubelet\nservice kube-proxy\n",
        "switch External\nfirewall winjoin kubelet\nnetwork cbr0\n"
        "service winjoin-network\nservice containerd\nservice kubelet\nservice kube-proxy\n"};
    static const char *const kept[] = {"services", "hns", "firewall", "adapters", "routes"};
    struct error err = {0};

    (void)state;
    for (size_t m = 0; m < ARRAY_SIZE(modes); m++) {
        for (size_t left = 1, all = 2; left <= all; left++) {
            _cleanup_json_ json_t *before = NULL, *after = NULL;
            struct reset_result result;
            struct text told = {0};
            struct run r;

            open_run(&r, modes[m]);
            before = state_of(&r);
            if (join_once(&r, &err) < 0)
                fail_msg("%s", err.message);
            all = journal_lines(&r);
            cut_journal(&r, left);
            if (reset_run(r.host,
                          &(struct reset_options){.progress = note_left, .progress_context = &told},
                          &result, &err) < 0)
                fail_msg("%zu of %zu: %s", left, all, err.message);
            if (left == 1)
                assert_string_equal(text_str(&told), marked[m]);
            if (left == all)
                assert_int_equal(result.left, 0);
            if (reset_run(r.host, &(struct reset_options){.force = true}, &result, &err) < 0)
                fail_msg("%zu of %zu: %s", left, all, err.message);
            after = state_of(&r);
            for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
                assert_non_null(json_object_get(before, kept[i]));
                assert_same(json_object_get(before, kept[i]), json_object_get(after, kept[i]),
                            kept[i]);
            }
            text_free(&told);
            close_run(&r);
        }
    }
}

/* Where the firewall does not answer a question, what is recorded is undone all the same. */
static void marks_that_cannot_be_looked_at(void **state) {
    bool met = false;

    (void)state;
    for (size_t n = 1; !met; n++) {
        _cleanup_json_ json_t *before = NULL, *after = NULL;
        struct error err = {0};
        struct run r;
        int ended;

        assert_true(n < 40);
        open_run(&r, "overlay");
        before = state_of(&r);
        assert_int_equal(join_once(&r, &err), 0);
        host_memory_fail(r.host, n);
        ended = reset_once(&r, &err);
        met = text_starts_with(host_memory_failed(r.host), "firewall_has");
        if (met) {
            assert_int_equal(ended, 0);
            after = state_of(&r);
            assert_same(before, after, "the firewall does not answer");
        }
        close_run(&r);
    }
}

/* A damaged journal: the reset says so, and does not forget the entry. */
static void a_route_that_can_be_none(void **state) {
    static const char target[] = "10.1.0.0/24 and more than any prefix has, of any family, at all";
    struct error err = {0};
    struct journal journal = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(journal_open(r.host, WINJOIN_FOLDER, &journal, &err), 0);
    assert_int_equal(journal_record(&journal, JOURNAL_ROUTE, target, NULL, NULL), 0);
    journal_close(&journal);
    assert_int_equal(reset_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_int_equal(journal_open(r.host, WINJOIN_FOLDER, &journal, &err), 0);
    assert_non_null(journal_find(&journal, JOURNAL_ROUTE, target));
    journal_close(&journal);
    close_run(&r);
}

/* What is left counts as neither. */
static void the_sum_tells_what_was_done(void **state) {
    static const struct {
        enum journal_kind kind;
        const char *target, *before; /* JSON; NULL: it did not exist */
        size_t removed, restored;
    } rows[] = {
        {JOURNAL_FILE_ENTRY, "C:\\new.txt", NULL, 1, 0},
        {JOURNAL_FOLDER_ENTRY, "C:\\there", "{\"present\":true}", 0, 1},
        {JOURNAL_FOLDER_ENTRY, "C:\\full", "{\"onlyIfEmpty\":true}", 0, 0},
        {JOURNAL_FOLDER_ENTRY, "C:\\none", "{\"onlyIfEmpty\":true}", 1, 0},
        {JOURNAL_NETWORK, "azure", "{\"present\":true}", 0, 1},
        {JOURNAL_NETWORK, "azure", "{\"agent\":\"azure-cns\"}", 1, 0},
        {JOURNAL_FORWARDING, "10.0.0.21", "{\"on\":false}", 0, 1},
        {JOURNAL_EVENT_SOURCE, "winjoin", "{\"file\":\"C:\\\\theirs.dll\"}", 0, 1},
        {JOURNAL_EVENT_SOURCE, "winjoin", NULL, 1, 0},
        {JOURNAL_REGISTRY, "SOFTWARE\\K\\V", "{\"data\":1}", 0, 1},
        {JOURNAL_REGISTRY, "SOFTWARE\\K\\V", NULL, 1, 0},
        {JOURNAL_PATH, "C:\\k", NULL, 1, 0},
        {JOURNAL_FILE_ENTRY, "C:\\x.txt", "{}", 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *before = rows[i].before;
        json_t *was = before ? json_loads(before, 0, NULL) : NULL;
        struct journal journal = {0};
        struct reset_result result;
        struct error err = {0};
        struct run r;

        open_run(&r, "overlay");
        assert_int_equal(host_write(r.host, "C:\\full\\x", "x", 1, HOST_PUBLIC, NULL), 0);
        assert_int_equal(journal_open(r.host, WINJOIN_FOLDER, &journal, &err), 0);
        assert_int_equal(journal_record(&journal, rows[i].kind, rows[i].target, was, &err), 0);
        journal_close(&journal);
        assert_int_equal(reset_run(r.host, &(struct reset_options){0}, &result, &err), 0);
        if (result.removed != rows[i].removed || result.restored != rows[i].restored)
            fail_msg("%s: %zu removed, %zu restored", rows[i].target, result.removed,
                     result.restored);
        close_run(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_and_reports_stay),
        cmocka_unit_test(a_folder_with_another_s_file_stays),
        cmocka_unit_test(a_folder_waits_for_its_own_files_alone),
        cmocka_unit_test(a_service_that_does_not_stop),
        cmocka_unit_test(nothing_is_said_of_the_node_again),
        cmocka_unit_test(what_the_journal_lost_is_undone),
        cmocka_unit_test(marks_that_cannot_be_looked_at),
        cmocka_unit_test(a_route_that_can_be_none),
        cmocka_unit_test(the_sum_tells_what_was_done),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
