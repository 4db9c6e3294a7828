/* Writes and reads heartbeat.txt, in which the pod reports its addresses without the API. */
#include "diag/probe/probe.h"

#define TITLE "winjoin-heartbeat"

static int line_parse(struct probe_reader *reader, struct probe_heartbeat *beat,
                      struct error *err) {
    const char *key = reader->fields[0];
    char addresses[PROBE_FIELD_MAX];
    unsigned number;

    if (reader->count != 2)
        return probe_reader_fail(reader, err, "a heartbeat's line has 2 fields");
    if (text_equal(key, "name"))
        return probe_reader_text(reader, 1, "name", beat->name, sizeof beat->name, err);
    if (text_equal(key, "run"))
        return probe_reader_text(reader, 1, "run", beat->run, sizeof beat->run, err);
    if (text_equal(key, "host"))
        return probe_reader_text(reader, 1, "host", beat->host_name, sizeof beat->host_name, err);
    if (text_equal(key, "beat") || text_equal(key, "tcp") || text_equal(key, "udp")) {
        if (probe_reader_number(reader, 1, key, 0, 2000000000, &number, err) < 0)
            return -1;
        if (key[0] == 'b')
            beat->beat = number;
        else
            *(key[0] == 't' ? &beat->tcp_echo : &beat->udp_echo) = number != 0;
        return 0;
    }
    if (!text_equal(key, "addresses"))
        return probe_reader_fail(reader, err, "unknown key");
    if (probe_reader_text(reader, 1, "addresses", addresses, sizeof addresses, err) < 0)
        return -1;
    if (probe_addresses_split(addresses, beat->addresses, PROBE_ADDRESSES_MAX,
                              &beat->address_count) < 0)
        return probe_reader_fail(reader, err, "the addresses are not valid");
    return 0;
}

int probe_heartbeat_parse(const char *text, size_t len, struct probe_heartbeat *ret,
                          struct error *err) {
    struct probe_heartbeat beat = {0};
    struct probe_reader reader;
    int more;

    if (probe_reader_open(&reader, text, len, TITLE, err) < 0)
        return -1;
    while ((more = probe_reader_next(&reader, err)) > 0) {
        if (text_equal(reader.fields[0], "end")) {
            *ret = beat;
            return 0;
        }
        if (line_parse(&reader, &beat, err) < 0)
            return -1;
    }
    return more < 0 ? -1 : probe_reader_fail(&reader, err, "the text ends before its last line");
}

char *probe_heartbeat_write(const struct probe_heartbeat *heartbeat) {
    struct text t = {0};

    text_addf(&t, TITLE " 1\nname %s\nrun %s\nhost %s\naddresses ", heartbeat->name,
              heartbeat->run[0] ? heartbeat->run : "-",
              heartbeat->host_name[0] ? heartbeat->host_name : "-");
    for (size_t i = 0; i < heartbeat->address_count; i++)
        text_addf(&t, "%s%s", i ? "," : "", heartbeat->addresses[i]);
    text_addf(&t, "%s\nbeat %lu\ntcp %d\nudp %d\nend\n", heartbeat->address_count ? "" : "-",
              heartbeat->beat, heartbeat->tcp_echo, heartbeat->udp_echo);
    return text_take(&t);
}

const char *probe_heartbeat_address(const struct probe_heartbeat *heartbeat, bool ipv6) {
    static const char *const inside[] = {"127.", "169.254.", "fe80:"};

    for (size_t i = 0; i < heartbeat->address_count; i++) {
        const char *address = heartbeat->addresses[i];
        bool is_reached = !text_equal(address, "::1");

        for (size_t k = 0; k < ARRAY_SIZE(inside); k++)
            is_reached = is_reached && !text_starts_with(address, inside[k]);
        if (is_reached && (strchr(address, ':') != NULL) == ipv6)
            return address;
    }
    return ipv6 ? NULL : probe_heartbeat_address(heartbeat, true);
}
