/* The faces of a report tell the same, literally. */
#include "tests/scene/diag_report_scene.h"

#define HEAD "win-7k2   2026-11-21T10:00:04Z\n\n"

static void text_in_ascii(void **state) {
    const struct diag_text_style style = {0};
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *text = NULL;

    (void)state;
    report_make(&report);
    text = diag_report_text(&report, &style);
    assert_string_equal(
        text,
        HEAD "flow                            TCP               UDP\n"
             "pod -> pod         IP           ok  0.4 ms        ok  0.4 ms\n"
             "pod -> pod         name         ok  0.4 ms        ok  0.4 ms\n"
             "pod -> service     cluster IP   ok  0.4 ms        ok  0.5 ms\n"
             "pod -> service     short name   ok  0.5 ms        ok  0.5 ms\n"
             "pod -> service     FQDN         ok  0.5 ms        ok  0.5 ms\n"
             "pod -> external    IP           !!  timeout       !!  dns timeout\n"
             "pod -> external    DNS          !!  timeout       ok  0.5 ms\n"
             "node -> pod                     ok  0.5 ms        ok  0.6 ms\n"
             "pod -> node                     ok  0.6 ms        --  skipped\n"
             "\n"
             "7 of 9 flows work. One cause explains every failure:\n"
             "\n"
             "NAT-NONE  confirmed   pods' packets leave the node with the pods' own addresses:\n"
             "    no OutBoundNAT policy of their endpoints translates them\n"
             "  evidence   endpoint 6f3c (winjoin-probe-a): none of its policies translates\n"
             "             what goes out: SDNRoute, ProviderAddress\n"
             "             the node itself reaches 192.0.2.1\n"
             "  do         winjoin join phase pod-network writes the CNI configuration again;\n"
             "             new pods get the policy\n"
             "  see        causes.md#nat-none\n"
             "skipped (no-udp-listener): pod-to-node/udp\n");
}

static void text_of_a_node_on_which_no_pod_can_start(void **state) {
    static const char seen[] =
        "{\"look\":{\"time\":\"2026-11-22T10:15:02Z\",\"seconds\":0.31,\"services\":[{\"name\":"
        "\"kubelet\",\"state\":\"stopped\",\"winjoin\":true,\"since\":\"2026-11-22T10:11:02Z\","
        "\"exitCode\":255,\"log\":\"C:\\\\kubelet.log\",\"lastErrors\":[\"E1122 no\"]}]}}";
    const struct diag_text_style style = {0};
    struct diag_report report = {.evidence = json_loads(seen, 0, NULL)};
    _cleanup_(freep) char *text = NULL;

    (void)state;
    diag_causes_find(&report);
    text = diag_report_text(&report, &style);
    assert_string_equal(
        text, "Checked in 0.3 s: services, API server, clock, certificate, HNS\n"
              "\n"
              "SVC-DOWN  confirmed   the kubelet is not running: it ended 4 min ago with exit\n"
              "    code 255\n"
              "  evidence   its log says: E1122 no\n"
              "             its log: C:\\kubelet.log\n"
              "  do         fix what its last error names (winjoin logs kubelet shows more),\n"
              "             then: sc.exe start kubelet\n"
              "  see        causes.md#svc-down\n"
              "\n"
              "The pod flows were not measured: no pod can start without the kubelet.\n");
    diag_report_free(&report);
}

static void text_of_a_cause_that_leaves_one_cell(void **state) {
    const struct diag_text_style style = {0};
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *text = NULL;

    (void)state;
    report_make(&report);
    judge(&report, "pod-to-node", false, PROBE_REFUSED, 0);
    text = diag_report_text(&report, &(struct diag_text_style){.columns = 40});
    assert_non_null(strstr(text, " One cause explains\nsome of the failures:\n"));
    free(text);
    text = diag_report_text(&report, &style);
    assert_non_null(strstr(text, " One cause explains some of the failures:\n"));
    judge(&report, "pod-to-pod-name", false, PROBE_DNS_NXDOMAIN, 0);
    free(text);
    text = diag_report_text(&report, &style);
    assert_non_null(strstr(text, " name         !!  dns nxdomain  ok  0.4 ms\n"));
}

