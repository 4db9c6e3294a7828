/* The journal: what it keeps over a crash, what it writes at once, and what reset does with it. */
#include "join/wanted/wanted.h"
#include "tests/scene/join_scene.h"

#include "netsetup/nic/nic.h"

enum { PEERS = 30 };

static size_t journal_writes(const struct run *r) {
    size_t count = 0;

    for (const char *at = host_memory_log(r->host); (at = strstr(at, "write " JOURNAL_FILE)); at++)
        count++;
    return count;
}

static struct journal opened(struct run *r) {
    struct journal journal = {0};
    struct error err = {0};

    if (journal_open(r->host, WINJOIN_FOLDER, &journal, &err) < 0)
        fail_msg("%s", err.message);
    return journal;
}

static void it_is_read_again(void **state) {
    struct journal journal;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(journal_open(r.host, WINJOIN_FOLDER, &journal, NULL), 0);
    assert_int_equal(journal.count, 0);
    journal.phase = "files";
    assert_int_equal(journal_record(&journal, JOURNAL_ROUTE, "10.1.0.0/24",
                                    json_pack("{s:s}", "nextHop", "x"), NULL),
                     0);
    assert_int_equal(journal_record(&journal, JOURNAL_NETWORK, "cbr0", NULL, NULL), 0);
    assert_int_equal(journal_record(&journal, JOURNAL_NETWORK, "cbr0", NULL, NULL), 0);
    journal_close(&journal);
    journal = opened(&r);
    assert_int_equal(journal.count, 2);
    assert_int_equal(journal.entries[0].kind, JOURNAL_ROUTE);
    assert_string_equal(journal.entries[0].target, "10.1.0.0/24");
    assert_string_equal(journal.entries[0].phase, "files");
    assert_string_equal(json_text_at(journal.entries[0].before, "nextHop"), "x");
    assert_non_null(journal_find(&journal, JOURNAL_NETWORK, "cbr0"));
    assert_null(journal_find(&journal, JOURNAL_ROUTE, "cbr0"));
    assert_int_equal(journal_pop(&journal, NULL), 0);
    journal_close(&journal);
    journal = opened(&r);
    assert_int_equal(journal.count, 1);
    assert_null(journal_find(&journal, JOURNAL_NETWORK, "cbr0"));
    journal_close(&journal);
    close_run(&r);
}

/* Else any user who can log on could make reset remove what they like. */
static void what_a_user_planted_is_refused(void **state) {
    static const char *const parts[] = {WINJOIN_FOLDER, JOURNAL_FOLDER, JOURNAL_FILE};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        struct journal journal = {0};
        _cleanup_(freep) char *said = NULL;
        struct error err = {0};
        struct run r;

        open_run(&r, "overlay");
        assert_int_equal(host_write(r.host, JOURNAL_FILE, "", 0, HOST_SECRET, NULL), 0);
        journal = opened(&r);
        journal_close(&journal);
        host_memory_give_to_user(r.host, parts[i]);
        assert_int_equal(journal_open(r.host, WINJOIN_FOLDER, &journal, &err), -1);
        assert_int_equal(err.kind, ERROR_DENIED);
        said = xasprintf("'%s' belongs to SRV\\eve", parts[i]);
        assert_non_null(strstr(err.message, said));
        close_run(&r);
    }
}

