/* What is waited for on a node that was just started, and on one that runs for long: pods that do
 * not start, red flows that are asked again, answers that come late. */
#include "tests/scene/diag_run_scene.h"

#include "base/rfc3339.h"
#include "diag/first_look.h"
#include "services/service_status.h"

#include <time.h>

/* Between pods loss is not asked for until it passes by chance; before a load balancer, whose
 * backends come one by one, it is. */
static void loss_is_no_slow_start(void **state) {
    static const struct {
        const char *lossy;
        unsigned calls, asked, attempts;
        enum diag_outcome outcome;
        const char *cause;
    } rows[] = {
        {"pod-to-pod-ip.udp", 99, 2, 6, DIAG_FAIL, "LOSS"},
        {"pod-to-pod-ip.udp", 1, 2, 6, DIAG_SLOW, NULL},
        {"pod-to-service-ip.udp", 4, 5, 3, DIAG_SLOW, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct stage stage = {.start_a = true,
                              .start_b = true,
                              .generation = 1,
                              .lossy = rows[i].lossy,
                              .lossy_calls = rows[i].calls};
        struct diag_options options = options_make(&stage);
        struct host *host = host_memory_new();
        struct diag_report report = {0};
        _cleanup_(freep) char *flow = xstrndup(rows[i].lossy, strcspn(rows[i].lossy, "."));

        host_memory_on_sleep(host, play, &stage);
        assert_int_equal(diag_run(host, &options, &report, NULL), 0);
        assert_int_equal(
            diag_cells_find(&report.cells, diag_flow_find(flow)->id, true, false)->outcome,
            rows[i].outcome);
        assert_int_equal(stage.lossy_asked, rows[i].asked);
        assert_int_equal(stage.lossy_attempts, rows[i].attempts);
        if (rows[i].cause)
            assert_string_equal(report.causes.items[0].id, rows[i].cause);
        text_free(&stage.told);
        diag_report_free(&report);
        host_free(host);
    }
}

/* What works needs neither kube-proxy nor routes: three times are enough to know it. */
static void a_straight_flow_is_asked_three_times(void **state) {
    struct stage stage = {
        .start_a = true, .start_b = true, .generation = 1, .broken = "pod-to-external-ip"};
    struct diag_options options = options_make(&stage);
    struct host *host = host_memory_new();
    struct diag_report report = {0};

    (void)state;
    host_memory_on_sleep(host, play, &stage);
    assert_int_equal(diag_run(host, &options, &report, NULL), 0);
    assert_int_equal(diag_cells_find(&report.cells, FLOW_EXT_IP, false, false)->outcome, DIAG_FAIL);
    assert_int_equal(stage.generation, 4);
    assert_in_range(report.measured_ms, 2000, 4000);
    text_free(&stage.told);
    diag_report_free(&report);
    host_free(host);
}

/* The API server is away, and with it the Service kubernetes: nothing is waited for. */
static void a_lost_api_server_is_not_waited_for(void **state) {
    (void)state;
    for (int away = 0; away < 2; away++) {
        struct stage stage = {
            .start_a = true, .start_b = true, .generation = 1, .broken = "pod-to-service-ip.tcp"};
        struct diag_options options = options_make(&stage);
        struct host *host = host_memory_new();
        struct diag_report report = {0};
        char since[RFC3339_TEXT_MAX];
        _cleanup_json_ json_t *look = NULL;

        rfc3339_format(host_now(host) - DIAG_YOUNG_SECONDS / 2, since);
        look = json_pack("{s:{s:s}, s:[{s:s, s:s, s:s}]}", "api", "outcome",
                         away ? "unreachable" : "failing", "services", "name", "kube-proxy",
                         "state", "running", "since", since);
        options.look = look;
        host_memory_on_sleep(host, play, &stage);
        assert_int_equal(diag_run(host, &options, &report, NULL), 0);
        assert_int_equal(diag_cells_find(&report.cells, FLOW_SVC_IP, false, false)->outcome,
                         DIAG_FAIL);
        assert_int_equal(!strstr(text_str(&stage.told), "measuring them again"), away);
        assert_in_range(report.measured_ms, away ? 0 : 20000, away ? 1000 : 25000);
        text_free(&stage.told);
        diag_report_free(&report);
        host_free(host);
    }
}

/* The kubelet's log says it three times, now. */
static void put_log(struct host *host, const char *why) {
    time_t t = (time_t)host_now(host);
    const struct tm *tm = localtime(&t);
    _cleanup_(freep) char *line =
        xasprintf("E%02d%02d %02d:%02d:%02d.000000 9 x.go:1] \"Error\" err=\"%s\" "
                  "pod=\"kube-system/winjoin-probe-a-n\"\n",
                  tm->tm_mon + 1, tm->tm_mday, tm->tm_hour, tm->tm_min, tm->tm_sec, why);

    _cleanup_(freep) char *log = xasprintf("%s%s%s", line, line, line);

    put(host, "C:\\var\\log\\kubelet\\kubelet.log", log);
}

/* On a node whose services run for long, or have just been started, and one of which may be
 * stopped, until diag ends. */
static void run_on_services(struct stage *stage, struct diag_options *options, bool young,
                            const char *stopped, const char *log, struct diag_report *ret,
                            uint64_t *ret_ms) {
    static const char *const services[] = {"hns", "containerd", "kubelet"};
    struct host *host = host_memory_new();
    uint64_t begin = host_monotonic_ms(host);

    for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
        const struct host_service service = {.name = (char *)services[i], .command = (char *)"x"};

        assert_int_equal(host_service_put(host, &service, NULL), 0);
        host_memory_set_service_state(host, services[i], HOST_SERVICE_RUNNING);
        if (young)
            service_life_begin(host, services[i]);
    }
    if (stopped) {
        const struct host_service service = {.name = (char *)stopped, .command = (char *)"x"};

        assert_int_equal(host_service_put(host, &service, NULL), 0);
    }
    if (log)
        put_log(host, log);
    host_memory_on_sleep(host, play, stage);
    assert_int_equal(diag_run(host, options, ret, NULL), 0);
    *ret_ms = host_monotonic_ms(host) - begin;
    assert_clean(host);
    json_decref((json_t *)options->look);
    text_free(&stage->told);
    host_free(host);
}

