/* Writing .zip without compression (PKWARE, APPNOTE.TXT 4.3 and 4.4). libarchive writes other bytes
 * from version to version; a bundle is the same wherever it was made. */
#include "services/bundle_archive.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

enum {
    VERSION = 10,
    MADE_ON_UNIX = 3 << 8,
    UTF8_NAME = 0x0800,
    DATE = 1 << 5 | 1, /* 1980-01-01, the first that there is */
    SLICES = 8,
    FILES_MAX = 0xfffe,
    WHOLE_MAX_MB = 1024
};
static const uint32_t regular_file = (uint32_t)0100644 << 16;

/* ---- CRC-32 (ISO 3309), eight bytes at a time ---- */

struct crc {
    uint32_t table[SLICES][256];
};

static void crc_begin(struct crc *crc) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;

        for (unsigned bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
        crc->table[0][i] = value;
    }
    for (unsigned slice = 1; slice < SLICES; slice++)
        for (unsigned i = 0; i < 256; i++) {
            uint32_t before = crc->table[slice - 1][i];

            crc->table[slice][i] = before >> 8 ^ crc->table[0][before & 255];
        }
}

static uint32_t crc_of(const struct crc *crc, const char *data, size_t len) {
    const unsigned char *p = (const unsigned char *)data;
    uint32_t value = ~0u;

    for (; len >= SLICES; len -= SLICES, p += SLICES) {
        uint32_t next = 0;

        for (unsigned i = 0; i < SLICES; i++)
            next ^=
                crc->table[SLICES - 1 - i][i < 4 ? (p[i] ^ value >> 8 * i) & 255 : (uint32_t)p[i]];
        value = next;
    }
    for (; len; len--, p++)
        value = value >> 8 ^ crc->table[0][(value ^ *p) & 255];
    return ~value;
}

/* ---- records ---- */

static void add(struct text *out, uint32_t value, unsigned bytes) {
    for (; bytes; bytes--, value >>= 8)
        text_add_char(out, (char)(value & 255));
}

/* What the header before a file and its row in the directory have in common. */
static void add_fields(struct text *out, const struct bundle_archive_file *file, uint32_t crc) {
    const char *p = file->path;

    while (*p && !((unsigned char)*p & 0x80))
        p++;
    add(out, VERSION, 2);
    add(out, *p ? UTF8_NAME : 0, 2);
    add(out, 0, 4); /* stored; midnight */
    add(out, DATE, 2);
    add(out, crc, 4);
    add(out, (uint32_t)file->len, 4);
    add(out, (uint32_t)file->len, 4);
    add(out, (uint32_t)strlen(file->path), 4); /* and no extra field */
}

static void add_row(struct text *out, const struct bundle_archive_file *file, uint32_t crc,
                    size_t offset) {
    text_add_bytes(out, "PK\1\2", 4);
    add(out, MADE_ON_UNIX | VERSION, 2);
    add_fields(out, file, crc);
    add(out, 0, 4); /* no comment; the first disk */
    add(out, 0, 2);
    add(out, regular_file, 4);
    add(out, (uint32_t)offset, 4);
    text_add(out, file->path);
}

static void add_end(struct text *out, size_t count, size_t directory, size_t offset) {
    text_add_bytes(out, "PK\5\6", 4);
    add(out, 0, 4);
    add(out, (uint32_t)count, 2);
    add(out, (uint32_t)count, 2);
    add(out, (uint32_t)directory, 4);
    add(out, (uint32_t)offset, 4);
    add(out, 0, 2);
}

int bundle_archive_make(const struct bundle_archive_file *files, size_t count, char **ret,
                        size_t *ret_len, struct error *err) {
    _cleanup_(text_free) struct text out = {.cap = (size_t)WHOLE_MAX_MB * 1024 * 1024};
    _cleanup_(text_free) struct text directory = {.cap = out.cap};
    struct crc crc;
    size_t offset;

    if (count > FILES_MAX)
        return error_set(err, ERROR_HOST, "pack archive: more than %d files", FILES_MAX);
    crc_begin(&crc);
    for (size_t i = 0; i < count; i++) {
        uint32_t sum = crc_of(&crc, files[i].data, files[i].len);

        add_row(&directory, &files[i], sum, out.len);
        text_add_bytes(&out, "PK\3\4", 4);
        add_fields(&out, &files[i], sum);
        text_add(&out, files[i].path);
        text_add_bytes(&out, files[i].data, files[i].len);
    }
    offset = out.len;
    text_add_bytes(&out, text_str(&directory), directory.len);
    add_end(&out, count, directory.len, offset);
    if (out.overflow)
        return error_set(err, ERROR_HOST, "pack archive: the files have more than %d MB",
                         WHOLE_MAX_MB);
    *ret_len = out.len;
    *ret = text_take(&out);
    return 0;
}