static void two_families(void **state) {
    const struct diag_text_style style = {0};
    const struct diag_flow_input input = {.source_ip = "10.244.3.4",
                                          .target_ip = "10.244.3.5",
                                          .node_ip6 = "fd00:200::21",
                                          .source_ip6 = "fd00:10:244:3::4",
                                          .target_ip6 = "fd00:10:244:3::5"};
    struct probe_result ok = {.outcome = PROBE_OK, .attempts = 3, .succeeded = 3, .median_us = 400};
    struct probe_result lost = {.outcome = PROBE_TIMEOUT, .attempts = 2};
    _cleanup_(diag_report_free) struct diag_report report = {0}, again = {0};
    _cleanup_json_ json_t *json = NULL;
    _cleanup_(freep) char *text = NULL, *html = NULL, *written = NULL;

    (void)state;
    diag_cells_make(&input, &report.cells);
    diag_cell_judge(diag_cells_find(&report.cells, FLOW_NODE_POD, false, false), &ok, false);
    diag_cell_judge(diag_cells_find(&report.cells, FLOW_NODE_POD, true, false), &ok, false);
    diag_cell_judge(diag_cells_find(&report.cells, FLOW_NODE_POD, false, true), &ok, false);
    diag_cell_judge(diag_cells_find(&report.cells, FLOW_NODE_POD, true, true), &lost, false);
    assert_false(diag_report_is_good(&report));
    text = diag_report_text(&report, &style);
    assert_non_null(strstr(text,
                           "node -> pod                     ok  0.4 ms        ok  0.4 ms\n"
                           "node -> pod        IPv6         ok  0.4 ms        !!  timeout\n"));
    html = diag_report_html(&report);
    assert_non_null(strstr(html, "pod, IPv6</th><td class=\"pass\" data-by=\"TCP\">&#10003; pass "
                                 "0.4 ms</td><td class=\"fail\""));
    json = diag_report_json(&report);
    written = json_write(json);
    assert_int_equal(diag_report_read(written, strlen(written), NODE_REPORT_KIND, &again, NULL), 0);
    assert_int_equal(again.cells.count, report.cells.count);
    assert_int_equal(diag_cells_find(&again.cells, FLOW_NODE_POD, true, true)->outcome, DIAG_FAIL);
}

static void text_in_utf8_and_colour(void **state) {
    const struct diag_text_style style = {.utf8 = true, .color = true};
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *text = NULL;

    (void)state;
    report_make(&report);
    text = diag_report_text(&report, &style);
    assert_non_null(strstr(text, "pod → external     IP           \x1b[31m✗\x1b[0m  timeout        "
                                 "\x1b[31m✗\x1b[0m  dns timeout\n"));
    assert_non_null(strstr(text, "node → pod                      \x1b[32m✓\x1b[0m  0.5 ms"));
}

/* Windows of 40 columns, of a telephone's size and none at all. */
static void no_line_is_longer_than_the_terminal(void **state) {
    static const unsigned widths[] = {0, 10, 30, 40, 67, 68, 79, 80, 200};
    _cleanup_(diag_report_free) struct diag_report report;

    (void)state;
    report_make(&report);
    free(report.causes.items[0].message); /* would fill whatever there is */
    report.causes.items[0].message = xstrdup(
        "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h i j k l m n o p q r");
    for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
        const struct diag_text_style style = {.columns = widths[i]};
        _cleanup_(freep) char *text = diag_report_text(&report, &style);
        size_t edge = !widths[i] || widths[i] > 80 ? 80 : widths[i] < 30 ? 30 : widths[i], len;

        for (const char *line = text; *line; line += len + 1) {
            len = strcspn(line, "\n");
            if (len > edge && (edge >= 40 || strspn(line, " ") == 4)) /* single letters */
                fail_msg("%u columns: %.*s", widths[i], (int)len, line);
        }
        assert_true((strstr(text, "flow    ") != NULL) == (edge >= 68));
        assert_true((strstr(text, "node -> pod \n  TCP  ok  0.5 ms\n") != NULL) == (edge < 68));
    }
}

