/* What is no JSON to jansson may pass where nobody looks; what is JSON is told as jansson has it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_scan.h"

static void found(void *context, const struct json_found *f) {
    struct text *t = context;

    if (f->what == 0)
        t->overflow |= f->kind != SCAN_BEGINS && f->kind != SCAN_ENDS; /* no object: not compared */
    else if (f->what == 1 && f->kind == SCAN_TEXT)
        text_add_bytes(t, f->text, f->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct json_place places[] = {{"", 0}, {"a", 1}, {"b.*.a\\.b", 2}};
    _cleanup_json_ json_t *json = NULL;
    struct text t = {0};
    bool scanned = json_scan((const char *)data, size,
                             &(struct json_scan){.name = "x",
                                                 .prefix = "",
                                                 .places = places,
                                                 .count = ARRAY_SIZE(places),
                                                 .found = found,
                                                 .context = &t},
                             NULL) == 0;

    if (json_read((const char *)data, size, "x", &json, NULL) == 0 && json_is_object(json)) {
        const json_t *a = json_object_get(json, "a");

        if (!scanned || t.overflow)
            abort();
        if (json_is_string(a) && !memmem(data, size, "\\u00", 4) && /* no key is spelled so */
            (t.len != json_string_length(a) || memcmp(t.data, json_string_value(a), t.len) != 0))
            abort();
    }
    text_free(&t);
    return 0;
}
