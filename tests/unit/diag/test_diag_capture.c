/* Packet Monitor around one red flow: what it says, and that it is stopped whatever happens. */
#include "tests/scene/diag_run_scene.h"

#include "diag/capture.h"

#define PKTMON "C:\\Windows\\System32\\PktMon.exe"
#define OWN "C:\\ProgramData\\winjoin\\"
#define ETL OWN "capture.etl"
#define DROPPED                                                                                    \
    "[0]0004.0008::2026 [Microsoft-Windows-PktMon] Drop: PktGroupId 1, PktNumber 1, Component "    \
    "34, "                                                                                         \
    "Filter 1, DropReason INET: no route , DropLocation 0xE000460A, OriginalSize 60\r\n"           \
    "\tIP 10.244.3.4.50000 > 192.0.2.1.443: Flags [S]\r\n"

/* The program as it is played: what each of its verbs does. */
struct monitor {
    const char *fails;      /* this verb ends with 1 */
    const char *hangs;      /* this one does not end */
    const char *interrupts; /* while this one runs, Ctrl-C is pressed */
    bool runs;
    bool ours;   /* at first, of a run that was killed */
    bool silent; /* start ends with 0 while somebody else's runs */
    struct text called;
};

static bool play_pktmon(void *context, struct host *host, const struct host_process *process,
                        int *ret_code, struct text *ret_said, struct error *err) {
    struct monitor *monitor = context;
    const char *verb = process->argv[1];

    if (!text_ends_with(process->argv[0], "PktMon.exe"))
        return false;
    assert_int_equal(process->undoes, text_equal(verb, "stop")); /* Ctrl-C ends the others */
    text_addf(&monitor->called, "%s ", verb);
    *ret_code = text_equal(verb, monitor->fails) ||
                (text_equal(verb, "start") && monitor->runs && !monitor->silent);
    if (*ret_code)
        text_add(ret_said, "\r\n Packet Monitor is already started.\r\n");
    else if (text_equal(verb, "start") && !monitor->runs)
        put(host, ETL, "etl");
    else if (text_starts_with(verb, "etl"))
        put(host, process->argv[4], text_equal(verb, "etl2txt") ? DROPPED : "pcapng");
    if (!*ret_code && (text_equal(verb, "start") || text_equal(verb, "stop"))) {
        monitor->runs = text_equal(verb, "start");
        host_memory_hold(host, monitor->runs && exists(host, ETL) ? ETL : NULL);
    }
    if (text_equal(verb, monitor->interrupts))
        host_memory_interrupt(host);
    if (text_equal(verb, monitor->hangs))
        (void)error_set(err, ERROR_TIMED_OUT, "run '%s': it did not finish", process->argv[0]);
    return true;
}

static const struct row {
    const char *name;
    struct monitor monitor;
    const char *broken;  /* probes that fail */
    bool absent;         /* this Windows has no pktmon */
    bool left;           /* a killed run left its capture */
    const char *called;  /* the program's verbs, in order */
    const char *capture; /* evidence.capture, or what its error begins with; NULL: there is none */
} rows[] = {
    {"dropped",
     {0},
     "pod-to-external-ip",
     false,
     false,
     "start stop etl2pcap etl2txt ",
     "{\"drops\":[{\"reason\":\"INET: no route\",\"packets\":1,\"ofThisFlow\":1}],"
     "\"flow\":\"pod-to-external-ip/tcp\"}"},
    {"all green", {0}, NULL, false, false, "", NULL},
    {"no pktmon",
     {0},
     "pod-to-external-ip",
     true,
     false,
     "",
     "capture packets: this Windows has no"},
    {"somebody else's",
     {.runs = true},
     "pod-to-external-ip",
     false,
     false,
     "start ",
     "capture packets: pktmon start: exit code 1: Packet Monitor is already started."},
    {"somebody else's, and start says nothing",
     {.runs = true, .silent = true},
     "pod-to-external-ip",
     false,
     false,
     "start ",
     "capture packets: pktmon start: no file was created"},
    {"somebody else's, and a file of a run that was killed before a restart",
     {.runs = true},
     "pod-to-external-ip",
     false,
     true,
     "start ",
     "capture packets: pktmon start: exit code 1"},
    {"a killed run's",
     {.runs = true, .ours = true},
     "pod-to-external-ip",
     false,
     true,
     "stop start stop etl2pcap etl2txt ",
     "{\"drops\""},
    {"start never returns",
     {.hangs = "start"},
     "pod-to-external-ip",
     false,
     false,
     "start stop ",
     "capture packets: pktmon start: run "},
    {"stop fails",
     {.fails = "stop"},
     "pod-to-external-ip",
     false,
     false,
     "start stop ",
     "capture packets: pktmon stop: exit code 1"},
    {"the disk is full",
     {.fails = "etl2pcap"},
     "pod-to-external-ip",
     false,
     false,
     "start stop etl2pcap ",
     "capture packets: pktmon etl2pcap: exit code 1"},
};

static void check_capture(const struct row *row, const json_t *evidence) {
    const json_t *capture = json_object_get(evidence, "capture");
    _cleanup_(freep) char *text = capture ? json_write(capture) : NULL;
    const char *why = capture ? json_text_at(capture, "error") : NULL;

    if (!row->capture ? capture != NULL
                      : !capture || !text_starts_with(why ? why : text, row->capture))
        fail_msg("%s: %s", row->name, text ? text : "nothing");
}

