/* A run's end as an Event on its Node. */
#include "join/node_news.h"

#include "base/log.h"
#include "join/found/need.h"
#include "join/phases/phases.h"

enum { REQUEST_MS = 3000 };

static char *joined_text(const struct join *join) {
    const struct join_found *found = &join->found;

    return xasprintf("winjoin joined this node: kubelet %s, network mode %s, %s",
                     found->kubelet_version ? found->kubelet_version : "of a version not known",
                     found->plan.mode ? found->plan.mode->name : "not known",
                     !found->report.cells.count            ? "pod network not tested"
                     : diag_report_is_good(&found->report) ? "pod network tested"
                                                           : "pod network with failures");
}

/* A join that was interrupted, or waits for a restart of Windows, has not failed. */
static bool is_news(const struct join *join, const struct error *failure) {
    if (!failure)
        return join->changed;
    return failure->kind != ERROR_INTERRUPTED && failure->kind != ERROR_RESTART &&
           (join->was_node || join->found.node.name);
}

void join_tell_event(struct join *join, enum node_event event, const char *message) {
    struct error why = {0};

    if (find_node_client(join, ERROR_IGNORED) < 0)
        return;
    join->found.client.timeout_ms = REQUEST_MS;
    if (node_event_tell(&join->found.client, join->found.node_name, event, message, NULL, &why) < 0)
        log_message(LOG_RETRY, "write an event of this Node: %s", why.message);
}

void join_tell_node(struct join *join, const struct error *failure) {
    _cleanup_(freep) char *message = NULL;

    if (join->phases != join_phases || !is_news(join, failure))
        return;
    message =
        failure ? xasprintf("winjoin join, phase %s: %s",
                            join->progress.phase ? join->progress.phase->id : "", failure->message)
                : joined_text(join);
    join_tell_event(join, failure ? NODE_JOIN_FAILED : NODE_JOINED, message);
}
