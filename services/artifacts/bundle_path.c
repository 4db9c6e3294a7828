/* Paths from a bundle, which nobody vouches for. */
#include "services/artifacts/bundle_path.h"

#include <ctype.h>

#include "base/text.h"

enum { PATH_LONGEST = 240 };

/* Names that Windows gives to devices, whatever stands behind a dot (Microsoft: Naming Files). */
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

/* NULL: it is a plain file name of Windows'. */
static const char *part_fault(const char *part, size_t len, bool first) {
    if (!len || (len == 1 && *part == '.') || (len == 2 && memcmp(part, "..", 2) == 0) ||
        (first && len > 1 && isalpha((unsigned char)*part) && part[1] == ':'))
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
    return is_device(part, len) ? "has a name that Windows gives to a device" : NULL;
}

static const char *parts_fault(const char *path, char separator) {
    const char *fault = NULL;

    for (bool first = true; !fault; first = false) {
        const char *end = strchr(path, separator);

        fault = part_fault(path, end ? (size_t)(end - path) : strlen(path), first);
        if (!end)
            break;
        path = end + 1;
    }
    return fault;
}

const char *bundle_path_fault(const char *path) {
    return strlen(path) > PATH_LONGEST ? "has a longer path than Windows takes"
                                       : parts_fault(path, '/');
}

bool bundle_path_is_safe(const char *path) {
    return !bundle_path_fault(path);
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
