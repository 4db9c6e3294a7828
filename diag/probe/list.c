/* Writes probes.txt, the list of questions, and parses it strictly. */
#include "diag/probe/probe.h"

#define TITLE "winjoin-probes"

const char *const probe_kind_names[] = {
    [PROBE_TCP] = "tcp",         [PROBE_UDP] = "udp",         [PROBE_UDP_ANY] = "udp-any",
    [PROBE_DNS] = "dns",         [PROBE_DNS_TCP] = "dns-tcp", [PROBE_PAGE] = "http",
    [PROBE_RESOLVE] = "resolve",
};

void probe_list_free(struct probe_list *list) {
    free(list->items);
    *list = (struct probe_list){0};
}

/* Reads the fields of a line one by one, then checks what each kind of probe needs. */
static int line_parse(struct probe_reader *reader, struct probe *ret, struct error *err) {
    size_t kind = 0;
    bool udp, http, resolve, asks;

    if (reader->count != 9)
        return probe_reader_fail(reader, err, "a probe has 9 fields");
    while (kind < ARRAY_SIZE(probe_kind_names) &&
           !text_equal(reader->fields[1], probe_kind_names[kind]))
        kind++;
    if (kind == ARRAY_SIZE(probe_kind_names))
        return probe_reader_fail(reader, err, "unknown kind");
    ret->kind = (enum probe_kind)kind;
    if (probe_reader_text(reader, 0, "id", ret->id, sizeof ret->id, err) < 0 ||
        probe_reader_text(reader, 2, "target", ret->target, sizeof ret->target, err) < 0 ||
        probe_reader_number(reader, 3, "port", 0, 65535, &ret->port, err) < 0 ||
        probe_reader_number(reader, 4, "payload", 0, PROBE_PAYLOAD_MAX, &ret->payload, err) < 0 ||
        probe_reader_text(reader, 5, "question", ret->question, sizeof ret->question, err) < 0 ||
        probe_reader_text(reader, 6, "expect", ret->expect, sizeof ret->expect, err) < 0 ||
        probe_reader_number(reader, 7, "timeout", 1, PROBE_TIMEOUT_MAX_MS, &ret->timeout_ms, err) <
            0 ||
        probe_reader_number(reader, 8, "attempts", 1, PROBE_ATTEMPTS_MAX, &ret->attempts, err) < 0)
        return -1;

    udp = ret->kind == PROBE_UDP || ret->kind == PROBE_UDP_ANY;
    http = ret->kind == PROBE_PAGE;
    resolve = ret->kind == PROBE_RESOLVE;
    asks = ret->kind == PROBE_DNS || ret->kind == PROBE_DNS_TCP || http;
    if (!probe_id_is_valid(ret->id))
        return probe_reader_fail(reader, err,
                                 "the id is not 1..64 characters of a-z, 0-9, '.' and '-'");
    if (!probe_target_is_valid(ret->target))
        return probe_reader_fail(reader, err, "the target is neither an address nor a name");
    if ((ret->port == 0) != resolve)
        return probe_reader_fail(reader, err, "the port does not fit the kind");
    if (asks != (ret->question[0] != '\0') || (asks && !probe_target_is_valid(ret->question)))
        return probe_reader_fail(reader, err, "the question does not fit the kind");
    if (ret->payload && (ret->kind == PROBE_DNS || resolve))
        return probe_reader_fail(reader, err, "the payload does not fit the kind");
    if ((udp || http) && !ret->payload)
        return probe_reader_fail(reader, err, "a udp or http probe needs a payload");
    return 0;
}

int probe_list_parse(const char *text, size_t len, struct probe_list *ret, struct error *err) {
    _cleanup_(probe_list_free) struct probe_list list = {0};
    struct probe_reader reader;
    int more;

    if (probe_reader_open(&reader, text, len, TITLE, err) < 0)
        return -1;
    while ((more = probe_reader_next(&reader, err)) > 0) {
        struct probe probe = {0};

        if (list.count == PROBE_LIST_MAX)
            return probe_reader_fail(&reader, err, "too many probes");
        if (line_parse(&reader, &probe, err) < 0)
            return -1;
        for (size_t i = 0; i < list.count; i++)
            if (text_equal(list.items[i].id, probe.id))
                return probe_reader_fail(&reader, err, "duplicate ID");
        array_add(list.items, list.count, probe);
    }
    if (more < 0)
        return -1;
    *ret = take_struct(list);
    return 0;
}

char *probe_list_write(const struct probe_list *list) {
    struct text t = {0};

    text_add(&t, TITLE " 1\n");
    for (size_t i = 0; i < list->count; i++) {
        const struct probe *p = &list->items[i];

        text_addf(&t, "%s %s %s %u %u %s %s %u %u\n", p->id, probe_kind_names[p->kind], p->target,
                  p->port, p->payload, p->question[0] ? p->question : "-",
                  p->expect[0] ? p->expect : "-", p->timeout_ms, p->attempts);
    }
    return text_take(&t);
}
