/* Reads .zip, .tar.gz and .tar.zst with libarchive; writes .zip without it. */
#include "services/artifacts/bundle_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <ctype.h>
#include <stdint.h>
#include <zlib.h>

#include "base/text.h"

enum { ENTRIES_MAX = 1024, BLOCK = 64 * 1024 };
static const uint64_t UNPACKED_MAX = 2ull * 1024 * 1024 * 1024;

static void archive_read_freep(struct archive **archive) {
    if (*archive)
        /* Closing an archive that was only read cannot lose data. */
        (void)archive_read_free(*archive);
}

static int set_archive_error(struct archive *archive, enum error_kind kind, struct error *err) {
    const char *why = archive_error_string(archive);
    if (!why)
        why = "no archive";
    /* Some texts of libarchive end with a line break. */
    return error_set(err, kind, "read archive: %.*s", (int)strcspn(why, "\n"), why);
}

static int open_archive(const char *data, size_t len, struct archive **ret, struct error *err) {
    _cleanup_(archive_read_freep) struct archive *archive = archive_read_new();
    if (!archive || archive_read_support_format_zip_seekable(archive) != ARCHIVE_OK ||
        archive_read_support_format_tar(archive) != ARCHIVE_OK ||
        archive_read_support_filter_gzip(archive) != ARCHIVE_OK ||
        archive_read_support_filter_zstd(archive) != ARCHIVE_OK ||
        archive_read_open_memory(archive, data, len) != ARCHIVE_OK)
        return set_archive_error(archive, ERROR_MALFORMED, err);
    *ret = take_ptr(archive);
    return 0;
}

/* Gets the next entry and its name; *ret is NULL at the end. */
static int next_entry(struct archive *archive, struct archive_entry **ret_entry, const char **ret,
                      struct error *err) {
    int result = archive_read_next_header(archive, ret_entry);
    *ret = NULL;
    if (result == ARCHIVE_EOF)
        return 0;
    if (result != ARCHIVE_OK)
        return set_archive_error(archive, ERROR_MALFORMED, err);
    *ret = archive_entry_pathname(*ret_entry);
    if (!*ret)
        return error_set(err, ERROR_UNTRUSTED, "read archive: an entry has an unreadable name");
    /* In tar "./bin/x" means "bin/x", and "./" is "". */
    while (text_starts_with(*ret, "./"))
        *ret += 2;
    *ret += text_equal(*ret, ".");
    return 0;
}

/* Checks an entry. `sum` adds unpacked sizes, so that no small archive takes hours to unpack. */
static int check_entry(struct archive_entry *entry, const char *name, const struct text_list *seen,
                       uint64_t *sum, struct error *err) {
    bool folder = archive_entry_filetype(entry) == AE_IFDIR;
    size_t len = strlen(name);
    _cleanup_(freep) char *plain =
        xstrndup(name, folder && len && name[len - 1] == '/' ? len - 1 : len);
    const char *fault = bundle_path_fault(plain);
    /* The size is 0 for a .zip that has it after the data. */
    la_int64_t size = archive_entry_size(entry);

    if (fault)
        return error_set(err, ERROR_UNTRUSTED, "read archive: entry '%s' %s", name, fault);
    if (archive_entry_hardlink(entry) || archive_entry_symlink(entry) ||
        (!folder && archive_entry_filetype(entry) != AE_IFREG))
        return error_set(err, ERROR_UNTRUSTED, "read archive: entry '%s' is not a file", name);
    if (archive_entry_is_encrypted(entry))
        return error_set(err, ERROR_MALFORMED, "read archive: entry '%s' is encrypted", name);
    for (size_t i = 0; i < seen->count; i++)
        if (text_equal_nocase(seen->items[i], name)) /* Windows ignores case in file names. */
            return error_set(err, ERROR_UNTRUSTED, "read archive: duplicate entry '%s'", name);
    if (size < 0 || (uint64_t)size > UNPACKED_MAX - *sum)
        return error_set(err, ERROR_UNTRUSTED,
                         "read archive: with entry '%s' it is longer than 2 GiB unpacked", name);
    *sum += (uint64_t)size;
    return 0;
}

