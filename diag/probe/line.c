/* Reads the files of a mailbox line by line. No content can do harm, whoever wrote it. */
#include "diag/probe/probe.h"

int probe_reader_fail(const struct probe_reader *reader, struct error *err, const char *why) {
    return error_set(err, ERROR_MALFORMED, "decode %s: line %zu: %s", reader->what, reader->line,
                     why);
}

int probe_reader_open(struct probe_reader *reader, const char *text, size_t len, const char *title,
                      struct error *err) {
    int more;

    reader->at = text;
    reader->end = text + len;
    reader->what = title;
    reader->line = 0;
    if (len > PROBE_FILE_MAX)
        return error_set(err, ERROR_MALFORMED, "decode %s: more than %d bytes", title,
                         PROBE_FILE_MAX);
    more = probe_reader_next(reader, err);
    if (more < 0)
        return -1;
    if (!more || reader->count != 2 || !text_equal(reader->fields[0], title) ||
        !text_equal(reader->fields[1], "1"))
        return error_set(err, ERROR_MALFORMED, "decode %s: the first line is not '%s 1'", title,
                         title);
    return 0;
}

int probe_reader_next(struct probe_reader *reader, struct error *err) {
    reader->count = 0;
    while (reader->at < reader->end && !reader->count) {
        const char *at = reader->at;
        const char *end = memchr(at, '\n', (size_t)(reader->end - at));

        if (!end)
            end = reader->end;
        reader->at = end < reader->end ? end + 1 : end;
        reader->line++;
        if (end > at && end[-1] == '\r')
            end--;
        while (at < end) {
            const char *start = at;
            size_t len;

            for (; at < end && *at != ' '; at++)
                if (*at <= 0x20 || *at >= 0x7f)
                    return probe_reader_fail(reader, err, "a character is not printable ASCII");
            len = (size_t)(at - start);
            if (at < end)
                at++;
            if (!len)
                continue;
            if (reader->count == PROBE_FIELDS_MAX || len >= PROBE_FIELD_MAX)
                return probe_reader_fail(reader, err, "too many or too long fields");
            memcpy(reader->fields[reader->count], start, len);
            reader->fields[reader->count++][len] = '\0';
        }
    }
    return reader->count > 0;
}

int probe_reader_number(struct probe_reader *reader, size_t i, const char *name, long long min,
                        long long max, unsigned *ret, struct error *err) {
    long long value;

    if (i >= reader->count || text_to_number(reader->fields[i], min, max, &value) < 0)
        return error_set(err, ERROR_MALFORMED, "decode %s: line %zu: %s is not a number %lld..%lld",
                         reader->what, reader->line, name, min, max);
    *ret = (unsigned)value;
    return 0;
}

int probe_reader_text(struct probe_reader *reader, size_t i, const char *name, char *ret,
                      size_t size, struct error *err) {
    const char *field = i < reader->count ? reader->fields[i] : NULL;
    size_t len = field ? strlen(field) : size;

    if (len >= size)
        return error_set(err, ERROR_MALFORMED, "decode %s: line %zu: %s is missing or too long",
                         reader->what, reader->line, name);
    if (text_equal(field, "-"))
        len = 0;
    memcpy(ret, field, len);
    ret[len] = '\0';
    return 0;
}

int probe_addresses_split(const char *text, char (*ret)[46], size_t max, size_t *ret_count) {
    size_t count = 0;

    while (*text) {
        size_t len = strcspn(text, ",");

        if (len == 0 || len > 45 || count == max || strspn(text, "0123456789abcdefABCDEF.:") < len)
            return -1;
        memcpy(ret[count], text, len);
        ret[count++][len] = '\0';
        text += len;
        if (*text == ',' && *++text == '\0')
            return -1;
    }
    *ret_count = count;
    return 0;
}

bool probe_id_is_valid(const char *id) {
    size_t len = strlen(id);

    return len >= 1 && len <= PROBE_NAME_MAX &&
           strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789.-") == len;
}

bool probe_target_is_valid(const char *target) {
    size_t len = strlen(target);

    return len >= 1 && len < PROBE_TARGET_MAX && target[0] != '-' &&
           strspn(target, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-") ==
               len;
}
