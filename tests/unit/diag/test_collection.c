/* A collection holds what it should, no secret, the same bytes twice, and is judged again. */
#include "tests/scene/program_scene.h"

#include "diag/capture.h"
#include "diag/collection/collection.h"
#include "netsetup/netsetup.h"
#include "services/artifacts/bundle_archive.h"
#include "services/containerd_settings.h"
#include "services/runtime_files.h"
#include "services/service_table.h"

#define TOKEN "abcdef.s3cr3t7q9z2w5x8v"
#define SECRET "s3cr3t7q9z2w5x8v"
enum { PART_MAX = 4 * 1024 * 1024 };

static char *part(const char *zip, size_t len, const char *name) {
    struct error err = {0};
    char *text = NULL;
    size_t text_len;

    if (bundle_archive_read(zip, len, name, PART_MAX, &text, &text_len, &err) < 0)
        fail_msg("%s: %s", name, err.message);
    return text;
}

static void assert_part(const char *zip, size_t len, const char *name, const char *wanted) {
    _cleanup_(freep) char *text = part(zip, len, name);

    if (!strstr(text, wanted))
        fail_msg("%s has no '%s': %s", name, wanted, text);
}

static void report_make(struct diag_report *ret) {
    static const char text[] =
        "{\"kind\":\"DiagReport\",\"node\":\"win-7k2\",\"time\":\"2026-11-22T10:15:02Z\","
        "\"flows\":[{\"id\":\"node-to-pod\",\"protocol\":\"TCP\",\"outcome\":\"fail\",\"reason\":"
        "\"said " TOKEN "\",\"evidence\":{\"probe\":\"timeout\"}}],\"evidence\":{\"networks\":"
        "[{\"Name\":\"" TOKEN "\"}],\"look\":{\"log\":\"" TOKEN "\"}}}";

    assert_int_equal(diag_report_read(text, strlen(text), NODE_REPORT_KIND, ret, NULL), 0);
}

/* A secret in each source. */
static void scene_make(void) {
    host_memory_set_program(program->host, "netsh.exe", 0, "Rule Name: " TOKEN);
    host_memory_set_program(program->host, "wevtutil.exe", 15007, "no channel, " TOKEN);
    put(CNI_CONF_DIR "\\10-winjoin.conf", "{\"name\":\"" TOKEN "\"}");
    put(CONTAINERD_CONFIG_PATH, "password = \"" SECRET "\"\nroot = \"C\"\n");
    put("C:\\k\\kubelet.exe", "MZ");
    put(SERVICE_SETTINGS_DIR "\\flanneld.json", "{\"restart\": 1}");
    put("C:\\var\\log\\kubelet\\kubelet.log", "E1122 refused: Bearer " SECRET "\n");
    put("D:\\extra\\a.txt", "-----BEGIN PRIVATE KEY-----\n" SECRET "\n");
    put("D:\\extra\\b.txt", "token: " SECRET);
}

static void collect(const char *failure, struct diag_report *report, char **ret, size_t *ret_len) {
    static const char *const places[] = {"D:\\extra", "D:\\none", NULL};
    const struct diag_collect_options options = {failure, places};
    struct error err = {0};

    if (diag_collect(program->host, report, &options, ret, ret_len, &err) < 0)
        fail_msg("%s", err.message);
}

static void assert_no_secret(const char *zip, size_t len) {
    _cleanup_(freep) char *index = part(zip, len, "index.txt");
    _cleanup_(text_list_free) struct text_list lines = {0};
    size_t seen = 0;

    assert_null(strstr(index, SECRET));
    assert_null(strstr(index, ": \n")); /* what could not be read says why */
    text_list_split(&lines, index, '\n');
    for (size_t i = 0; i < lines.count; i++) {
        _cleanup_(freep) char *name = xstrndup(lines.items[i] + (lines.items[i][0] ? 2 : 0),
                                               strcspn(lines.items[i] + 2, " "));
        _cleanup_(freep) char *text = NULL;
        size_t text_len;

        if (text_starts_with(lines.items[i], "  ") &&
            bundle_archive_read(zip, len, name, PART_MAX, &text, &text_len, NULL) == 0) {
            if (strstr(text, SECRET))
                fail_msg("%s shows the secret: %s", name, text);
            seen++;
        }
    }
    assert_true(seen > 15);
}