/* Reads the content of an entry. The size in its header is not trusted. */
static int read_content(struct archive *archive, const char *name, size_t max, char **ret,
                        size_t *ret_len, struct error *err) {
    _cleanup_(text_free) struct text content = {.cap = max + 2};
    _cleanup_(freep) char *block = xmalloc(BLOCK);
    for (;;) {
        la_ssize_t got = archive_read_data(archive, block, BLOCK);
        if (got == 0)
            break;
        if (got < 0) /* The data most often has a wrong checksum. */
            return set_archive_error(archive, ERROR_UNTRUSTED, err);
        if ((size_t)got > max - content.len)
            return error_set(err, ERROR_UNTRUSTED, "read archive: '%s' is longer than %zu bytes",
                             name, max);
        text_add_bytes(&content, block, (size_t)got);
    }
    *ret_len = content.len;
    *ret = text_take(&content);
    return 0;
}

int bundle_archive_read_all(const char *data, size_t len, struct bundle_archive_member *wanted,
                            size_t count, struct error *err) {
    _cleanup_(archive_read_freep) struct archive *archive = NULL;
    _cleanup_(text_list_free) struct text_list seen = {0};
    uint64_t sum = 0;
    struct archive_entry *entry = NULL;
    const char *name = NULL;

    if (open_archive(data, len, &archive, err) < 0)
        return -1;
    for (;;) {
        size_t at = 0;

        if (next_entry(archive, &entry, &name, err) < 0)
            return -1;
        if (!name)
            break;
        if (seen.count == ENTRIES_MAX)
            return error_set(err, ERROR_UNTRUSTED, "read archive: more than %d entries",
                             ENTRIES_MAX);
        if (!*name)
            continue;
        if (check_entry(entry, name, &seen, &sum, err) < 0)
            return -1;
        while (at < count && !text_equal(wanted[at].path, name))
            at++;
        if (at < count &&
            read_content(archive, name, wanted[at].max, &wanted[at].data, &wanted[at].len, err) < 0)
            return -1;
        text_list_add(&seen, name);
    }
    for (size_t i = 0; i < count; i++)
        if (!wanted[i].data)
            return error_set(err, ERROR_ABSENT, "read archive: it has no '%s'", wanted[i].path);
    return 0;
}

int bundle_archive_read(const char *data, size_t len, const char *path, size_t max, char **ret,
                        size_t *ret_len, struct error *err) {
    _cleanup_(archive_read_freep) struct archive *archive = NULL;
    struct archive_entry *entry = NULL;
    const char *name = NULL;
    if (open_archive(data, len, &archive, err) < 0)
        return -1;
    while (next_entry(archive, &entry, &name, err) == 0) {
        if (!name)
            return error_set(err, ERROR_ABSENT, "read archive: it has no '%s'", path);
        if (text_equal(name, path))
            return read_content(archive, name, max, ret, ret_len, err);
    }
    return -1;
}

int bundle_archive_files(const char *data, size_t len, struct text_list *ret, struct error *err) {
    _cleanup_(archive_read_freep) struct archive *archive = NULL;
    struct archive_entry *entry = NULL;
    const char *name = NULL;
    if (open_archive(data, len, &archive, err) < 0)
        return -1;
    while (next_entry(archive, &entry, &name, err) == 0) {
        if (!name)
            return 0;
        if (archive_entry_filetype(entry) != AE_IFDIR)
            text_list_add(ret, name);
    }
    return -1;
}

/* ---- writing a .zip ---- */

/* Writes .zip files without compression (PKWARE, APPNOTE.TXT 4.3 and 4.4). libarchive's output
 * differs between its versions, but the same bundle must have the same bytes everywhere. */

enum {
    VERSION = 10,
    MADE_ON_UNIX = 3 << 8,
    UTF8_NAME = 0x0800,
    DATE = 1 << 5 | 1, /* 1980-01-01, the earliest date of the format. */
    FILES_MAX = 0xfffe,
    WHOLE_MAX_MB = 1024
};
static const uint32_t regular_file = (uint32_t)0100644 << 16;

static void add(struct text *out, uint32_t value, unsigned bytes) {
    for (; bytes; bytes--, value >>= 8)
        text_add_char(out, (char)(value & 255));
}

