/* What comes back through the pod proxy, which anybody inside a pod may have written. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diag/ask/ask.h"
#include "diag/cluster/probes/dial.h"

static void check(struct ask *, const struct kube_many *answer) {
    if (!answer->status || strlen(answer->answer) != answer->answer_len)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const long statuses[] = {0, 200, 400, 503};
    _cleanup_(freep) char *text = xmemdup(data, size);
    _cleanup_(ask_queue_free) struct ask_queue queue = {.answered = check};

    for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
        for (int udp = 0; udp < 2; udp++) {
            struct probe_result result;
            char why[200];
            enum dial_end end =
                dial_read(statuses[i], text, size, udp, NULL, &result, why, sizeof why);

            if (end == DIAL_ANSWERED && (!result.attempts || result.succeeded > result.attempts))
                abort();
            if (strlen(why) >= sizeof why || result.address_count > PROBE_ADDRESSES_MAX)
                abort();
        }
    free(dial_settings_read(200, text, size));
    for (size_t i = 0; i < 3; i++)
        (void)ask_add(&queue, xstrdup("/proxy/dial"), i, 0, 9000);
    ask_script_read(&queue, text, size);
    return 0;
}
