/* Captures packets of one flow with Packet Monitor. A capture that was started is stopped, whatever
 * happened in between. */
#include "diag/capture.h"

#include <ctype.h>

#define PKTMON "C:\\Windows\\System32\\PktMon.exe"
static const char etl_file[] = HOST_OWN_FOLDER "\\capture.etl";
static const char text_file[] = HOST_OWN_FOLDER "\\capture.txt";

enum {
    START_MS = 20000, /* The start of a capture loads a driver, which takes time. */
    CONVERT_MS = 30000,
    TEXT_MAX = 64 * 1024 * 1024,
    SAID_MAX = 300,
    REASONS_MAX = 32,
    REASON_MAX = 120,
};

/* Copies at most `max` bytes of the text, without blanks at both ends, escaped so that a terminal
 * and JSON can show it. The caller frees it. */
static char *trimmed(const char *text, size_t len, size_t max) {
    struct text shown = {0};

    while (len && (unsigned char)*text <= ' ')
        text++, len--;
    while (len && (unsigned char)text[len - 1] <= ' ')
        len--;
    text_add_escaped(&shown, text, len < max ? len : max);
    return text_take(&shown);
}

static int pktmon(struct host *host, const char *const *argv, unsigned timeout_ms, bool undoes,
                  struct error *err) {
    const struct host_process process = {
        .argv = argv, .timeout_ms = timeout_ms, .with_errors = true, .undoes = undoes};
    _cleanup_(freep) char *said = NULL, *shown = NULL;
    int code = 0;

    if (host_run(host, &process, &code, &said, err) < 0)
        return error_prefix(err, "pktmon %s", argv[1]);
    if (!code)
        return 0;
    shown = trimmed(said, strlen(said), SAID_MAX);
    return error_set(err, ERROR_HOST, "pktmon %s: exit code %d%s%s", argv[1], code,
                     *shown ? ": " : "", shown);
}

static int stop(struct host *host, struct error *err) {
    static const char *const argv[] = {PKTMON, "stop", NULL};

    if (pktmon(host, argv, START_MS, true, err) == 0)
        return 0;
    return error_hint(err, "the capture may still run; end it: pktmon stop");
}

/* Makes sure that no capture of an earlier run is left. Windows keeps the file of a running capture
 * open, so a file that can be removed belongs to no running capture. A capture of another program
 * has no file at this place, and is not stopped. */
static int end_ours(struct host *host, struct error *err) {
    if (host_remove(host, etl_file, ERROR_IGNORED) == 0)
        return 0;
    return stop(host, err) < 0 || host_remove(host, etl_file, err) < 0 ? -1 : 0;
}

int diag_capture_begin(struct host *host, struct error *err) {
    static const char *const argv[] = {PKTMON,        "start",  "--capture",   "--pkt-size", "128",
                                       "--file-name", etl_file, "--file-size", "16",         NULL};

    if (host_file_type(host, PKTMON) != HOST_FILE)
        return error_set(err, ERROR_UNSUPPORTED,
                         "capture packets: this Windows has no Packet Monitor ('%s' is missing)",
                         PKTMON);
    /* A killed run may have left this file. */
    (void)host_remove(host, DIAG_CAPTURE_FILE, ERROR_IGNORED);
    if (host_make_folder(host, HOST_OWN_FOLDER, HOST_SECRET, err) < 0 || end_ours(host, err) < 0)
        return error_prefix(err, "capture packets");
    if (pktmon(host, argv, START_MS, false, err) == 0) {
        if (host_file_type(host, etl_file) == HOST_FILE)
            return 0;
        (void)error_set(err, ERROR_HOST, "pktmon start: no file was created");
    }
    (void)end_ours(host, ERROR_IGNORED);
    (void)error_hint(err, "pktmon status shows whether another program captures packets");
    return error_prefix(err, "capture packets");
}

/* ---- dropped packets in the text of a capture ---- */

/* Says whether the address `target` is in the text, and not only as a part of a longer address. In
 * "10.0.0.1.443" the last number is a port. */
static bool names(const char *text, size_t len, const char *target) {
    _cleanup_(freep) char *copy = xstrndup(text, len);
    size_t target_len = strlen(target);

    for (const char *at = copy; target_len && (at = strstr(at, target)) != NULL; at++)
        if ((at == copy || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[target_len]))
            return true;
    return false;
}

json_t *diag_capture_drops(const char *text, const char *target) {
    static const char word[] = "DropReason ";
    json_t *drops = json_array();
    size_t len, more;

    for (; *text; text += len + (text[len] != '\0')) {
        _cleanup_(freep) char *line = NULL, *reason = NULL;
        json_t *row = NULL;
        const char *at;
        bool of_flow;

        len = strcspn(text, "\n");
        line = xstrndup(text, len);
        /* The line looks like "..., DropReason INET: no route , DropLocation ...". */
        at = strstr(line, word);
        if (!at)
            continue;
        at += sizeof word - 1;
        reason = trimmed(at, strcspn(at, ","), REASON_MAX);
        json_each(drops, i, one)
            if (text_equal(json_text_at(one, "reason"), reason))
                row = one;
        if (!*reason || (!row && json_array_size(drops) == REASONS_MAX))
            continue;
        if (!row) {
            row = json_pack("{s:o, s:i, s:i}", "reason", json_string(reason), "packets", 0,
                            "ofThisFlow", 0);
            json_array_append_new(drops, row);
        }
        /* The packet's addresses are on the same line as the reason, or on the next one. */
        more = text[len] ? len + 1 + strcspn(text + len + 1, "\n") : len;
        of_flow = names(text, more, target);
        json_object_set_new(row, "packets", json_integer(json_number_at(row, "packets", 0) + 1));
        json_object_set_new(row, "ofThisFlow",
                            json_integer(json_number_at(row, "ofThisFlow", 0) + of_flow));
    }
    return drops;
}

/* ---- the end of a capture ---- */

int diag_capture_end(struct host *host, const char *target, json_t **ret, struct error *err) {
    static const char to[] = DIAG_CAPTURE_FILE;
    static const char *const pcap[] = {PKTMON, "etl2pcap", etl_file, "--out", to, NULL};
    static const char *const words[] = {PKTMON, "etl2txt", etl_file, "--out", text_file, NULL};
    _cleanup_(freep) char *text = NULL;
    size_t len;
    int result = stop(host, err);

    if (result == 0 && host_interrupted(host))
        result = error_set(err, ERROR_INTERRUPTED, "interrupted");
    if (result == 0 && (pktmon(host, pcap, CONVERT_MS, false, err) < 0 ||
                        pktmon(host, words, CONVERT_MS, false, err) < 0 ||
                        host_read_text(host, text_file, TEXT_MAX, &text, &len, err) < 0))
        result = -1;
    (void)host_remove(host, etl_file, ERROR_IGNORED);
    (void)host_remove(host, text_file, ERROR_IGNORED);
    if (result == 0) {
        *ret = json_pack("{s:o}", "drops", diag_capture_drops(text, target));
        return 0;
    }
    (void)host_remove(host, DIAG_CAPTURE_FILE, ERROR_IGNORED);
    return error_prefix(err, "capture packets");
}