static void every_source_without_its_secret(void **state) {
    _cleanup_(diag_report_free) struct diag_report report = {0}, again = {0};
    _cleanup_(freep) char *zip = NULL, *second = NULL, *text = NULL;
    struct error err = {0};
    size_t len = 0, second_len = 0, text_len;

    (void)state;
    scene_make();
    report_make(&report);
    collect(NULL, &report, &zip, &len);
    assert_no_secret(zip, len);
    assert_part(zip, len, "index.txt", "the node win-7k2, 2026-11-22T10:15:02Z, winjoin ");
    assert_part(zip, len, "evidence/networks.json", "abcdef.****");
    assert_part(zip, len, "evidence/namespaces.json", "[]");
    assert_part(zip, len, "windows/firewall-profiles.txt", "Rule Name: abcdef.****");
    assert_part(zip, len, "windows/firewall-rules.txt", "Rule Name: abcdef.****");
    assert_part(zip, len, "windows/system-events.txt", "(exit code 15007)");
    assert_part(zip, len, "files/C/etc/cni/net.d/10-winjoin.conf", "\"name\"");
    assert_part(zip, len, "files/C/Program Files/containerd/config.toml", "root = \"C\"");
    assert_part(zip, len, "files/C/var/log/kubelet/kubelet.log", "E1122 refused");
    assert_part(zip, len, "files/C/ProgramData/winjoin/services/flanneld.json", "restart");
    assert_part(zip, len, "files/D/extra/b.txt", "token: ****");
    assert_part(zip, len, "versions.json", "\"winjoin\"");
    assert_part(zip, len, "versions.json", "\"hostName\": \"WIN-7K2\"");
    assert_part(zip, len, "versions.json", "\"C:\\\\k\\\\kubelet.exe\": \"unknown\"");
    assert_part(zip, len, "index.txt", "Begin with report.txt");
    assert_part(zip, len, "report.txt", "node -> pod");
    assert_part(zip, len, "report.html", "<!DOCTYPE html>");
    assert_part(zip, len, "index.txt", "  windows/ipconfig.txt: ");

    assert_true(diag_is_collection(zip, len));
    assert_true(diag_is_collection("PK\3\4", 4)); /* a torn one is called so */
    assert_false(diag_is_collection("PK\3", 3));
    assert_int_equal(diag_collection_report(zip, len, PART_MAX, &text, &text_len, &err), 0);
    assert_int_equal(diag_report_read(text, text_len, NODE_REPORT_KIND, &again, &err), 0);
    assert_int_equal(again.cells.items[0].outcome, DIAG_FAIL);
    assert_int_equal(json_array_size(json_object_get(again.evidence, "networks")), 1);

    collect(NULL, &report, &second, &second_len);
    assert_int_equal(len, second_len);
    assert_memory_equal(zip, second, len);
}

static void what_could_not_be_measured(void **state) {
    _cleanup_(diag_report_free) struct diag_report report = {0};
    _cleanup_(freep) char *zip = NULL, *node = NULL;
    size_t len = 0;

    (void)state;
    collect("HNS is away: " TOKEN, &report, &zip, &len);
    node = xasprintf("the node %s, 2", report.node);
    assert_part(zip, len, "index.txt", "Nothing was measured: HNS is away: abcdef.****");
    assert_part(zip, len, "index.txt", node);
    assert_part(zip, len, "evidence/networks.json", "[]");
    assert_part(zip, len, "evidence/services.json", "\"kube-proxy\": \"absent\"");
    assert_part(zip, len, "report.json", "\"endpoints\"");
}

static uint32_t silent_hns(void *context, const char *function, const char *const *arguments,
                           size_t count, char **ret_result, char **ret_error_record) {
    (void)context, (void)function, (void)arguments, (void)count;
    *ret_result = *ret_error_record = NULL;
    return 0x800706ba; /* RPC_S_SERVER_UNAVAILABLE */
}

/* What is missing is named, and a name that is known stays. */
static void without_hns(void **state) {
    _cleanup_(diag_report_free) struct diag_report report = {.node = xstrdup("win-9")};
    _cleanup_(freep) char *zip = NULL;
    size_t len = 0;

    (void)state;
    host_memory_set_hns(program->host, silent_hns, NULL);
    collect("HNS is away", &report, &zip, &len);
    assert_part(zip, len, "index.txt", "the node win-9, 2");
    assert_part(zip, len, "index.txt", "  evidence/namespaces.json: ");
}

