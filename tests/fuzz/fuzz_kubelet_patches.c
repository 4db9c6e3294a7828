/* A patches folder of one file: the first byte is the kind of patch, the rest its text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/kubelet/kubelet_files.h"
#include "join/kubelet/patches.h"
#include "tests/memory/host_memory.h"

static const char config[] =
    "{\"kind\":\"KubeletConfiguration\",\"apiVersion\":\"kubelet.config.k8s.io/v1beta1\","
    "\"clusterDNS\":[\"10.96.0.10\",\"10.96.0.11\"],\"maxPods\":110,"
    "\"evictionHard\":{\"memory.available\":\"1Gi\",\"nodefs.available\":\"5%\"},"
    "\"registerWithTaints\":[{\"key\":\"os\",\"effect\":\"NoSchedule\"}]}";

/* The whole way of --patches: fit for Windows, patched, its types looked at, each change told. */
static void make_config(const struct patches *patches, const json_t *cluster) {
    const struct kubelet_config_input input = {.cluster = cluster, .patches = patches};
    struct kubelet_changes changes = {0};
    _cleanup_json_ json_t *made = NULL;
    struct error err = {0};

    if (kubelet_config_make(&input, &made, &changes, &err) == 0) {
        if (!text_equal(json_text_at(made, "containerRuntimeEndpoint"), KUBELET_CRI_SOCKET))
            abort();
    } else if (err.kind != ERROR_USAGE || !err.message[0]) {
        abort();
    }
    kubelet_changes_free(&changes);
}

/* What a join keeps of the patches is the same patches. */
static void assert_recalled(const struct patches *patches) {
    struct patches again = {0};

    if (patches_recall(patches->texts, &again, NULL) < 0 || again.count != patches->count)
        abort();
    for (size_t i = 0; i < again.count; i++)
        if (!json_equal(again.items[i].json, patches->items[i].json) ||
            again.items[i].type != patches->items[i].type)
            abort();
    patches_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const paths[] = {"C:\\p\\kubeletconfiguration.yaml",
                                        "C:\\p\\kubeletconfiguration+merge.yaml",
                                        "C:\\p\\kubeletconfiguration+json.yaml"};
    _cleanup_json_ json_t *original = NULL, *before = NULL, *patched = NULL;
    struct patches patches = {0};
    struct error err = {0};
    struct host *host;

    if (!size)
        return 0;
    host = host_memory_new();
    if (json_read(config, strlen(config), "config", &original, NULL) < 0 ||
        host_write(host, paths[data[0] % ARRAY_SIZE(paths)], data + 1, size - 1, HOST_PUBLIC,
                   NULL) < 0)
        abort();
    before = json_deep_copy(original);
    if (patches_read(host, "C:\\p", &patches, &err) == 0) {
        if (patches_apply(&patches, original, &patched, NULL, &err) == 0) {
            _cleanup_(freep) char *text = yaml_write(patched);

            if (!text || !text_equal(json_text_at(patched, "kind"), "KubeletConfiguration"))
                abort();
        }
        make_config(&patches, original);
        assert_recalled(&patches);
        patches_free(&patches);
    }
    if (!patched && err.kind != ERROR_USAGE)
        abort(); /* every refusal is a wrong file */
    if (!json_equal(original, before))
        abort();
    host_free(host);
    return 0;
}