static void json_is_the_contract(void **state) {
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_json_ json_t *json = NULL, *flow = NULL, *cause = NULL, *summary = NULL;

    (void)state;
    report_make(&report);
    json = diag_report_json(&report);
    assert_string_equal(json_text_at(json, "apiVersion"), "winjoin.io/v1alpha1");
    assert_string_equal(json_text_at(json, "kind"), "DiagReport");
    assert_string_equal(json_text_at(json, "node"), "win-7k2");
    assert_string_equal(json_text_at(json, "time"), "2026-11-21T10:00:04Z");
    flow = json_loads("{\"id\":\"pod-to-pod-ip\",\"from\":\"winjoin-probe-a\",\"to\":"
                      "\"10.244.3.5:18080\",\"protocol\":\"TCP\",\"family\":\"IPv4\",\"outcome\":"
                      "\"pass\",\"attempts\":3,\"succeeded\":3,\"latencyMs\":{\"min\":0.4,"
                      "\"median\":0.4,\"p95\":0.4,\"max\":0.4},\"lossPercent\":0.0,"
                      "\"evidence\":{\"probe\":\"ok\"}}",
                      0, NULL);
    assert_true(json_equal(json_at(json, "flows.0"), flow));
    json_decref(flow);
    flow = json_loads(
        "{\"id\":\"pod-to-external-ip\",\"from\":\"winjoin-probe-a\",\"to\":"
        "\"192.0.2.1:443\",\"protocol\":\"TCP\",\"family\":\"IPv4\",\"outcome\":"
        "\"fail\",\"attempts\":2,\"succeeded\":0,\"lossPercent\":100.0,\"evidence\":{\"probe\":"
        "\"timeout\"},\"reason\":\"timeout, 2 attempts\"}",
        0, NULL);
    assert_true(json_equal(json_at(json, "flows.10"), flow));
    cause = json_loads("[\"pod-to-external-ip/tcp\",\"pod-to-external-ip/udp\","
                       "\"pod-to-external-dns/tcp\"]",
                       0, NULL);
    assert_true(json_equal(json_at(json, "causes.0.cells"), cause));
    assert_string_equal(json_text_at(json, "causes.0.confidence"), "confirmed");
    assert_int_equal(json_is_array(json_at(json, "causes.0.evidence")),
                     report.causes.items[0].evidence.count > 0);
    summary = json_loads("{\"pass\":14,\"fail\":3,\"skip\":1,\"notRun\":0}", 0, NULL);
    assert_true(json_equal(json_at(json, "summary"), summary));
}