/* Without the network no pod starts; one that runs without an address will get none. That is told
 * after ten seconds, not after two minutes, of a kubelet that hangs after thirty; a node whose
 * services have just been started is waited for until these are a minute old. */
static void what_stops_pods_ends_the_wait(void **state) {
    static const struct {
        const char *network, *silent, *log;
        struct stage stage;
        bool young;
        const char *cause;
        unsigned least_ms;
    } rows[] = {
        {"flannel.4096", NULL, NULL, {.generation = 1}, false, "HNS-NET", 9000},
        {"flannel.4096", NULL, NULL, {.generation = 1}, true, "HNS-NET", 66000},
        {NULL, "kubelet", NULL, {.generation = 1}, false, "SVC-DOWN", 30000},
        {NULL,
         NULL,
         "failed to \\\"StartContainer\\\" for \\\"probe\\\" with RunContainerError: \\\"no\\\"",
         {.generation = 1},
         false,
         "POD-SBX",
         9000},
        {NULL,
         NULL,
         NULL,
         {.start_a = true, .start_b = true, .lost_b = true, .generation = 1},
         false,
         "HNS-EP",
         9000},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct stage stage = rows[i].stage;
        struct diag_options options = options_make(&stage);
        struct diag_report report = {0};
        uint64_t ms;

        options.evidence.network_name = rows[i].network;
        options.look = json_pack("{s:[]}", "services");
        if (rows[i].silent)
            json_object_set_new((json_t *)options.look, "silent",
                                json_pack("{s:s}", rows[i].silent, "no answer"));
        run_on_services(&stage, &options, rows[i].young, NULL, rows[i].log, &report, &ms);
        assert_string_equal(report.causes.items[0].id, rows[i].cause);
        assert_true(report.causes.items[0].confirmed);
        assert_in_range(ms, rows[i].least_ms, rows[i].least_ms + rows[i].least_ms / 2);
        diag_report_free(&report);
    }
}

