/* A report with these cells red and this evidence; for the tests of what is made of it. Includers
 * have included cmocka. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diag/causes/causes.h"

/* 'x' to "x" and bare keys to quoted ones, so that the table can be read. */
static json_t *relaxed_json(const char *text) {
    struct text t = {0};
    struct error err = {0};
    json_t *json = NULL;
    bool quoted = false;

    text_add_char(&t, '{');
    for (const char *at = text; *at; at++) {
        const char *end = at;

        while (!quoted && ((*end >= 'a' && *end <= 'z') || (*end >= 'A' && *end <= 'Z')))
            end++;
        if (*at == '\\' && at[1]) {
            text_add_bytes(&t, at++, 2);
        } else if (*at == '\'') {
            quoted = !quoted;
            text_add_char(&t, '"');
        } else if (*at == ',' && at[1] == '}') {
            continue; /* left by the pieces of the table */
        } else if (end > at && (*end == ':' || *end >= '0')) {
            text_addf(&t, "\"%.*s\"", (int)(end - at), at);
            at = end - 1;
        } else if (end > at) {
            text_add_bytes(&t, at, (size_t)(end - at));
            at = end - 1;
        } else {
            text_add_char(&t, *at);
        }
    }
    text_add_char(&t, '}');
    if (json_read(t.data, t.len, "evidence", &json, &err) < 0)
        fail_msg("%s: %s", err.message, text_str(&t));
    text_free(&t);
    return json;
}

static void redden(struct diag_report *report, const char *red) {
    _cleanup_(text_list_free) struct text_list words = {0};

    text_list_split(&words, red, ' ');
    for (size_t i = 0; i < words.count; i++) {
        char *flow = words.items[i], *protocol = strchr(flow, '/'), *outcome = strchr(flow, '=');
        struct probe_result result = {.attempts = 2};
        struct diag_cell *cell;
        char *address = strchr(outcome, '@');
        bool back;

        *protocol++ = *outcome++ = '\0';
        while (address && *address) { /* the name was resolved, what is there did not answer */
            char *next = address + 1 + strcspn(address + 1, "@");
            char *place = result.addresses[result.address_count++];

            text_format(place, sizeof result.addresses[0], "%.*s", (int)(next - address - 1),
                        address + 1);
            *address = '\0';
            address = next;
        }
        cell = diag_cells_find(&report->cells, diag_flow_find(flow)->id, protocol[0] == 'u',
                               strchr(protocol, '6') != NULL);
        assert_non_null(cell);
        back = outcome[0] == '<'; /* the other direction alone */
        outcome += back;
        if (outcome[0] == '-') {
            cell->outcome = DIAG_NOT_RUN;
            continue;
        }
        if (strchr(outcome, '^')) { /* it works, one attempt a second late */
            *strchr(outcome, '^') = '\0';
            result = (struct probe_result){
                .attempts = 2, .succeeded = 2, .min_us = 400, .max_us = 1000400};
        }
        if (strchr(outcome, '~')) { /* it works, and takes so many milliseconds */
            long long ms = 0;

            assert_int_equal(text_to_number(strchr(outcome, '~') + 1, 1, 10000, &ms), 0);
            *strchr(outcome, '~') = '\0';
            result.succeeded = result.attempts;
            result.min_us = result.median_us = (unsigned)ms * 1000;
        }
        if (strchr(outcome, '*')) { /* some attempts succeeded */
            *strchr(outcome, '*') = '\0';
            result.succeeded = 1;
            result.min_us = cell->result.min_us;
            result.median_us = cell->result.median_us;
        }
        assert_int_equal(probe_outcome_parse(outcome, &result.outcome), 0);
        if (result.succeeded && cell->outcome == DIAG_FAIL)
            continue; /* of two faults at once the other one breaks all of it */
        if (back)
            diag_cell_judge_back(cell, &result, false);
        else
            diag_cell_judge(cell, &result, false);
    }
}

/* The evidence that was read last is read once: thousands of reports begin with the same. */
static void scene_report_make(const char *red, const char *evidence, struct diag_report *report) {
    static char *read;
    static json_t *document;
    const struct diag_flow_input input = {.source_ip = "10.244.3.4",
                                          .target_ip = "10.244.3.5",
                                          .node_ip = "10.0.0.21",
                                          .node_echo = "n",
                                          .node_echo_port = 1,
                                          .dns_domain = "cluster.local",
                                          .kubernetes_ip = "10.96.0.1",
                                          .dns_ip = "10.96.0.10",
                                          .external_ip = "192.0.2.1",
                                          .external_name = "example.com",
                                          .external_dns = "192.0.2.53",
                                          .node_ip6 = strstr(red, "6=") ? "fd00:200::21" : NULL,
                                          .source_ip6 = "fd00:10:244:3::4",
                                          .target_ip6 = "fd00:10:244:3::5",
                                          .dns_ip6 = "fd00:10:96::a"};

    *report = (struct diag_report){.node = xstrdup("win-7k2")};
    diag_cells_make(&input, &report->cells);
    for (size_t i = 0; i < report->cells.count; i++) {
        struct probe_result ok = {.attempts = 3, .succeeded = 3};

        assert_true(report->cells.items[i].asked);
        diag_cell_judge(&report->cells.items[i], &ok, false);
    }
    redden(report, red);
    if (!text_equal(evidence, read)) {
        free(read);
        json_decref(document);
        document = relaxed_json(evidence);
        read = xstrdup(evidence);
    }
    report->evidence = json_deep_copy(document);
}
