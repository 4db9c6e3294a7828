/* A cluster's KubeletConfiguration, made fit for a Windows node: made again from itself it must not
 * change, and its YAML must read back as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "join/configuration/cluster_config.h"
#include "join/kubelet/kubelet_files.h"
#include "tests/fuzz/whole_numbers.h"

static char first_dns[] = "10.96.0.10", *dns_items[] = {first_dns, NULL};
static const struct text_list dns = {.items = dns_items, .count = 1};

static int make(const json_t *cluster, json_t **ret, size_t *ret_changes) {
    const struct kubelet_config_input input = {
        .cluster = cluster, .cluster_dns = &dns, .dns_domain = "cluster.local"};
    struct kubelet_changes changes = {0};
    struct error err = {0};
    int result = kubelet_config_make(&input, ret, &changes, &err);

    if (result == 0) {
        _cleanup_json_ json_t *list = kubelet_changes_json(&changes);

        if (json_array_size(list) != changes.count)
            abort();
        *ret_changes = changes.count;
    } else if (err.kind != ERROR_MALFORMED || !err.message[0]) {
        abort();
    }
    kubelet_changes_free(&changes);
    return result;
}

static void read_back(const json_t *made) {
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    _cleanup_(freep) char *text = yaml_write(made);
    _cleanup_json_ json_t *wanted = with_whole_numbers(made);

    if (yaml_read(text, strlen(text), "written", &yaml, NULL) < 0)
        abort();
    if (!json_equal(json_array_get(yaml.documents, 0), wanted))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    _cleanup_json_ json_t *cluster = NULL, *made = NULL, *again = NULL;
    size_t changes;

    if (cluster_document_read(text, "fuzz", KUBELET_DOCUMENT, &cluster, NULL) < 0)
        return 0;
    if (make(cluster, &made, &changes) < 0)
        return 0;
    read_back(made);
    if (make(made, &again, &changes) < 0 || changes || !json_equal(made, again))
        abort();
    return 0;
}
