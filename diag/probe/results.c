/* Writes and reads results-N.txt, the results of the probes. The last line shows that it is
 * complete. */
#include "diag/probe/probe.h"

#define TITLE "winjoin-results"

const char *const probe_outcome_names[] = {
    [PROBE_OK] = "ok",
    [PROBE_REFUSED] = "refused",
    [PROBE_TIMEOUT] = "timeout",
    [PROBE_UNREACHABLE] = "unreachable",
    [PROBE_RESET] = "reset",
    [PROBE_NO_REPLY] = "no-reply",
    [PROBE_DNS_NXDOMAIN] = "dns-nxdomain",
    [PROBE_DNS_TIMEOUT] = "dns-timeout",
    [PROBE_DNS_SERVFAIL] = "dns-servfail",
    [PROBE_WRONG_RESPONDER] = "wrong-responder",
    [PROBE_FAILED] = "failed",
};

int probe_outcome_parse(const char *name, enum probe_outcome *ret) {
    for (size_t i = 0; i < ARRAY_SIZE(probe_outcome_names); i++)
        if (text_equal(name, probe_outcome_names[i])) {
            *ret = (enum probe_outcome)i;
            return 0;
        }
    return -1;
}

void probe_results_free(struct probe_results *results) {
    free(results->items);
    *results = (struct probe_results){0};
}

const struct probe_result *probe_results_find(const struct probe_results *results, const char *id) {
    for (size_t i = 0; i < results->count; i++)
        if (text_equal(results->items[i].id, id))
            return &results->items[i];
    return NULL;
}

enum { MICROSECONDS_MAX = PROBE_TIMEOUT_MAX_MS * 10 * 1000 };

static int line_parse(struct probe_reader *reader, struct probe_result *ret, struct error *err) {
    char addresses[PROBE_FIELD_MAX];

    if (reader->count != 10)
        return probe_reader_fail(reader, err, "a result has 10 fields");
    if (probe_outcome_parse(reader->fields[1], &ret->outcome) < 0)
        return probe_reader_fail(reader, err, "unknown outcome");
    if (probe_reader_text(reader, 0, "id", ret->id, sizeof ret->id, err) < 0 ||
        probe_reader_number(reader, 2, "attempts", 0, PROBE_ATTEMPTS_MAX, &ret->attempts, err) <
            0 ||
        probe_reader_number(reader, 3, "succeeded", 0, ret->attempts, &ret->succeeded, err) < 0 ||
        probe_reader_number(reader, 4, "min", 0, MICROSECONDS_MAX, &ret->min_us, err) < 0 ||
        probe_reader_number(reader, 5, "median", 0, MICROSECONDS_MAX, &ret->median_us, err) < 0 ||
        probe_reader_number(reader, 6, "p95", 0, MICROSECONDS_MAX, &ret->p95_us, err) < 0 ||
        probe_reader_number(reader, 7, "max", 0, MICROSECONDS_MAX, &ret->max_us, err) < 0 ||
        probe_reader_text(reader, 8, "responder", ret->responder, sizeof ret->responder, err) < 0 ||
        probe_reader_text(reader, 9, "addresses", addresses, sizeof addresses, err) < 0)
        return -1;
    if (!probe_id_is_valid(ret->id))
        return probe_reader_fail(reader, err, "the id is not valid");
    if (probe_addresses_split(addresses, ret->addresses, PROBE_ADDRESSES_MAX, &ret->address_count) <
        0)
        return probe_reader_fail(reader, err, "the addresses are not valid");
    return 0;
}

int probe_results_parse(const char *text, size_t len, struct probe_results *ret,
                        struct error *err) {
    _cleanup_(probe_results_free) struct probe_results results = {0};
    struct probe_reader reader;
    unsigned count;
    int more;

    if (probe_reader_open(&reader, text, len, TITLE, err) < 0)
        return -1;
    while ((more = probe_reader_next(&reader, err)) > 0) {
        struct probe_result result = {0};

        if (text_equal(reader.fields[0], "end") && reader.count == 2) {
            if (probe_reader_number(&reader, 1, "count", 0, PROBE_LIST_MAX, &count, err) < 0)
                return -1;
            if (count != results.count)
                return probe_reader_fail(&reader, err, "the count does not match the results");
            *ret = take_struct(results);
            return 0;
        }
        if (results.count == PROBE_LIST_MAX)
            return probe_reader_fail(&reader, err, "too many results");
        if (line_parse(&reader, &result, err) < 0)
            return -1;
        array_add(results.items, results.count, result);
    }
    if (more < 0)
        return -1;
    return probe_reader_fail(&reader, err, "the text ends before its last line");
}

char *probe_results_write(const struct probe_results *results) {
    struct text t = {0};

    text_add(&t, TITLE " 1\n");
    for (size_t i = 0; i < results->count; i++) {
        const struct probe_result *r = &results->items[i];

        text_addf(&t, "%s %s %u %u %u %u %u %u %s ", r->id, probe_outcome_names[r->outcome],
                  r->attempts, r->succeeded, r->min_us, r->median_us, r->p95_us, r->max_us,
                  r->responder[0] ? r->responder : "-");
        for (size_t a = 0; a < r->address_count; a++)
            text_addf(&t, "%s%s", a ? "," : "", r->addresses[a]);
        text_add(&t, r->address_count ? "\n" : "-\n");
    }
    text_addf(&t, "end %zu\n", results->count);
    return text_take(&t);
}
