/* The few keys of containerd's config.toml: enough TOML for one key a line. */
#include "tests/standins/containerd/config.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { CONFIG_MAX = 1024 * 1024 };

/* The first string behind "=": '...' as it is, "..." with its backslashes undone; a list's first
 * item counts. NULL when there is none. */
static char *first_string(const char *value) {
    const char *start = value + strcspn(value, "'\"");
    struct text out = {0};

    if (!*start)
        return NULL;
    for (const char *p = start + 1; *p && *p != *start; p++) {
        if (*p == '\\' && *start == '"' && p[1])
            p++;
        text_add_char(&out, *p);
    }
    return text_take(&out);
}

static void take(struct standin_settings *settings, const char *key, size_t len,
                 const char *value) {
    const struct {
        const char *key;
        char **slot;
    } table[] = {
        {"bin_dir", &settings->cni_bin_dir},         {"bin_dirs", &settings->cni_bin_dir},
        {"conf_dir", &settings->cni_conf_dir},       {"sandbox", &settings->sandbox_image},
        {"sandbox_image", &settings->sandbox_image},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char *found;
        if (strlen(table[i].key) == len && strncmp(table[i].key, key, len) == 0 &&
            (found = first_string(value))) {
            free(*table[i].slot);
            *table[i].slot = found;
        }
    }
}

static void read_line(struct standin_settings *settings, const char *line) {
    line += strspn(line, " \t");
    const char *equals = strchr(line, '=');
    if (*line != '#' && *line != '[' && equals)
        take(settings, line, strcspn(line, " \t="), equals + 1);
}

int standin_settings_read(struct host *host, const char *path, struct standin_settings *ret,
                          struct error *err) {
    struct standin_settings made = {
        .cni_bin_dir = xstrdup("C:\\Program Files\\containerd\\cni\\bin"),
        .cni_conf_dir = xstrdup("C:\\Program Files\\containerd\\cni\\conf"),
        .sandbox_image = xstrdup("registry.k8s.io/pause:3.10.1"),
    };
    struct text_list lines = {0};
    _cleanup_(freep) char *text = NULL;
    size_t len;

    if (path && host_read(host, path, CONFIG_MAX, &text, &len, err))
        return -1;
    if (text)
        text_list_split(&lines, text, '\n');
    for (size_t i = 0; i < lines.count; i++)
        read_line(&made, lines.items[i]);
    text_list_free(&lines);
    *ret = made;
    return 0;
}
