/* containerd's configuration, TOML from others: what parses can be written as JSON and has one
 * meaning, and its settings are read. */
#include <stdint.h>
#include <stdlib.h>

#include "base/toml.h"
#include "services/containerd_settings.h"
#include "tests/memory/host_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_json_ json_t *json = NULL, *again = NULL;
    _cleanup_(freep) char *text = NULL;
    _cleanup_(containerd_settings_free) struct containerd_settings settings = {0};
    struct host *host;

    if (toml_parse((const char *)data, size, "fuzz", &json, NULL) < 0)
        return 0;
    text = json_write(json);
    if (!text || toml_parse((const char *)data, size, "fuzz", &again, NULL) < 0 ||
        !json_equal(json, again))
        abort();
    host = host_memory_new();
    if (host_write(host, CONTAINERD_CONFIG_PATH, data, size, HOST_PUBLIC, NULL) == 0 &&
        containerd_settings_read(host, CONTAINERD_CONFIG_PATH, true, &settings, ERROR_IGNORED) ==
            0 &&
        settings.conf_dir && settings.conf_dir[1] != ':' && settings.conf_dir[0] != '\\')
        abort();
    host_free(host);
    return 0;
}
