/* Documents to the HNS model: a line is a call, its first byte the function, the rest its document.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "tests/hns/hns.h"

#define NETWORK "11111111-0000-4000-8000-000000000001"
#define ENDPOINT "11111111-0000-4000-8000-000000000002"
#define SPACE "11111111-0000-4000-8000-000000000003"
#define BALANCER "11111111-0000-4000-8000-000000000004"
#define ZERO "00000000-0000-0000-0000-000000000000"

enum { CALLS_MAX = 16 };

/* Each function's inputs; NULL is where the line goes. */
static const struct {
    char letter;
    const char *function, *args[3];
} calls[] = {
    {'n', "HcnCreateNetwork", {ZERO, NULL, ""}},
    {'N', "HcnCreateNetwork", {NETWORK, NULL, ""}},
    {'m', "HcnModifyNetwork", {"1008", NULL, ""}},
    {'q', "HcnEnumerateNetworks", {NULL, "", ""}},
    {'e', "HcnCreateEndpoint", {"1008", ZERO, NULL}},
    {'E', "HcnCreateEndpoint", {"1008", ENDPOINT, NULL}},
    {'f', "HcnModifyEndpoint", {"1010", NULL, ""}},
    {'s', "HcnCreateNamespace", {SPACE, NULL, ""}},
    {'t', "HcnModifyNamespace", {"1018", NULL, ""}},
    {'l', "HcnCreateLoadBalancer", {BALANCER, NULL, ""}},
    {'k', "HcnModifyLoadBalancer", {"1020", NULL, ""}},
    {'r', "HcnCreateSdnRoute", {ZERO, NULL, ""}},
    {'d', "HcnDeleteNetwork", {NETWORK, "", ""}},
    {'1', "HNSCall", {"POST", "/networks/", NULL}},
    {'2', "HNSCall", {"POST", "/endpoints/", NULL}},
    {'3', "HNSCall", {"POST", "/policylists/", NULL}},
    {'4', "HNSCall", {"POST", "/endpoints/" ENDPOINT "/attach", NULL}},
    {'5', "HNSCall", {"GET", NULL, ""}},
    {'6', "HNSCall", {"POST", "/endpoints/" ENDPOINT, NULL}},
};

static void run(struct hns_model *model, const char *line) {
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        const char *args[3];
        struct hns_answer answer;

        if (calls[i].letter != line[0])
            continue;
        for (int k = 0; k < 3; k++)
            args[k] = calls[i].args[k] ? calls[i].args[k] : line + 1;
        if (hns_model_call(model, calls[i].function, args, 3, &answer) && answer.changed)
            abort(); /* a refusal changes nothing */
        hns_answer_free(&answer);
    }
}

/* What came in must come out as JSON that is UTF-8, or the rig's programs stumble. */
static void show(const struct hns_model *model) {
    json_t *state = hns_model_state(model);
    char *text = json_dumps(state, 0);

    if (!text)
        abort();
    free(text);
    json_decref(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct hns_model *model = hns_model_new(NULL);
    struct text_list lines = {0};

    text_list_split(&lines, text, '\n');
    for (size_t i = 0; i < lines.count && i < CALLS_MAX; i++)
        run(model, lines.items[i]);
    show(model);
    hns_model_restart(model);
    hns_model_reboot(model);
    show(model);
    text_list_free(&lines);
    hns_model_free(model);
    return 0;
}
