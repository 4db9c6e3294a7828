/* Writing .zip without compression (PKWARE, APPNOTE.TXT 4.3 and 4.4). libarchive writes other bytes
 * from version to version; a bundle is the same wherever it was made. */
#include "services/artifacts/bundle_archive.h"

#include <stdint.h>
#include <zlib.h>

enum {
    VERSION = 10,
    MADE_ON_UNIX = 3 << 8,
    UTF8_NAME = 0x0800,
    DATE = 1 << 5 | 1, /* 1980-01-01, the first that there is */
    FILES_MAX = 0xfffe,
    WHOLE_MAX_MB = 1024
};
static const uint32_t regular_file = (uint32_t)0100644 << 16;

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
    size_t offset;

    if (count > FILES_MAX)
        return error_set(err, ERROR_HOST, "pack archive: more than %d files", FILES_MAX);
    for (size_t i = 0; i < count; i++) {
        uint32_t sum = (uint32_t)crc32_z(0, (const Bytef *)files[i].data, files[i].len);

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