static void a_line_that_was_cut_is_dropped(void **state) {
#define FIRST "{\"version\":1}\n"
#define LINE "{\"kind\":\"network\",\"target\":\"a\",\"phase\":\"p\",\"before\":{}}"
    static const struct {
        const char *text;
        int count; /* -1: malformed */
    } cases[] = {
        {"", 0},
        {FIRST, 0},
        {FIRST LINE "\n", 1},
        {FIRST LINE "\n{\"kind\":\"net", 1},
        {FIRST "{\"kind\":\"net\n" LINE "\n", -1},
        {LINE "\n", -1},
        {"{\"version\":2}\n" LINE "\n", -1},
        {"{\"version\":\"1\"}\n", -1},
        {FIRST LINE "\n{\"kind\":\"unheard-of\",\"target\":\"a\",\"phase\":\"p\",\"before\":{}}\n",
         -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct journal journal = {0};
        struct error err = {0};
        struct run r;
        int result;

        open_run(&r, "overlay");
        assert_int_equal(host_write(r.host, JOURNAL_FILE, cases[i].text, strlen(cases[i].text),
                                    HOST_SECRET, NULL),
                         0);
        result = journal_open(r.host, WINJOIN_FOLDER, &journal, &err);
        if (result < 0 ? cases[i].count >= 0 : (int)journal.count != cases[i].count)
            fail_msg("case %zu: %zu entries, %s", i, journal.count, err.message);
        if (result < 0)
            assert_int_equal(err.kind, ERROR_MALFORMED);
        else
            journal_close(&journal);
        close_run(&r);
    }
}

/* Parents that are not there either are recorded before it, to go when they are empty. */
static void folders_are_written_down_at_once(void **state) {
    static const char *const folders[] = {"C:\\a\\b", "C:\\ProgramData", "C:\\c", "C:\\d"};
    struct journal journal;
    size_t writes;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    journal = opened(&r);
    writes = journal_writes(&r);
    assert_int_equal(journal_own_folders(&journal, folders, ARRAY_SIZE(folders), NULL), 0);
    assert_int_equal(journal_writes(&r) - writes, 1);
    assert_string_equal(journal.entries[0].target, "C:\\a");
    assert_true(json_bool_at(journal.entries[0].before, "onlyIfEmpty", false));
    assert_string_equal(journal.entries[1].target, "C:\\a\\b");
    assert_true(journal_has_absent(&journal, JOURNAL_FOLDER_ENTRY, "C:\\a\\b"));
    assert_false(journal_has_absent(&journal, JOURNAL_FOLDER_ENTRY, "C:\\ProgramData"));
    journal_close(&journal);
    close_run(&r);
}

static void what_cannot_be_written_down_is_not_recorded(void **state) {
    static const char *const folders[] = {"C:\\a", "C:\\b"};
    struct error err = {0};
    struct journal journal;
    size_t calls, n;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    journal = opened(&r);
    calls = host_memory_calls(r.host);
    assert_int_equal(journal_own_folders(&journal, folders, 2, NULL), 0);
    calls = host_memory_calls(r.host) - calls;
    journal_close(&journal);
    close_run(&r);
    open_run(&r, "overlay");
    journal = opened(&r);
    n = journal.count;
    host_memory_fail(r.host, calls - 4); /* the writing: each folder is made and listed behind it */
    assert_int_equal(journal_own_folders(&journal, folders, 2, &err), -1);
    assert_int_equal(err.kind, ERROR_HOST);
    assert_int_equal(journal.count, n);
    journal_close(&journal);
    close_run(&r);
}

/* What cannot be looked at is not said to be recorded. */
static void a_service_that_cannot_be_asked(void **state) {
    struct journal journal;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    journal = opened(&r);
    for (int recorded = 0; recorded < 2; recorded++) {
        host_memory_fail(r.host, 1);
        assert_int_equal(journal_service(&journal, "kubelet", NULL), -1);
        assert_int_equal(!!journal_find(&journal, JOURNAL_SERVICE, "kubelet"), recorded);
        assert_int_equal(journal_service(&journal, "kubelet", NULL), 0);
    }
    journal_close(&journal);
    close_run(&r);
}

/* Else reset would have nothing to give back. */
static void what_cannot_be_backed_up(void **state) {
    struct journal journal;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    journal = opened(&r);
    for (size_t n = 1; n <= 4; n++) {
        host_memory_fail(r.host, n);
        assert_int_equal(journal_file(&journal, "C:\\k\\kubelet.exe", NULL), -1);
    }
    host_memory_fail(r.host, 1);
    assert_int_equal(journal_own_folder(&journal, "C:\\k", NULL), -1);
    assert_int_equal(journal.count, 0);
    journal_close(&journal);
    close_run(&r);
}

/* ---- undone ---- */

static void a_service_gets_back_what_it_was(void **state) {
    (void)state;
    for (int running = 0; running < 2; running++) {
        struct host_service own = {.name = (char *)"containerd",
                                   .display_name = (char *)"Mine",
                                   .command = (char *)"C:\\mine.exe"};
        _cleanup_(host_service_free) struct host_service found = {0};
        struct error err = {0};
        struct journal journal;
        struct run r;

        open_run(&r, "overlay");
        assert_int_equal(host_write(r.host, "C:\\mine.exe", "MZ", 2, HOST_PUBLIC, NULL), 0);
        assert_int_equal(host_service_put(r.host, &own, NULL), 0);
        if (running)
            assert_int_equal(host_service_start(r.host, "containerd", 1000, NULL), 0);
        journal = opened(&r);
        assert_int_equal(journal_service(&journal, "containerd", &err), 0);
        journal_close(&journal);
        own.command = (char *)"C:\\k\\winjoin.exe";
        own.restart_delays_ms[0] = 5000;
        own.restart_on_error = true;
        assert_int_equal(host_service_put(r.host, &own, NULL), 0);
        if (reset_once(&r, &err) < 0)
            fail_msg("reset: %s", err.message);
        assert_int_equal(host_service_query(r.host, "containerd", &found, NULL), 0);
        assert_string_equal(found.command, "C:\\mine.exe");
        assert_string_equal(found.display_name, "Mine");
        assert_int_equal(found.restart_delays_ms[0], 0);
        assert_false(found.restart_on_error);
        assert_int_equal(found.state, running ? HOST_SERVICE_RUNNING : HOST_SERVICE_STOPPED);
        close_run(&r);
    }
}

/* ---- the routes to other nodes ---- */

static struct run routed;
static size_t peers;

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    json_t *list;

    if (!strstr(request->url, "/api/v1/nodes") || strstr(request->url, "/api/v1/nodes/") ||
        strstr(request->url, "watch=") || strstr(request->url, "fieldSelector"))
        return scene_answer(context, request, ret, err);
    list = scene_list("NodeList", scene_node(&routed.scene));
    for (size_t i = 1; i <= peers; i++) {
        _cleanup_(freep) char *name = xasprintf("l%zu", i);
        _cleanup_(freep) char *cidr = xasprintf("10.244.%zu.0/24", i + 100);
        _cleanup_(freep) char *address = xasprintf("10.0.0.%zu", i + 100);

        json_array_append_new(json_object_get(list, "items"),
                              json_pack("{s:s, s:{s:s}, s:{s:s}, s:{s:[{s:s, s:s}]}}", "kind",
                                        "Node", "metadata", "name", name, "spec", "podCIDR", cidr,
                                        "status", "addresses", "type", "InternalIP", "address",
                                        address));
    }
    ret->retry_after = -1;
    return scene_json(ret, 200, list);
}