static size_t count(const char *text, const char *part) {
    size_t n = 0;

    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

static void counts_agree_everywhere(void **state) {
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *junit = NULL, *html = NULL;

    (void)state;
    report_make(&report);
    diag_cells_find(&report.cells, FLOW_NODE_POD, true, false)->outcome = DIAG_NOT_RUN;
    diag_cells_find(&report.cells, FLOW_NODE_POD, false, false)->outcome = DIAG_SLOW;
    junit = diag_report_junit(&report);
    assert_non_null(strstr(junit, "<testsuites tests=\"18\" failures=\"3\" errors=\"1\" "
                                  "time=\"600.500\">"));
    assert_non_null(strstr(junit, "    <testcase name=\"pod-to-external-ip/tcp\" "
                                  "classname=\"win-7k2\" time=\"0.000000\">\n"
                                  "      <failure message=\"timeout, 2 attempts\" "
                                  "type=\"NAT-NONE\">pods"));
    assert_non_null(strstr(junit, "<skipped message=\"no-udp-listener\"/>"));
    assert_non_null(
        strstr(junit, "\n  <testsuite name=\"winjoin diag\" timestamp=\"2026-11-21T10:00:04Z\" "
                      "skipped=\"1\" tests=\"18\" "));
    assert_int_equal(count(junit, "    <testcase "), 18);
    assert_true(text_ends_with(junit, "  </testsuite>\n</testsuites>\n"));
    html = diag_report_html(&report);
    assert_non_null(strstr(html, ", measured 2026-11-21T10:00:04Z in 600.5 s: "));
    assert_non_null(strstr(html, "6 of 9 flows work (13 pass, 3 fail, 1 skip, 1 not run)"));
    assert_null(strstr(html, "http"));
}

#define WHY                                                                                        \
    "pods' packets leave the node with the pods' own addresses: no OutBoundNAT policy of their "   \
    "endpoints translates them"
#define SPEAKS_FIRST                                                                               \
    "endpoint 6f3c (winjoin-probe-a): none of its policies translates what goes out: SDNRoute, "   \
    "ProviderAddress"
#define SPEAKS_SECOND "the node itself reaches 192.0.2.1"
#define DO                                                                                         \
    "winjoin join phase pod-network writes the CNI configuration again; new pods get the policy"

/* Under the cell itself and in a section of its own: why, what speaks for it, what to do. */
static void a_page_says_why(void **state) {
    static const char *const tags[] = {"body", "main",    "table",   "thead", "tbody", "tr",
                                       "th",   "td",      "details", "p",     "small", "code",
                                       "ul",   "section", "h2",      "pre",   "b",     "summary"};
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *html = NULL;

    (void)state;
    report_make(&report);
    html = diag_report_html(&report);
    assert_non_null(
        strstr(html, "<td class=\"fail\" data-by=\"UDP\"><details><summary>&#10007; fail<br><small>"
                     "dns-timeout, 2 attempts</small></summary>\n"
                     "<p>winjoin-probe-a &rarr; 192.0.2.53:53</p>\n"
                     "<p><a href=\"#NAT-NONE\">NAT-NONE</a>: " WHY "</p>\n"
                     "<p>Evidence: " SPEAKS_FIRST "</p>\n<p>Evidence: " SPEAKS_SECOND "</p>\n"
                     "<p>Do: " DO "</p>\n"
                     "<p>By hand, on the pod: <code>winjoin probe dns 192.0.2.53:53 --question "
                     "kubernetes.default.svc.cluster.local</code></p>\n</details></td></tr>\n"));
    assert_non_null(strstr(html, "<code>winjoin probe tcp example.com:443</code>"));
    assert_non_null(strstr(
        html, "<section class=\"confirmed\" id=\"NAT-NONE\"><h2>NAT-NONE "
              "<small>confirmed</small></h2>\n<p>" WHY "</p>\n<ul>\n<li>" SPEAKS_FIRST "</li>\n"
              "<li>" SPEAKS_SECOND "</li>\n</ul>\n<p><b>Do:</b> " DO "</p>\n<p><b>Explains:</b> "
              "pod-to-external-ip/tcp, pod-to-external-ip/udp, pod-to-external-dns/tcp</p>\n"
              "<p><b>See:</b> causes.md#nat-none</p>\n</section>\n"
              "<table><thead>")); /* before the matrix */
    assert_non_null(strstr(html, "</table>\n<details class=\"evidence\"><summary>All evidence"
                                 "</summary><pre>{\n"));
    report.causes.items[0].hint[0] = '\0'; /* nothing to do */
    free(html);
    html = diag_report_html(&report);
    assert_null(strstr(html, "Do:"));
    for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
        char plain[16], with[16], end[16];

        (void)text_format(plain, sizeof plain, "<%s>", tags[i]);
        (void)text_format(with, sizeof with, "<%s ", tags[i]);
        (void)text_format(end, sizeof end, "</%s>", tags[i]);
        assert_int_equal(count(html, plain) + count(html, with), count(html, end));
    }
}

static void times_have_two_digits(void **state) {
    static const struct {
        unsigned us;
        const char *told;
    } cases[] = {{1049, " 1.0 ms"}, {1050, " 1.1 ms"}, {9949, " 9.9 ms"},
                 {9950, " 10 ms"},  {40, " 0.0 ms"},   {123456, " 123 ms"}};
    static const struct diag_text_style plain = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(diag_report_free) struct diag_report report;
        _cleanup_(freep) char *text = NULL;

        report_make(&report);
        judge(&report, "pod-to-node", false, PROBE_OK, cases[i].us);
        text = diag_report_text(&report, &plain);
        if (!strstr(text, cases[i].told))
            fail_msg("%u: %s", cases[i].us, text);
    }
}