/* Adds the fields that a file's local header and its directory entry have in common. */
static void add_fields(struct text *out, const struct bundle_archive_file *file, uint32_t crc) {
    const char *p = file->path;

    while (*p && !((unsigned char)*p & 0x80))
        p++;
    add(out, VERSION, 2);
    add(out, *p ? UTF8_NAME : 0, 2);
    add(out, 0, 4); /* Method "stored", and midnight as time. */
    add(out, DATE, 2);
    add(out, crc, 4);
    add(out, (uint32_t)file->len, 4);
    add(out, (uint32_t)file->len, 4);
    add(out, (uint32_t)strlen(file->path), 4); /* Length of the name, and 0 for the extra field. */
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

        text_add_bytes(&directory, "PK\1\2", 4);
        add(&directory, MADE_ON_UNIX | VERSION, 2);
        add_fields(&directory, &files[i], sum);
        add(&directory, 0, 4); /* No comment, and the first disk. */
        add(&directory, 0, 2);
        add(&directory, regular_file, 4);
        add(&directory, (uint32_t)out.len, 4);
        text_add(&directory, files[i].path);

        text_add_bytes(&out, "PK\3\4", 4);
        add_fields(&out, &files[i], sum);
        text_add(&out, files[i].path);
        text_add_bytes(&out, files[i].data, files[i].len);
    }
    offset = out.len;
    text_add_bytes(&out, text_str(&directory), directory.len);
    text_add_bytes(&out, "PK\5\6", 4);
    add(&out, 0, 4);
    add(&out, (uint32_t)count, 2);
    add(&out, (uint32_t)count, 2);
    add(&out, (uint32_t)directory.len, 4);
    add(&out, (uint32_t)offset, 4);
    add(&out, 0, 2);
    if (out.overflow)
        return error_set(err, ERROR_HOST, "pack archive: the files have more than %d MB",
                         WHOLE_MAX_MB);
    *ret_len = out.len;
    *ret = text_take(&out);
    return 0;
}

/* ---- checking paths from a bundle, which are not trusted ---- */

enum { PATH_LONGEST = 240 };

/* Is the name, up to a dot, that of a Windows device (Microsoft: Naming Files)? */
static bool is_device(const char *name, size_t len) {
    static const char *const devices[] = {"CON",  "PRN",  "AUX",    "NUL",
                                          "COM#", "LPT#", "CONIN$", "CONOUT$"};
    char stem[8] = "";
    size_t end = 0;

    while (end < len && name[end] != '.')
        end++;
    while (end && name[end - 1] == ' ')
        end--;
    if (end >= sizeof stem)
        return false;
    memcpy(stem, name, end);
    if (end == 4 && isdigit((unsigned char)stem[3]))
        stem[3] = '#';
    for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
        if (text_equal_nocase(stem, devices[i]))
            return true;
    return false;
}

#define LEADS_OUT "leads out of the archive"

/* Says what is wrong with a path; NULL when each part is a plain file name on Windows. */
static const char *parts_fault(const char *path, char separator) {
    for (const char *part = path, *end;; part = end + 1) {
        size_t len;

        end = strchr(part, separator);
        len = end ? (size_t)(end - part) : strlen(part);
        if (!len || (len == 1 && *part == '.') || (len == 2 && memcmp(part, "..", 2) == 0) ||
            (part == path && len > 1 && isalpha((unsigned char)*part) && part[1] == ':'))
            return LEADS_OUT;
        for (size_t i = 0; i < len; i++) {
            if (part[i] == '\\')
                return LEADS_OUT;
            if (part[i] == ':')
                return "names a stream within a file";
            if ((unsigned char)part[i] < 0x20 || strchr("/*?\"<>|\x7f", part[i]))
                return "has a character that Windows' file names cannot have";
        }
        if (part[len - 1] == '.' || part[len - 1] == ' ')
            return "has a name that ends in a dot or blank, which Windows leaves out";
        if (is_device(part, len))
            return "has a name that Windows gives to a device";
        if (!end)
            return NULL;
    }
}

const char *bundle_path_fault(const char *path) {
    return strlen(path) > PATH_LONGEST ? "has a longer path than Windows takes"
                                       : parts_fault(path, '/');
}

bool bundle_target_is_safe(const char *target) {
    static const char *const folders[] = {"C:\\k\\", "C:\\opt\\cni\\bin\\",
                                          "C:\\Program Files\\containerd\\"};
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
        if (!text_starts_with(target, folders[i]))
            continue;
        return strlen(target) <= PATH_LONGEST && !parts_fault(target + strlen(folders[i]), '\\');
    }
    return false;
}