static void long_files_and_many(void **state) {
    _cleanup_(diag_report_free) struct diag_report report = {0};
    _cleanup_(freep) char *zip = NULL, *text = NULL, *end = NULL;
    struct text log = {0};
    size_t len = 0;

    (void)state;
    while (log.len < COLLECTION_FILE_MAX + 100)
        text_addf(&log, "line %08u of it\n", (unsigned)log.len);
    put("D:\\extra\\long.log", text_str(&log));
    end = xstrdup(text_str(&log) + log.len - 1000);
    text_clear(&log);
    while (log.len < COLLECTION_FILE_MAX + 100)
        text_add(&log, "no line ends here ");
    put("D:\\extra\\line.log", text_str(&log));
    for (unsigned i = 0; i < COLLECTION_FILES_MAX; i++) {
        _cleanup_(freep) char *path = xasprintf("D:\\extra\\z%u", i);

        put(path, "x");
    }
    collect(NULL, &report, &zip, &len);
    text = part(zip, len, "files/D/extra/long.log");
    assert_true(strlen(text) <= COLLECTION_FILE_MAX);
    assert_true(strlen(text) > COLLECTION_FILE_MAX - 100);
    assert_true(text_starts_with(text, "line "));
    assert_true(text_ends_with(text, end));
    assert_part(zip, len, "files/D/extra/line.log", "");
    assert_part(zip, len, "index.txt", "long.log (the last 5");
    assert_part(zip, len, "index.txt", "files/D/extra/z99: the collection is full");
    assert_int_equal(bundle_archive_read_all(zip, len, NULL, 0, NULL), 0);
    text_free(&log);
}

/* A file that cannot be read, at its size or its content, is named with why. */
static void what_cannot_be_read(void **state) {
    unsigned failed = 0;
    size_t calls = 1;

    (void)state;
    scene_make();
    for (size_t n = 0; n < calls; n++) {
        _cleanup_(diag_report_free) struct diag_report report = {0};
        _cleanup_(freep) char *zip = NULL;
        size_t len = 0, before = host_memory_calls(program->host);

        report_make(&report);
        host_memory_fail(program->host, n);
        collect(NULL, &report, &zip, &len);
        calls = n ? calls : host_memory_calls(program->host) - before;
        if (!n || !strstr(host_memory_failed(program->host), "D:\\extra\\b.txt") ||
            strchr(host_memory_failed(program->host), '\n') <
                strstr(host_memory_failed(program->host), "D:\\extra\\b.txt"))
            continue;
        failed++;
        assert_part(zip, len, "index.txt", "\n  files/D/extra/b.txt: ");
    }
    assert_int_equal(failed, 2);
}

/* The clock goes on while a program runs. */
static bool slowly(void *context, struct host *host, const struct host_process *process,
                   int *ret_code, struct text *ret_said, struct error *err) {
    (void)context, (void)ret_said, (void)err;
    if (text_equal(process->argv[1], "advfirewall"))
        assert_true(process->with_errors); /* why it failed is evidence, too */
    host_memory_advance(host, 25000);
    *ret_code = 0;
    return true;
}

static void the_time_is_bounded(void **state) {
    _cleanup_(diag_report_free) struct diag_report report = {0};
    _cleanup_(freep) char *zip = NULL;
    char *text = NULL;
    size_t len = 0, text_len;

    (void)state;
    scene_make();
    host_memory_on_run(program->host, slowly, NULL);
    collect(NULL, &report, &zip, &len);
    assert_part(zip, len, "index.txt",
                "windows/system-events.txt: the time for the collection is over\n");
    assert_part(zip, len, "index.txt",
                "files/D/extra/a.txt: the time for the collection is over\n");
    assert_part(zip, len, "index.txt", "C:\\k\\kubelet.exe: the time for the collection is over\n");
    assert_int_equal(
        bundle_archive_read(zip, len, "files/D/extra/a.txt", PART_MAX, &text, &text_len, NULL), -1);
}

