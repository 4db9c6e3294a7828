/* The texts of a cluster's ConfigMaps: ClusterConfiguration, KubeletConfiguration, net-conf.json.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "join/cluster_config.h"
#include "join/cluster_schema.h"
#include "join/kubelet_files.h"

/* As a ConfigMap's value. */
static void read_kubelet_config(const char *text) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    const struct yaml_node *node;

    if (cluster_document_find(text, "fuzz", "KubeletConfiguration", &documents, &node, NULL) < 0)
        return;
    (void)yaml_schema_check_known(node, kubelet_configuration_fields(), "fuzz", NULL);
}

static void make_kubelet_config(const char *text, size_t size) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    _cleanup_json_ json_t *cluster = NULL, *first = NULL, *second = NULL;
    struct kubelet_changes changes = {0}, again = {0};

    if (yaml_parse(text, size, "fuzz", &documents, NULL) < 0 ||
        yaml_documents_count(documents) == 0)
        return;
    cluster = yaml_to_json(yaml_document(documents, 0));
    if (kubelet_config_make(&(struct kubelet_config_input){.cluster = cluster}, &first, &changes,
                            NULL) == 0) {
        /* made again from itself it must not change */
        if (kubelet_config_make(&(struct kubelet_config_input){.cluster = first}, &second, &again,
                                NULL) < 0 ||
            again.count)
            abort();
    }
    kubelet_changes_free(&changes);
    kubelet_changes_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct cluster_config config = {0};
    struct cluster_flannel flannel = {0};

    if (cluster_config_parse(text, "fuzz", &config, NULL) == 0)
        cluster_config_free(&config);
    if (cluster_flannel_parse(text, &flannel, NULL) == 0)
        cluster_flannel_free(&flannel);
    read_kubelet_config(text);
    make_kubelet_config((const char *)data, size);
    return 0;
}
