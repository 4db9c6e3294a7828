/* Reads files of Windows programs: headers, Go's build information and the version resource. */
#include "services/artifacts/program_image.h"

#include <ctype.h>
#include <stdint.h>

#include "base/text.h"
#include "services/artifacts/artifacts.h"
#include "services/program_flags.h"

enum {
    COFF_SIZE = 24, /* Size of "PE\0\0" and the file header. */
    MACHINE_AMD64 = 0x8664,
    IS_EXECUTABLE = 0x0002,
    IS_LIBRARY = 0x2000,
    OPTIONAL_PE64 = 0x20b,
    OPTIONAL_SIZE = 112, /* Size without the data directories. */
    RESOURCE_DIRECTORY = 2,
    SECTION_SIZE = 40,
    VERSION_MAX = 64, /* Longest version that a lock allows. */
};
#define SECTION_ALIGNMENT 0x00f00000u
/* Flags of a section with initialized data, readable and writable. */
#define SECTION_IS_DATA 0xc0000040u

struct part {
    const uint8_t *data;
    size_t len;
};
struct image {
    struct part file;
    size_t sections, section_count;
    uint32_t resources; /* Relative address of the resources; 0 when there are none. */
};

/* ---- reading bytes ---- */

static bool part_of(struct part whole, size_t offset, size_t len, struct part *ret) {
    if (offset > whole.len || len > whole.len - offset)
        return false;
    *ret = (struct part){whole.data + offset, len};
    return true;
}

/* Reads a little-endian number. Returns 0 when it is beyond the end of the part. */
static uint32_t number_at(struct part part, size_t offset, size_t size) {
    struct part bytes;
    uint32_t number = 0;

    if (!part_of(part, offset, size, &bytes))
        return 0;
    while (size-- > 0)
        number = number << 8 | bytes.data[size];
    return number;
}

static const uint8_t *find(struct part part, const char *what, size_t len) {
    struct part rest = part;
    const uint8_t *at;

    while (rest.len >= len &&
           (at = memchr(rest.data, (unsigned char)what[0], rest.len - len + 1))) {
        if (memcmp(at, what, len) == 0)
            return at;
        rest = (struct part){at + 1, part.len - (size_t)(at + 1 - part.data)};
    }
    return NULL;
}

/* ---- headers and sections of a program ---- */

static struct part section_at(const struct image *image, size_t i) {
    struct part header = {0};

    (void)part_of(image->file, image->sections + i * SECTION_SIZE, SECTION_SIZE, &header);
    return header;
}

static bool section_data(const struct image *image, struct part header, struct part *ret) {
    return part_of(image->file, number_at(header, 20, 4), number_at(header, 16, 4), ret);
}

/* Reads the headers of a program; refuses a file that does not have all its sections. */
static int image_open(const char *data, size_t len, struct image *image, struct error *err) {
    const struct part file = {(const uint8_t *)data, len};
    struct part coff, optional, part;
    size_t at = number_at(file, 0x3c, 4);

    *image = (struct image){.file = file};
    if (!file.len)
        return error_set(err, ERROR_MALFORMED, "the file is empty");
    if (file.len < 2 || memcmp(file.data, "MZ", 2) != 0 || !part_of(file, at, COFF_SIZE, &coff) ||
        memcmp(coff.data, "PE\0", 4) != 0)
        return error_set(err, ERROR_MALFORMED, "it is not a Windows program");
    if (number_at(coff, 4, 2) != MACHINE_AMD64)
        return error_set(err, ERROR_MALFORMED,
                         "it is a Windows program for another processor (machine 0x%04x, not "
                         "0x8664)",
                         (unsigned)number_at(coff, 4, 2));
    if ((number_at(coff, 22, 2) & (IS_EXECUTABLE | IS_LIBRARY)) != IS_EXECUTABLE)
        return error_set(err, ERROR_MALFORMED, "it is a Windows library, not a program");
    if (!part_of(file, at + COFF_SIZE, number_at(coff, 20, 2), &optional) ||
        optional.len < OPTIONAL_SIZE || number_at(optional, 0, 2) != OPTIONAL_PE64)
        return error_set(err, ERROR_MALFORMED, "its header is broken or cut off");
    image->section_count = number_at(coff, 6, 2);
    image->sections = at + COFF_SIZE + optional.len;
    if (!part_of(file, image->sections, image->section_count * SECTION_SIZE, &part))
        return error_set(err, ERROR_MALFORMED, "its header is broken or cut off");
    if (number_at(optional, 108, 4) > RESOURCE_DIRECTORY)
        image->resources = number_at(optional, OPTIONAL_SIZE + RESOURCE_DIRECTORY * 8, 4);
    for (size_t i = 0; i < image->section_count; i++)
        if (!section_data(image, section_at(image, i), &part))
            return error_set(err, ERROR_MALFORMED, "the file is cut off");
    return 0;
}

