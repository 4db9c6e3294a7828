/* YAML from outside: what parses becomes JSON, and what is written from that reads back the same.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "tests/fuzz/whole_numbers.h"

static void round_trip(const struct yaml_node *node) {
    _cleanup_json_ json_t *json = yaml_to_json(node), *again = NULL;
    _cleanup_json_ json_t *wanted = with_whole_numbers(json);
    _cleanup_(freep) char *text = yaml_write(json);
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    size_t len = 0;

    while (text[len])
        len++;
    if (yaml_parse(text, len, "written", &documents, NULL) < 0)
        abort();
    again = yaml_to_json(yaml_document(documents, 0));
    if (!json_equal(wanted, again))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;

    if (yaml_parse((const char *)data, size, "fuzz", &documents, NULL) == 0)
        for (size_t i = 0; i < yaml_documents_count(documents); i++)
            round_trip(yaml_document(documents, i));
    return 0;
}
