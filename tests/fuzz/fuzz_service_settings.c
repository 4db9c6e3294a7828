/* The service host's settings file: what is taken reads back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "services/hosted_service.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct service_host_settings settings = {0}, again = {0};
    if (service_host_settings_parse((const char *)data, size, &settings, NULL) < 0)
        return 0;
    _cleanup_(freep) char *text = service_host_settings_make(&settings);
    if (service_host_settings_parse(text, strlen(text), &again, NULL) < 0 ||
        again.command.count != settings.command.count)
        abort();
    service_host_settings_free(&settings);
    service_host_settings_free(&again);
    return 0;
}
