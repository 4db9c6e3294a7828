/* A whole --config file: documents, fields, values, what becomes of them; what migrate writes must
 * read back as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "join/configuration/join_configuration.h"

static void write_and_read(const json_t *join) {
    _cleanup_(freep) char *text = yaml_write(join);
    struct config_file again = {0};
    struct error err = {0};

    if (strlen(text) > CONFIG_FILE_MAX)
        return;
    if (config_file_parse(text, strlen(text), "again", CONFIG_KNOWN, &again, &err) < 0 ||
        !json_equal(again.join, join))
        abort();
    config_file_free(&again);
}

static void use_join(struct config_file *file) {
    struct join_options options = {0};
    struct text_list warnings = {0};
    struct error err = {0};

    text_list_add(&options.skip_phases, "preflight"); /* the flags that stand beside a file */
    text_list_add(&options.ignore_preflight_errors, "Swap");
    join_configuration_overlay(&file->join, &options);
    text_list_free(&options.skip_phases);
    text_list_free(&options.ignore_preflight_errors);
    if (join_configuration_check(file->join, &file->yaml, NULL, &err) == 0) {
        join_configuration_apply(file->join, &options, &warnings);
        join_configuration_default(file->join);
        write_and_read(file->join);
    } else if (err.kind != ERROR_USAGE || !err.message[0]) {
        abort();
    }
    text_list_free(&warnings);
    join_options_free(&options);
}

static void use_node(const json_t *node) {
    struct join_options options = {0};

    node_configuration_apply(node, &options);
    if (join_options_check(&options, NULL) < 0)
        abort();
    json_decref(node_configuration_make(&options));
    join_options_free(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct config_file file = {0};
    struct error err = {0};

    if (config_file_parse((const char *)data, size, "fuzz", CONFIG_JOIN, &file, &err) < 0) {
        if (err.kind != ERROR_USAGE || !err.message[0])
            abort();
        return 0;
    }
    if (file.join)
        use_join(&file);
    if (file.node)
        use_node(file.node);
    config_file_free(&file);
    return 0;
}