static void each_end(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct stage stage = {
            .start_a = true, .start_b = true, .generation = 1, .broken = rows[i].broken};
        struct diag_options options = options_make(&stage);
        struct monitor monitor = rows[i].monitor;
        struct host *host = host_memory_new();
        struct diag_report report = {0};
        struct error err = {0};
        bool foreign, fails;

        options.capture = true;
        options.settle_timeout_ms = 1;
        if (!rows[i].absent)
            put(host, PKTMON, "MZ");
        if (rows[i].left)
            put(host, ETL, "etl");
        host_memory_hold(host, monitor.ours ? ETL : NULL);
        host_memory_on_sleep(host, play, &stage);
        host_memory_on_run(host, play_pktmon, &monitor);
        if (diag_run(host, &options, &report, &err) < 0)
            fail_msg("%s: %s", rows[i].name, err.message);
        assert_string_equal(text_str(&monitor.called), rows[i].called);
        check_capture(&rows[i], report.evidence);
        foreign = rows[i].monitor.runs && !rows[i].monitor.ours;
        fails = text_equal(rows[i].monitor.fails, "stop");
        assert_int_equal(monitor.runs, foreign || fails);
        /* held while it still runs: the next capture stops it first */
        assert_int_equal(exists(host, ETL), fails);
        assert_false(exists(host, OWN "capture.txt"));
        assert_int_equal(exists(host, OWN "capture.pcapng"),
                         rows[i].capture && strstr(rows[i].capture, "drops"));
        text_free(&stage.told);
        text_free(&monitor.called);
        diag_report_free(&report);
        host_free(host);
    }
}

/* The question is under way, or the capture begins: it is stopped all the same. */
static void ctrl_c(void **state) {
    (void)state;
    for (int early = 0; early < 2; early++) {
        struct stage stage = {.start_a = true,
                              .start_b = true,
                              .generation = 1,
                              .broken = "pod-to-external-ip",
                              .interrupted = early ? 0 : 2};
        struct monitor monitor = {.interrupts = early ? "start" : NULL};
        struct diag_options options = options_make(&stage);
        struct host *host = host_memory_new();
        struct diag_report report = {0};
        struct error err = {0};

        options.capture = true;
        options.look = json_pack("{s:[]}", "services"); /* nothing is young: asked once */
        put(host, PKTMON, "MZ");
        host_memory_on_sleep(host, play, &stage);
        host_memory_on_run(host, play_pktmon, &monitor);
        assert_int_equal(diag_run(host, &options, &report, &err), -1);
        assert_int_equal(err.kind, ERROR_INTERRUPTED);
        assert_true(text_starts_with(text_str(&monitor.called), "start stop"));
        assert_false(monitor.runs);
        assert_false(exists(host, ETL) || exists(host, OWN "capture.pcapng"));
        json_decref((json_t *)options.look);
        text_free(&stage.told);
        text_free(&monitor.called);
        host_free(host);
    }
}

/* Of one that works the other way, the packets of the way that fails. */
static void one_way(void **state) {
    static const struct {
        const char *broken;
        unsigned back_asked; /* with all the others, and alone */
    } flows[] = {{"pod-to-pod-ip.tcp", 1}, {"x-back-tcp", 2}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(flows); i++) {
        struct stage stage = {
            .start_a = true, .start_b = true, .generation = 1, .broken = flows[i].broken};
        struct diag_options options = options_make(&stage);
        struct monitor monitor = {0};
        struct host *host = host_memory_new();
        struct diag_report report = {0};

        options.capture = true;
        options.look = json_pack("{s:[]}", "services"); /* nothing is young: asked once */
        put(host, PKTMON, "MZ");
        host_memory_on_sleep(host, play, &stage);
        host_memory_on_run(host, play_pktmon, &monitor);
        assert_int_equal(diag_run(host, &options, &report, NULL), 0);
        assert_string_equal(json_text_at(report.evidence, "capture.flow"), "pod-to-pod-ip/tcp");
        assert_int_equal(stage.back_asked, flows[i].back_asked);
        json_decref((json_t *)options.look);
        text_free(&stage.told);
        text_free(&monitor.called);
        diag_report_free(&report);
        host_free(host);
    }
}

static void drops(void **state) {
    static const struct {
        const char *text, *target, *wanted;
    } texts[] = {
        {"", "10.0.0.1", "[]"},
        {"Drop: no reason at all\nDropReason\nDropReason ,\n", "10.0.0.1", "[]"},
        {DROPPED DROPPED, "192.0.2.1",
         "[{\"reason\":\"INET: no route\",\"packets\":2,\"ofThisFlow\":2}]"},
        {DROPPED, "192.0.2.11", "[{\"reason\":\"INET: no route\",\"packets\":1,\"ofThisFlow\":0}]"},
        {DROPPED, "92.0.2.1", "[{\"reason\":\"INET: no route\",\"packets\":1,\"ofThisFlow\":0}]"},
        {DROPPED "DropReason MTU mismatch , x 10.0.0.1", "10.0.0.1",
         "[{\"reason\":\"INET: no route\",\"packets\":1,\"ofThisFlow\":0},"
         "{\"reason\":\"MTU mismatch\",\"packets\":1,\"ofThisFlow\":1}]"},
        {"DropReason a\x1b[31m\xff", "",
         "[{\"reason\":\"a\\\\x1b[31m\\\\xff\",\"packets\":1,"
         "\"ofThisFlow\":0}]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        _cleanup_json_ json_t *found = diag_capture_drops(texts[i].text, texts[i].target);
        _cleanup_(freep) char *text = json_write(found);

        assert_string_equal(text, texts[i].wanted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_end),
        cmocka_unit_test(ctrl_c),
        cmocka_unit_test(one_way),
        cmocka_unit_test(drops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