static void interrupted(void **state) {
    _cleanup_(diag_report_free) struct diag_report report = {0};
    const struct diag_collect_options options = {0};
    struct error err = {0};
    char *zip = NULL;
    size_t len;

    (void)state;
    host_memory_interrupt(program->host);
    assert_int_equal(diag_collect(program->host, &report, &options, &zip, &len, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_null(zip);
}

/* ---- the verb ---- */

static void the_verb_collects_and_replays(void **state) {
    struct error err;
    char *zip = NULL;
    size_t len = 0;

    (void)state;
    put("D:\\folder\\x", "");
    program->options.collect = (char *)"D:\\none\\c.zip";
    assert_int_equal(verb(verb_diag, &err), -1); /* before anything is looked at */
    assert_string_equal(err.message, "--collect: the folder of 'D:\\none\\c.zip' does not exist");
    program->options.collect = (char *)"D:\\folder\\c.zip";
    assert_int_equal(verb(verb_diag, &err), -1); /* never joined */
    assert_has(&out, "the evidence is in D:\\folder\\c.zip (");
    assert_int_equal(host_read(program->host, "D:\\folder\\c.zip", PART_MAX, &zip, &len, NULL), 0);
    assert_part(zip, len, "index.txt", "Nothing was measured: this machine has not joined");
    free(zip);

    program->options.replay = (char *)"D:\\folder\\c.zip";
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_string_equal(err.message, "use either --collect or --replay");
    program->options.collect = NULL;
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_string_equal(err.message, "test the pod network: nothing was measured");
    assert_int_equal(err.kind, ERROR_FLOWS);
}

/* Packets are packed as they are, and say what was dropped; --capture alone has no file for them.
 */
static void packets(void **state) {
    struct diag_report report = {0};
    struct error err;
    char *zip = NULL;
    size_t len = 0;

    (void)state;
    put(DIAG_CAPTURE_FILE, "packets " TOKEN);
    report_make(&report);
    collect(NULL, &report, &zip, &len);
    assert_int_equal(bundle_archive_read(zip, len, "capture.pcapng", PART_MAX, &(char *){NULL},
                                         &(size_t){0}, &err),
                     -1); /* of another run */
    free(take_ptr(zip));
    json_object_set_new(report.evidence, "capture", json_pack("{s:[]}", "drops"));
    collect(NULL, &report, &zip, &len);
    assert_part(zip, len, "capture.pcapng", "packets " TOKEN);
    assert_part(zip, len, "index.txt", "\n  capture.pcapng  ");
    free(zip);
    assert_int_equal(host_remove(program->host, DIAG_CAPTURE_FILE, NULL), 0);
    collect(NULL, &report, &zip, &len);
    assert_part(zip, len, "index.txt", "  capture.pcapng: ");
    free(zip);
    diag_report_free(&report);

    program->options.join.verify_capture = true;
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_string_equal(err.message,
                        "use --capture with --collect FILE: the packets go into that file");
    program->options.kubeconfig = (char *)"D:\\k";
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_non_null(strstr(err.message, "--capture"));
    program->options.kubeconfig = NULL;

    put(DIAG_CAPTURE_FILE, "packets");
    program->options.collect = (char *)"D:\\c.zip";
    assert_int_equal(verb(verb_diag, &err), -1); /* never joined */
    assert_int_equal(host_file_type(program->host, DIAG_CAPTURE_FILE), HOST_ABSENT);
}

static void hostile(void **state) {
    static const struct {
        const char *name, *data, *message;
    } rows[] = {
        {"report.txt", "{}", "read archive: it has no 'report.json'"},
        {"report.json", "{}", "decode DiagReport: not a winjoin diag report"},
        {"report.json", "no", "decode DiagReport"},
        {"../report.json", "{}", "read archive: entry '../report.json' leads out of the archive"},
    };
    struct error err;
    char *zip = NULL;
    size_t len = 0;

    (void)state;
    program->options.replay = (char *)"D:\\c.zip";
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct bundle_archive_file files[] = {
            {rows[i].name, rows[i].data, strlen(rows[i].data)},
            {"report.json2", "", 0},
        };

        assert_int_equal(bundle_archive_make(files, ARRAY_SIZE(files), &zip, &len, NULL), 0);
        assert_int_equal(host_write(program->host, "D:\\c.zip", zip, len, HOST_PUBLIC, NULL), 0);
        assert_int_equal(verb(verb_diag, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_true(text_starts_with(err.message, "--replay D:\\c.zip: "));
        if (!strstr(err.message, rows[i].message))
            fail_msg("'%s' is not '%s'", err.message, rows[i].message);
        for (size_t cut = 0; cut < len; cut += 7) {
            assert_int_equal(host_write(program->host, "D:\\c.zip", zip, cut, HOST_PUBLIC, NULL),
                             0);
            assert_int_equal(verb(verb_diag, &err), -1);
            assert_int_equal(err.kind, ERROR_USAGE);
        }
        freep(&zip);
    }
}

int main(void) {
#define COLLECTION_TEST(name) cmocka_unit_test_setup_teardown(name, open_program, close_program)
    const struct CMUnitTest tests[] = {
        COLLECTION_TEST(every_source_without_its_secret),
        COLLECTION_TEST(what_could_not_be_measured),
        COLLECTION_TEST(without_hns),
        COLLECTION_TEST(long_files_and_many),
        COLLECTION_TEST(what_cannot_be_read),
        COLLECTION_TEST(the_time_is_bounded),
        COLLECTION_TEST(interrupted),
        COLLECTION_TEST(the_verb_collects_and_replays),
        COLLECTION_TEST(packets),
        COLLECTION_TEST(hostile),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