/* One that was stopped when diag began, or has been started since, runs by the time that the cells
 * are judged: what failed meanwhile is asked again. One that stays stopped is named. */
static void a_restart_is_no_cause(void **state) {
    static const struct {
        bool down, stays, young; /* kube-proxy at the first look, and later; the others later */
        const char *lossy, *cause;
        enum diag_outcome outcome;
    } rows[] = {
        {true, false, true, "pod-to-service-ip.udp", NULL, DIAG_SLOW},
        {true, false, true, NULL, NULL, DIAG_PASS},
        {true, true, true, NULL, "SVC-DOWN", DIAG_PASS},
        {false, false, true, "pod-to-service-ip.udp", NULL, DIAG_SLOW},
        {false, false, false, "pod-to-service-ip.udp", "LOSS", DIAG_FAIL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct stage stage = {.start_a = true,
                              .start_b = true,
                              .generation = 1,
                              .lossy = rows[i].lossy,
                              .lossy_calls = 4};
        struct diag_options options = options_make(&stage);
        struct diag_report report = {0};
        uint64_t ms;

        options.look = json_pack("{s:[]}", "services");
        if (rows[i].down)
            json_array_append_new(
                json_object_get(options.look, "services"),
                json_pack("{s:s, s:s}", "name", "kube-proxy", "state", "stopped"));
        run_on_services(&stage, &options, rows[i].young, rows[i].stays ? "kube-proxy" : NULL, NULL,
                        &report, &ms);
        assert_int_equal(diag_cells_find(&report.cells, FLOW_SVC_IP, true, false)->outcome,
                         rows[i].outcome);
        /* Nobody plays the kubelet's port: that is red, and no row knows why. */
        assert_int_equal(report.causes.count, rows[i].cause ? 2 : 1);
        assert_string_equal(report.causes.items[report.causes.count - 1].id, DIAG_CAUSE_UNKNOWN);
        if (rows[i].cause)
            assert_string_equal(report.causes.items[0].id, rows[i].cause);
        diag_report_free(&report);
    }
}

/* The load balancer of the DNS, with one pod on another node. */
static void dns_put(struct host *host) {
    static const char network[] = "11111111-0000-4000-8000-000000000001",
                      pod[] = "22222222-0000-4000-8000-000000000001";
    const struct {
        enum hcn_kind kind;
        const char *network, *id, *document;
    } rows[] = {
        {HCN_NETWORK, NULL, network, "{\"Name\":\"flannel.4096\",\"Type\":\"Overlay\"}"},
        {HCN_ENDPOINT, network, pod,
         "{\"Flags\":1,\"IpConfigurations\":[{\"IpAddress\":\"10.244.9.9\"}]}"},
        {HCN_LOAD_BALANCER, NULL, NULL,
         "{\"FrontendVIPs\":[\"10.96.0.10\"],\"HostComputeEndpoints\":[\"22222222-0000-4000-8000-"
         "000000000001\"],\"PortMappings\":[{\"Protocol\":17,\"ExternalPort\":53,"
         "\"InternalPort\":53}]}"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *made = NULL;

        assert_int_equal(hcn_create(host, rows[i].kind, rows[i].network, rows[i].id,
                                    rows[i].document, &made, NULL),
                         0);
    }
}

/* After a start what HNS and the API say is read once a flow has failed: what is asked at addresses
 * that they name can only be asked then. Of the others only what had no good answer is asked again.
 */
static void what_is_read_late_is_asked_late(void **state) {
    static const struct {
        bool young;
        const char *lossy;
        unsigned lossy_calls, lossy_asked, extras;
    } rows[] = {{false, "x-small-tcp", 0, 1, 27},   {true, "x-small-tcp", 0, 1, 27},
                {false, "x-small-tcp", 1, 1, 27},   {true, "x-small-tcp", 1, 2, 28},
                {false, "x-dns-connect", 1, 1, 27}, {true, "x-dns-connect", 1, 1, 27}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct stage stage = {.start_a = true,
                              .start_b = true,
                              .generation = 1,
                              .broken = "pod-to-service-ip.udp",
                              .lossy = rows[i].lossy,
                              .lossy_calls = rows[i].lossy_calls};
        struct diag_options options = options_make(&stage);
        struct diag_report report = {0};
        struct host *host = host_memory_new();
        _cleanup_json_ json_t *look = json_pack(
            "{s:[{s:s, s:s, s:s}]}", "services", "name", "hns", "state", "running", "since",
            rows[i].young ? RFC3339_TEXT(host_now(host)) : "2001-01-01T00:00:00Z");

        dns_put(host);
        options.look = look;
        host_memory_on_sleep(host, play, &stage);
        assert_int_equal(diag_run(host, &options, &report, NULL), 0);
        assert_int_equal(stage.generation > 2, rows[i].young);
        assert_int_equal(stage.lossy_asked, rows[i].lossy_asked);
        assert_int_equal(stage.extras_asked, rows[i].extras);
        text_free(&stage.told);
        diag_report_free(&report);
        host_free(host);
    }
}

/* No flow fails, and yet there is something to tell: what TCP has lost was sent again. */
static void late_answers_are_evidence(void **state) {
    (void)state;
    for (int late = 0; late < 2; late++) {
        struct stage stage = {.start_a = true,
                              .start_b = true,
                              .generation = 1,
                              .late = late ? "x-size-tcp-1" : NULL};
        struct diag_options options = options_make(&stage);
        struct host *host = host_memory_new();
        struct diag_report report = {0};

        host_memory_on_sleep(host, play, &stage);
        options.flow_input.node_ip = "10.0.0.21";
        assert_int_equal(diag_run(host, &options, &report, NULL), 0);
        assert_true(diag_report_is_good(&report));
        assert_int_equal(report.causes.count, late);
        assert_true(!late || text_equal(report.causes.items[0].id, "LOSS"));
        assert_int_equal(report.evidence != NULL, late);
        text_free(&stage.told);
        diag_report_free(&report);
        host_free(host);
    }
}

static uint32_t note_hns(void *context, const char *, const char *const *, size_t, char **,
                         char **) {
    text_add(context, "HNS is asked\n");
    return 0x80070005;
}

/* What HNS and the API say is read while the pods start: who waits hears of them first. Where a
 * service was just started, as by a join, it is read behind the measuring, where a flow is not
 * good (here one is not run). */
static void the_start_is_told_before_HNS_is_asked(void **state) {
    static const char *const told[] = {
        "starting winjoin-probe-a and winjoin-probe-b\nHNS is asked\n",
        "starting winjoin-probe-a and winjoin-probe-b\nmeasuring 9 flows\nHNS is asked\n"};

    (void)state;
    for (int young = 0; young < 2; young++) {
        struct stage stage = {.start_a = true, .start_b = true, .generation = 1};
        struct diag_options options = options_make(&stage);
        struct host *host = host_memory_new();
        struct diag_report report = {0};
        json_t *look =
            json_pack("{s:[{s:s,s:s,s:s}]}", "services", "name", "hns", "state", "running", "since",
                      young ? RFC3339_TEXT(host_now(host)) : "2020-01-01T00:00:00Z");

        options.look = look;
        host_memory_on_sleep(host, play, &stage);
        host_memory_set_hns(host, note_hns, &stage.told);
        assert_int_equal(diag_run(host, &options, &report, NULL), 0);
        assert_true(text_starts_with(text_str(&stage.told), told[young]));
        json_decref(look);
        text_free(&stage.told);
        diag_report_free(&report);
        host_free(host);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_start_is_told_before_HNS_is_asked),
        cmocka_unit_test(a_restart_is_no_cause),
        cmocka_unit_test(what_is_read_late_is_asked_late),
        cmocka_unit_test(what_stops_pods_ends_the_wait),
        cmocka_unit_test(a_straight_flow_is_asked_three_times),
        cmocka_unit_test(loss_is_no_slow_start),
        cmocka_unit_test(late_answers_are_evidence),
        cmocka_unit_test(a_lost_api_server_is_not_waited_for),
    };

    return cmocka_run_group_tests_name("diag_again", tests, NULL, NULL);
}
