/* YAML from outside: what parses becomes JSON, and what is written from that reads back the same.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "tests/fuzz/whole_numbers.h"

static void round_trip(const json_t *json) {
    _cleanup_json_ json_t *wanted = with_whole_numbers(json);
    _cleanup_(freep) char *text = yaml_write(json);
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    size_t len = 0;

    while (text[len])
        len++;
    if (yaml_read(text, len, "written", &yaml, NULL) < 0)
        abort();
    if (!json_equal(wanted, json_array_get(yaml.documents, 0)))
        abort();
}

/* Each value has a place. */
static void places(const struct yaml *yaml, const json_t *in) {
    json_each(in, i, item) {
        if (!yaml_place_in(yaml, in, NULL, i))
            abort();
        places(yaml, item);
    }
    json_each_member(in, key, value) {
        if (!yaml_place_in(yaml, in, key, 0) || !yaml_key_place(yaml, in, key)->line)
            abort();
        places(yaml, value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(yaml_forget) struct yaml yaml = {0};

    if (yaml_read((const char *)data, size, "fuzz", &yaml, NULL) < 0)
        return 0;
    if (yaml.count < 1000) /* each is searched */
        places(&yaml, yaml.documents);
    json_each(yaml.documents, i, document)
        round_trip(document);
    return 0;
}