/* What is no address of 45 letters at most is left out. */
static void addresses_that_are_too_long(void **state) {
    static const char text[] =
        "{\"kind\":\"DiagReport\",\"flows\":[{\"id\":\"pod-to-pod-name\",\"protocol\":\"TCP\","
        "\"outcome\":\"pass\",\"evidence\":{\"addresses\":["
        "\"0123456789012345678901234567890123456789012345\",3,"
        "\"012345678901234567890123456789012345678901234\",\"10.0.0.1\",\"2\",\"3\",\"4\",\"5\","
        "\"6\",\"7\",\"8\",\"9\"]},\"attempts\":-5}]}";
    _cleanup_(diag_report_free) struct diag_report report = {0};
    struct error err = {0};
    const struct probe_result *result;

    (void)state;
    if (diag_report_read(text, strlen(text), NODE_REPORT_KIND, &report, &err) < 0)
        fail_msg("%s", err.message);
    result = &report.cells.items[0].result;
    assert_int_equal(result->address_count, PROBE_ADDRESSES_MAX);
    assert_int_equal(result->attempts, 0);
    assert_int_equal(strlen(result->addresses[0]), 45);
    assert_string_equal(result->addresses[1], "10.0.0.1");
}

static void markup_is_escaped(void **state) {
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *junit = NULL, *html = NULL;

    (void)state;
    report_make(&report);
    free(report.node);
    report.node = xstrdup("<b>\"&\x01");
    junit = diag_report_junit(&report);
    html = diag_report_html(&report);
    assert_non_null(strstr(junit, "classname=\"&lt;b&gt;&quot;&amp;?\""));
    assert_non_null(strstr(html, "Pod network of &lt;b&gt;&quot;&amp;?</h1>"));
}

static void what_clusters_say_steers_no_terminal(void **state) {
    static const struct diag_text_style plain = {0};
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *text = NULL, *html = NULL;

    (void)state;
    report_make(&report);
    assert_true(report.causes.count > 0);
    free(report.causes.items[0].message);
    report.causes.items[0].message = xstrdup("node \x1b[2J\xc2\x9b\x7fx");
    text = diag_report_text(&report, &plain);
    html = diag_report_html(&report);
    assert_non_null(strstr(text, "node \\x1b[2J\\xc2\\x9b\\x7fx"));
    assert_non_null(strstr(html, "node ?[2J??x"));
}

static void good_means_all_of_the_nine(void **state) {
    _cleanup_(diag_report_free) struct diag_report report;

    (void)state;
    report_make(&report);
    assert_false(diag_report_is_good(&report));
    judge(&report, "pod-to-external-ip", false, PROBE_OK, 1);
    judge(&report, "pod-to-external-ip", true, PROBE_OK, 1);
    judge(&report, "pod-to-external-dns", false, PROBE_OK, 1);
    assert_true(diag_report_is_good(&report)); /* a skip by design is not a failure */
    diag_cells_find(&report.cells, FLOW_NODE_POD, true, false)->outcome = DIAG_NOT_RUN;
    assert_false(diag_report_is_good(&report));
}

static void replay_judges_the_same(void **state) {
    _cleanup_(diag_report_free) struct diag_report report, again = {0};
    _cleanup_(freep) char *written = NULL, *rewritten = NULL;
    _cleanup_json_ json_t *json = NULL, *second = NULL;
    struct error err = {0};

    (void)state;
    report_make(&report);
    diag_cells_find(&report.cells, FLOW_NODE_POD, false, false)->family = 6;
    json = diag_report_json(&report);
    written = json_write_pretty(json);
    assert_non_null(strstr(written, "\"family\": \"IPv6\""));
    assert_int_equal(diag_report_read(written, strlen(written), NODE_REPORT_KIND, &again, &err), 0);
    assert_int_equal(again.causes.count, 0);
    diag_causes_find(&again);
    second = diag_report_json(&again);
    rewritten = json_write_pretty(second);
    assert_string_equal(rewritten, written);
}

#define NO_REPORT "decode DiagReport: not a winjoin diag report (winjoin diag -o json prints one)"