static size_t routes_there(void) {
    struct host_routes routes = {0};
    size_t count = 0;

    assert_int_equal(host_routes(routed.host, &routes, NULL), 0);
    for (size_t i = 0; i < routes.count; i++)
        count += text_starts_with(routes.items[i].destination, "10.244.1") &&
                 text_starts_with(routes.items[i].next_hop, "10.0.0.1");
    host_routes_free(&routes);
    return count;
}

/* Answers how often the journal was written. */
static size_t join_with(size_t nodes) {
    struct error err = {0};
    json_t *before, *after;
    size_t writes;

    peers = nodes;
    open_run(&routed, "l2bridge");
    http_free(routed.http);
    routed.http = http_memory_new(answer, &routed.scene);
    before = state_of(&routed);
    if (join_once(&routed, &err) < 0)
        fail_msg("join: %s", err.message);
    writes = journal_writes(&routed);
    assert_int_equal(routes_there(), nodes);
    if (reset_once(&routed, &err) < 0)
        fail_msg("reset: %s", err.message);
    assert_int_equal(routes_there(), 0);
    after = state_of(&routed);
    assert_same(before, after, "routes");
    json_decref(before);
    json_decref(after);
    close_run(&routed);
    return writes;
}

static void many_routes_are_one_write(void **state) {
    (void)state;
    assert_int_equal(join_with(PEERS), join_with(1));
}

/* What stood where files will be is written down at once, before the first is written. */
static void many_files_are_one_write(void **state) {
    static const struct wanted_row row = {.access = HOST_SECRET};
    struct wanted_file items[] = {{&row, (char *)"C:\\x\\a", (char *)"a", 1},
                                  {&row, (char *)"C:\\x\\b", (char *)"b", 1},
                                  {&row, (char *)"C:\\x\\c", (char *)"c", 1}};
    const struct wanted_files files = {.items = items, .count = ARRAY_SIZE(items)};
    struct journal journal;
    struct run r;
    size_t before;

    (void)state;
    open_run(&r, "overlay");
    journal = opened(&r);
    before = journal_writes(&r);
    assert_int_equal(wanted_files_write(&journal, &files, NULL), 0);
    assert_int_equal(journal_writes(&r) - before, 1);
    for (size_t i = 0; i < files.count; i++)
        assert_true(journal_has_absent(&journal, JOURNAL_FILE_ENTRY, items[i].path));
    journal_close(&journal);
    close_run(&r);
}

