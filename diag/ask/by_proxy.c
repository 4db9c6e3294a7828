/* The queue, and how the API server's proxy to pods carries it. */
#include "diag/ask/ask.h"

enum { ANSWER_MAX = 64 * 1024 }; /* of a probe: a name, an address, an error, an echo */

bool ask_add(struct ask_queue *queue, char *path, size_t whose, unsigned what, unsigned until_ms) {
    if (path)
        array_add(queue->items, queue->count,
                  (struct ask){queue, path, whose, what, until_ms, false});
    return path;
}

void ask_queue_free(struct ask_queue *queue) {
    for (size_t i = 0; i < queue->count; i++)
        free(queue->items[i].path);
    free(take_ptr(queue->items));
    queue->count = 0;
}

static void on_ended(void *context, const struct kube_many *answer) {
    struct ask *ask = context;

    ask->queue->answered(ask, answer);
}

void ask_by_proxy(struct kube_client *client, struct ask_queue *queue, size_t begin, size_t end,
                  size_t at_once) {
    struct kube_many *items = xcalloc(end - begin + 1, sizeof *items);
    size_t count = 0;

    for (size_t i = begin; i < end; i++) {
        struct ask *ask = &queue->items[i % queue->count];

        if (!ask->over)
            items[count++] = (struct kube_many){.method = "GET",
                                                .path = ask->path,
                                                .timeout_ms = ask->until_ms,
                                                .max_body = ANSWER_MAX,
                                                .ended = on_ended,
                                                .context = ask};
    }
    kube_perform_some(client, items, count, at_once);
    kube_many_free(items, count);
    free(items);
}