static void replay_refuses(void **state) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"{", "decode DiagReport: line 1 column 1: string or '}' expected near end of file"},
        {"{}", NO_REPORT},
        {"{\"kind\":\"DiagReport\"}", NO_REPORT},
        {"{\"kind\":\"JoinResult\",\"flows\":[]}", NO_REPORT},
        {"{\"kind\":\"ClusterDiagReport\",\"flows\":[]}",
         "this is the report of a whole cluster, not of one node"},
        {"{\"kind\":\"DiagReport\",\"flows\":[{\"id\":\"x\"}]}",
         "decode DiagReport: unknown flow 'x'"},
        {"{\"kind\":\"DiagReport\",\"flows\":[{\"id\":\"node-to-pod\",\"protocol\":\"SCTP\","
         "\"outcome\":\"pass\"}]}",
         "decode DiagReport: flow 'node-to-pod' has an unknown protocol or outcome"},
        {"{\"kind\":\"DiagReport\",\"flows\":[{\"id\":\"node-to-pod\",\"protocol\":\"TCP\","
         "\"outcome\":\"pass\"},{\"id\":\"node-to-pod\",\"protocol\":\"TCP\",\"outcome\":"
         "\"pass\"}]}",
         "decode DiagReport: duplicate flow 'node-to-pod'"},
        {"{\"kind\":\"DiagReport\",\"flows\":[],\"time\":\"today\"}",
         "decode DiagReport: read time 'today': not an RFC 3339 time"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report report = {0};
        struct error err = {0};

        assert_int_equal(
            diag_report_read(rows[i].text, strlen(rows[i].text), NODE_REPORT_KIND, &report, &err),
            -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        assert_string_equal(err.message, rows[i].message);
    }
}

/* What Windows cannot do is no fault, and said with where it is explained. */
static void limits_are_no_faults(void **state) {
    static const char seen[] =
        "{\"limits\":[{\"name\":\"source-ip\",\"available\":false},{\"name\":\"dsr\","
        "\"available\":true},{\"name\":\"hairpin\",\"available\":false}]}";
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *text = NULL;

    (void)state;
    report_make(&report);
    json_decref(report.evidence);
    report.evidence = json_loads(seen, 0, NULL);
    text = diag_report_text(&report, &(struct diag_text_style){0});
    assert_non_null(
        strstr(text, "\n\nnot faults, but limits of Windows here: source-ip, hairpin (winjoin "
                     "capabilities\n  explains them)\n"));
    assert_null(strstr(text, "left over"));
    json_object_set_new(report.evidence, "kubernetes",
                        json_pack("{s:[{s:s}]}", "namespacesWithoutPod", "id", "a"));
    free(text);
    text = diag_report_text(&report, &(struct diag_text_style){0});
    assert_non_null(strstr(text, ")\n\nleft over on this node: 1 namespace without a pod (winjoin "
                                 "status has the\n  commands)\n"));
}

/* What cannot be is no duration, and none is read as another one. */
static void replay_reads_durations(void **state) {
    static const struct {
        const char *seconds;
        unsigned milliseconds;
    } rows[] = {
        {"0", 0},   {"0.0004", 0}, {"0.0005", 1}, {"1.25", 1250}, {"-1", 0}, {"999999", 999999000},
        {"1e6", 0}, {"1e300", 0},  {"\"1\"", 0},  {"null", 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text = xasprintf(
            "{\"kind\":\"DiagReport\",\"flows\":[],\"durationSeconds\":%s}", rows[i].seconds);
        _cleanup_(diag_report_free) struct diag_report report = {0};
        struct error err = {0};

        assert_int_equal(diag_report_read(text, strlen(text), NODE_REPORT_KIND, &report, &err), 0);
        assert_int_equal(report.milliseconds, rows[i].milliseconds);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_in_ascii),
        cmocka_unit_test(text_of_a_node_on_which_no_pod_can_start),
        cmocka_unit_test(text_of_a_cause_that_leaves_one_cell),
        cmocka_unit_test(two_families),
        cmocka_unit_test(text_in_utf8_and_colour),
        cmocka_unit_test(no_line_is_longer_than_the_terminal),
        cmocka_unit_test(json_is_the_contract),
        cmocka_unit_test(counts_agree_everywhere),
        cmocka_unit_test(a_page_says_why),
        cmocka_unit_test(times_have_two_digits),
        cmocka_unit_test(addresses_that_are_too_long),
        cmocka_unit_test(markup_is_escaped),
        cmocka_unit_test(what_clusters_say_steers_no_terminal),
        cmocka_unit_test(good_means_all_of_the_nine),
        cmocka_unit_test(replay_judges_the_same),
        cmocka_unit_test(replay_refuses),
        cmocka_unit_test(replay_reads_durations),
        cmocka_unit_test(limits_are_no_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