/* ---- the adapter ---- */

static bool told_of_adapter;

static void on_event(void *context, const struct join_event *event) {
    (void)context;
    told_of_adapter |= event->state == JOIN_WAITING && strstr(event->message, "address");
}

/* A run was killed while HNS built the vSwitch: the adapter has no address, and no server is
 * reached.
 */
static void an_adapter_gets_its_address_back(void **state) {
    struct host_adapters adapters = {0};
    struct nic_snapshot snapshot = {0};
    struct error err = {0};
    struct journal journal;
    struct join join;
    struct run r;
    uint32_t index;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(nic_choose(r.host, NULL, NULL, &snapshot, NULL), 0);
    journal = opened(&r);
    assert_int_equal(journal_record(&journal, JOURNAL_SWITCH, "External",
                                    json_pack("{s:o}", "adapter", nic_snapshot_json(&snapshot)),
                                    NULL),
                     0);
    journal_close(&journal);
    assert_int_equal(host_adapters(r.host, &adapters, NULL), 0);
    for (size_t i = 0; i < adapters.count; i++) {
        text_list_free(&adapters.items[i].addresses);
        text_list_free(&adapters.items[i].gateways);
    }
    host_memory_set_adapters(r.host, &adapters);
    host_adapters_free(&adapters);
    told_of_adapter = false;
    join = (struct join){
        .host = r.host, .http = r.http, .asked = &r.options, .progress.listener = on_event};
    assert_int_equal(join_open(&join, &err), 0);
    if (join_need(&join, NEED_CLIENT, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(nic_index_of(r.host, snapshot.address, &index, &err), 0);
    assert_true(told_of_adapter);
    join_close(&join);
    nic_snapshot_free(&snapshot);
    close_run(&r);
}

/* Of an adapter that is gone there is nothing to put back; what the journal does not say was off.
 */
static void forwarding_is_put_back(void **state) {
    static const struct {
        const char *target, *before;
        bool on;
    } rows[] = {
        {"10.0.0.21", "{\"on\":true}", true},
        {"10.0.0.21", "{\"on\":false}", false},
        {"10.0.0.21", "{}", true},            /* what was before is not known */
        {"10.9.9.9", "{\"on\":false}", true}, /* no adapter has that address */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};
        struct journal journal;
        struct run r;
        uint32_t index;
        bool on = false;

        open_run(&r, "l2bridge");
        assert_int_equal(nic_index_of(r.host, "10.0.0.21", &index, NULL), 0);
        assert_int_equal(host_forwarding_set(r.host, index, 4, true, NULL), 0);
        journal = opened(&r);
        assert_int_equal(journal_record(&journal, JOURNAL_FORWARDING, rows[i].target,
                                        json_loads(rows[i].before, 0, NULL), NULL),
                         0);
        journal_close(&journal);
        if (reset_once(&r, &err) < 0)
            fail_msg("row %zu: %s", i, err.message);
        assert_int_equal(host_forwarding(r.host, index, 4, &on, NULL), 0);
        if (on != rows[i].on)
            fail_msg("row %zu", i);
        close_run(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_read_again),
        cmocka_unit_test(what_a_user_planted_is_refused),
        cmocka_unit_test(a_line_that_was_cut_is_dropped),
        cmocka_unit_test(folders_are_written_down_at_once),
        cmocka_unit_test(what_cannot_be_written_down_is_not_recorded),
        cmocka_unit_test(a_service_that_cannot_be_asked),
        cmocka_unit_test(what_cannot_be_backed_up),
        cmocka_unit_test(a_service_gets_back_what_it_was),
        cmocka_unit_test(many_routes_are_one_write),
        cmocka_unit_test(many_files_are_one_write),
        cmocka_unit_test(an_adapter_gets_its_address_back),
        cmocka_unit_test(forwarding_is_put_back),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