int program_image_check(const char *data, size_t len, struct error *err) {
    struct image image;

    return image_open(data, len, &image, err);
}

/* Gets the bytes from a relative address to the end of its section. Returns false if no section has
 * that address. */
static bool part_at_address(const struct image *image, uint32_t address, struct part *ret) {
    for (size_t i = 0; i < image->section_count; i++) {
        struct part header = section_at(image, i), content;
        uint32_t from = number_at(header, 12, 4);

        if (address >= from && section_data(image, header, &content) &&
            address - from < content.len)
            return part_of(content, address - from, content.len - (address - from), ret);
    }
    return false;
}

/* ---- versions in the form that a lock allows ---- */

static char *version_of(struct part text) {
    size_t len = 0;

    while (len < text.len && (isalnum(text.data[len]) || strchr("._-+", text.data[len])) &&
           text.data[len])
        len++;
    if (len == 0 || len > VERSION_MAX ||
        !isdigit(text.data[len > 1 && text.data[0] == 'v' ? 1 : 0]))
        return NULL;
    return xstrndup((const char *)text.data, len);
}

/* ---- version in Go's build information ---- */

/* Takes a string from the start of *rest: its length as Go's uvarint, then that many bytes. *rest
 * becomes what follows. */
static bool take_string(struct part *rest, struct part *ret) {
    uint64_t len = 0;

    for (unsigned shift = 0; shift < 64 && rest->len; shift += 7) {
        uint8_t byte = *rest->data;

        *rest = (struct part){rest->data + 1, rest->len - 1};
        len |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (len > rest->len || !part_of(*rest, 0, (size_t)len, ret))
            return false;
        return part_of(*rest, ret->len, rest->len - ret->len, rest);
    }
    return false;
}

static bool module_text(struct part section, struct part *ret) {
    static const char magic[] = "\xff Go buildinf:";
    enum { ALIGNMENT = 16, HEADER = 32, INLINE = 2, FRAME = 16 };
    struct part rest = section, go_version, text;
    const uint8_t *at;

    while ((at = find(rest, magic, sizeof magic - 1))) {
        size_t offset = (size_t)(at - section.data);

        if (offset % ALIGNMENT == 0 && part_of(section, offset, HEADER, &text) &&
            (text.data[15] & INLINE)) {
            (void)part_of(section, offset + HEADER, section.len - offset - HEADER, &rest);
            return take_string(&rest, &go_version) && take_string(&rest, &text) &&
                   text.len >= 2 * FRAME && part_of(text, FRAME, text.len - 2 * FRAME, ret);
        }
        (void)part_of(section, offset + 1, section.len - offset - 1, &rest);
    }
    return false;
}

/* Gets the rest of the first line that begins with `start` ("mod\t"). */
static bool line_behind(struct part text, const char *start, struct part *ret) {
    const uint8_t *at = text.data, *end, *stop;
    size_t len = strlen(start);

    if (!text.len) /* An empty text may have no address. */
        return false;
    for (end = at + text.len; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            stop = end;
        if ((size_t)(stop - at) >= len && memcmp(at, start, len) == 0) {
            *ret = (struct part){at + len, (size_t)(stop - at) - len};
            return true;
        }
    }
    return false;
}

