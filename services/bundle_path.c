/* Paths from a bundle, which nobody vouches for. */
#include "services/bundle_path.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"
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

/* Every part between separators is a plain file name of Windows'. */
static bool parts_are_plain(const char *path, char separator) {
    for (;;) {
        const char *end = strchr(path, separator);
        size_t len = end ? (size_t)(end - path) : strlen(path);
        if (!len || path[len - 1] == '.' || path[len - 1] == ' ' || is_device(path, len))
            return false; /* covers "." and ".." */
        for (size_t i = 0; i < len; i++) {
            if ((unsigned char)path[i] < 0x20 || strchr("\\/:*?\"<>|\x7f", path[i]))
                return false;
        }
        if (!end)
            return true;
        path = end + 1;
    }
}

bool bundle_path_is_safe(const char *path) {
    return strlen(path) <= PATH_LONGEST && parts_are_plain(path, '/');
}

bool bundle_target_is_safe(const char *target) {
    static const char *const folders[] = {"C:\\k\\", "C:\\opt\\cni\\bin\\",
                                          "C:\\Program Files\\containerd\\"};
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
        if (!text_starts_with(target, folders[i]))
            continue;
        return strlen(target) <= PATH_LONGEST && parts_are_plain(target + strlen(folders[i]), '\\');
    }
    return false;
}
