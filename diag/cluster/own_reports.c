/* What the nodes that winjoin joined have published of themselves; it comes with the list of Nodes.
 */
#include "diag/cluster/cluster.h"
#include "diag/network_report.h"

static json_t *taken(json_t *report, const struct error *why) {
    return report ? report : json_pack("{s:s}", "unreadable", why->message);
}

json_t *cluster_own_report_of(const json_t *node) {
    const char *text = json_string_value(
        json_object_get(json_at(node, "metadata.annotations"), NETWORK_REPORT_ANNOTATION));
    struct error why = {0};
    json_t *report = NULL;

    if (!text)
        return NULL;
    (void)network_report_read(text, &report, &why);
    return taken(report, &why);
}

json_t *cluster_own_report_take(const json_t *json) {
    const char *unreadable = json_text_at(json, "unreadable");
    struct error why = {0};
    json_t *report = NULL;

    if (!json_is_object(json))
        return NULL;
    if (unreadable)
        (void)error_set(&why, ERROR_MALFORMED, "%.80s", unreadable);
    else
        (void)network_report_take(json, &report, &why);
    return taken(report, &why);
}

bool cluster_own_report_is_news(const struct cluster_node *node) {
    return network_report_differs(node->own_report) ||
           json_object_get(node->own_report, "unreadable");
}

char *cluster_own_report_line(const struct diag_report *report, const struct cluster_node *node) {
    const char *unreadable = json_text_at(node->own_report, "unreadable");
    _cleanup_(freep) char *line = NULL;

    if (!node->own_report)
        return NULL;
    if (unreadable)
        return xasprintf("its own report cannot be read: %s", unreadable);
    line = network_report_line(node->own_report, report->time);
    return xasprintf("its own report, %s", line);
}