/* Does this variable (such as "k8s.io/component-base/version.gitVersion") have the version of the
 * program's own module? Programs also have such variables of other modules. */
static bool tells_version(struct part name, struct part module) {
    static const char kubernetes[] = "k8s.io/component-base/version.gitVersion";
    static const char *const names[] = {".Version", ".BuildVersion", ".gitVersion"};

    if (find(name, kubernetes, sizeof kubernetes - 1))
        return true;
    if (!module.len || name.len <= module.len || memcmp(name.data, module.data, module.len) != 0)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        size_t len = strlen(names[i]);

        if (name.len > len && memcmp(name.data + name.len - len, names[i], len) == 0)
            return true;
    }
    return false;
}

/* Finds the version in linker flags: "-s -w -X PACKAGE.NAME=VALUE -X '...'". Go quotes them again
 * when they contain blanks. */
static char *linked_version(struct part flags, struct part module) {
    enum { NAME_MAX_LENGTH = 256 };
    struct part rest = flags;
    const uint8_t *at;

    while ((at = find(rest, "-X", 2))) {
        size_t start = (size_t)(at - flags.data) + 2, equals, limit;

        while (start < flags.len && strchr(" ='\"\\", flags.data[start]))
            start++;
        limit = start + NAME_MAX_LENGTH < flags.len ? start + NAME_MAX_LENGTH : flags.len;
        for (equals = start; equals < limit && !strchr("= \t", flags.data[equals]);)
            equals++;
        (void)part_of(flags, start, flags.len - start, &rest);
        if (equals < limit && flags.data[equals] == '=' &&
            tells_version((struct part){flags.data + start, equals - start}, module)) {
            char *version =
                version_of((struct part){flags.data + equals + 1, flags.len - equals - 1});
            if (version)
                return version;
        }
    }
    return NULL;
}

static char *go_version(struct part text) {
    struct part module = {0}, flags;
    char *version = NULL;
    const uint8_t *tab;

    if (line_behind(text, "mod\t", &module) && (tab = memchr(module.data, '\t', module.len))) {
        size_t len = (size_t)(tab - module.data);
        struct part behind = {tab + 1, module.len - len - 1};

        module.len = len;
        version = version_of(behind); /* "(devel)" is no version. */
    }
    if (line_behind(text, "build\t-ldflags=", &flags)) {
        char *linked = linked_version(flags, module);

        if (linked)
            text_set(&version, linked);
    }
    return version;
}

/* ---- version in the version resource ---- */

/* Gets the offset of the entry with this id (0 means the first) in a resource directory. */
static bool resource_entry(struct part resources, uint32_t directory, uint32_t id, uint32_t *ret) {
    struct part header;
    size_t count;

    directory &= 0x7fffffff;
    if (!part_of(resources, directory, 16, &header))
        return false;
    count = number_at(header, 12, 2) + number_at(header, 14, 2);
    for (size_t i = 0; i < count; i++) {
        struct part entry;

        if (!part_of(resources, directory + 16 + i * 8, 8, &entry))
            return false;
        if (!id || number_at(entry, 0, 4) == id) {
            *ret = number_at(entry, 4, 4);
            return true;
        }
    }
    return false;
}

/* Returns the text of "ProductVersion" (UTF-16), or the numbers of the fixed part; NULL when there
 * is neither. The caller frees the text. */
