/* network.json, from which winjoin-network makes the network again. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "node/chosen.h"
#include "node/keeper/network_keeper.h"
#include "tests/memory/host_memory.h"

static void plan(json_t *json) {
    struct chosen chosen = {0};
    struct network_plan made = {0};

    if (chosen_read(json, &chosen, NULL) < 0)
        return;
    if (network_plan_make(&chosen.network, &made, NULL) == 0) {
        _cleanup_json_ json_t *shown = network_plan_json(&made);

        if (!shown)
            abort();
        network_plan_free(&made);
    }
    chosen_free(&chosen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct host *host = host_memory_new();
    _cleanup_json_ json_t *json = NULL;
    struct network_keeper keeper = {.host = host};
    struct text_list did = {0};
    struct error err = {0};

    if (json_read((const char *)data, size, "fuzz", &json, NULL) == 0)
        plan(json);
    if (host_write(host, CHOSEN_FILE, data, size, HOST_PUBLIC, NULL) < 0)
        abort();
    if (network_restore(&keeper, false, &did, &err) < 0 &&
        (err.kind == ERROR_NONE || !err.message[0]))
        abort();
    text_list_free(&did);
    network_keeper_free(&keeper);
    host_free(host);
    return 0;
}