static char *resource_version(const struct image *image) {
    static const char key[] = "P\0r\0o\0d\0u\0c\0t\0V\0e\0r\0s\0i\0o\0n\0\0";
    enum { VERSION = 16, FIXED = 40, SIGNATURE = (int)0xfeef04bd };
    struct part resources, entry, block;
    char text[VERSION_MAX + 1];
    size_t offset, len = 0;
    char *version = NULL;
    uint32_t leads = 0;
    const uint8_t *at;

    if (!image->resources || !part_at_address(image, image->resources, &resources) ||
        !resource_entry(resources, 0, VERSION, &leads) ||
        !resource_entry(resources, leads, 0, &leads) ||
        !resource_entry(resources, leads, 0, &leads) || !part_of(resources, leads, 16, &entry) ||
        !part_at_address(image, number_at(entry, 0, 4), &block) ||
        !part_of(block, 0, number_at(entry, 4, 4), &block))
        return NULL;
    at = find(block, key, sizeof key);
    if (at) {
        offset = ((size_t)(at - block.data) + sizeof key + 3) / 4 * 4;
        while (len < VERSION_MAX && number_at(block, offset + len * 2, 2) - 1u < 0x7e) {
            text[len] = (char)number_at(block, offset + len * 2, 2);
            len++;
        }
        version = version_of((struct part){(const uint8_t *)text, len});
    }
    if (!version && number_at(block, FIXED, 4) == (uint32_t)SIGNATURE)
        version = xasprintf("%u.%u.%u", (unsigned)number_at(block, FIXED + 18, 2),
                            (unsigned)number_at(block, FIXED + 16, 2),
                            (unsigned)number_at(block, FIXED + 22, 2));
    return version;
}

char *program_image_version(const char *data, size_t len) {
    enum { SHORT = 12 };
    struct image image;
    struct part part, text = {0}, commit;
    char *version = NULL;

    if (image_open(data, len, &image, NULL) < 0)
        return NULL;
    for (size_t i = 0; i < image.section_count && !version; i++) {
        struct part header = section_at(&image, i);

        if ((number_at(header, 36, 4) & ~SECTION_ALIGNMENT) == SECTION_IS_DATA &&
            section_data(&image, header, &part) && module_text(part, &text))
            version = go_version(text);
    }
    if (!version)
        version = resource_version(&image);
    if (version)
        return version;

    /* The program was not built from a release, so the commit is used. */
    if (!line_behind(text, "build\tvcs.revision=", &commit) || commit.len < SHORT)
        return NULL;
    for (size_t i = 0; i < SHORT; i++)
        if (!commit.data[i] || !strchr("0123456789abcdef", commit.data[i]))
            return NULL;
    return xasprintf("git-%.*s", SHORT, (const char *)commit.data);
}

/* ---- version of a program on a host ---- */

enum { DOS_HEADER = 64 };

int program_version_read(struct host *host, const char *program, bool may_run, char **ret,
                         struct error *err) {
    const char *const argv[] = {program, "--version", NULL};
    _cleanup_(freep) char *data = NULL, *output = NULL;
    const char *v;
    size_t len;
    int code;

    if (host_file_type(host, program) == HOST_ABSENT)
        return 0;
    if (host_refuse_untrusted(host, program, err) < 0)
        return -1;
    if (host_read(host, program, ARTIFACT_SIZE_MAX, &data, &len, may_run ? ERROR_IGNORED : err) ==
        0) {
        char *version = program_image_version(data, len);

        if (version) {
            *ret = version;
            return 1;
        }
        /* A file with the header of a Windows program must be complete. Stand-ins for programs in a
         * rehearsal have no such header. */
        if (!may_run && (!len || (len >= DOS_HEADER && text_starts_with(data, "MZ"))) &&
            program_image_check(data, len, err) < 0)
            return error_prefix(err, "read '%s'", program);
    } else if (!may_run) {
        return -1;
    }
    if (!may_run)
        return 0;
    if (program_ask(host, argv, &code, &output, err) < 0)
        return -1;
    if (code != 0)
        return error_set(err, ERROR_HOST, "'%s --version' ended with exit code %d", program, code);

    /* Finds the version in "Kubernetes v1.37.1" or "containerd github.com/containerd/containerd/v2
     * v2.4.2 abc". */
    v = strstr(output, " v");
    while (v && !strchr("0123456789", v[2]))
        v = strstr(v + 1, " v");
    *ret = v && v[2] ? xstrndup(v + 1, strcspn(v + 1, " \r\n"))
                     : xstrndup(output, strcspn(output, "\r\n"));
    return 1;
}
