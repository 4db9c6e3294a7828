/* Formats a JoinPlan as a text for a person. */
#include "join/plan/plan.h"

static const char *text_at(const json_t *json, const char *path) {
    return json_text_or(json, path, "");
}

static void add_list(struct text *out, const char *before, const json_t *list) {
    json_each(list, i, item)
        text_addf(out, "%s%s", i ? ", " : before, json_string_value(item));
}

static void add_cluster(struct text *out, const json_t *plan) {
    text_addf(out, "cluster    \"%s\" %s", text_at(plan, "cluster.name"),
              text_at(plan, "cluster.kubernetesVersion"));
    add_list(out, ", pods ", json_at(plan, "cluster.podSubnets"));
    add_list(out, ", services ", json_at(plan, "cluster.serviceSubnets"));
    add_list(out, ", DNS ", json_at(plan, "cluster.clusterDNS"));
    add_list(out, ", CA ", json_at(plan, "cluster.caHashes"));
    text_addf(out, "\nnode       %s, %s, %s", text_at(plan, "node.name"), text_at(plan, "node.ip"),
              text_at(plan, "node.criSocket"));
    if (json_text_at(plan, "node.labels"))
        text_addf(out, ", labels %s", text_at(plan, "node.labels"));
    if (json_text_at(plan, "node.taints"))
        text_addf(out, ", taints %s", text_at(plan, "node.taints"));
    text_addf(out, "\nnetwork    %s \"%s\" by %s", text_at(plan, "network.mode"),
              text_at(plan, "network.name"), text_at(plan, "network.plugin"));
    if (*text_at(plan, "network.adapter"))
        text_addf(out, " on \"%s\"", text_at(plan, "network.adapter"));
    if (*text_at(plan, "network.sourceVip"))
        text_addf(out, ", source VIP %s", text_at(plan, "network.sourceVip"));
    add_list(out, "; no NAT for: ", json_at(plan, "network.natExceptions"));
    if (json_number_at(plan, "network.waitSeconds", 0))
        text_addf(out, "; its agent makes it, within %lld s",
                  json_number_at(plan, "network.waitSeconds", 0));
    if (*text_at(plan, "network.routeMode"))
        text_addf(out, "; routes to other nodes: the network's (%s)",
                  text_at(plan, "network.routeMode"));
    text_add_char(out, '\n');
}

static void add_value(struct text *out, char sign, const char *path, const json_t *value,
                      const char *reason) {
    _cleanup_(freep) char *text = json_write(value);

    text_addf(out, "  %c%s: %s%s%s\n", sign, path, text, *reason ? "  # " : "", reason);
}

/* Adds the differences from the cluster's KubeletConfiguration. */
static void add_changes(struct text *out, const json_t *plan) {
    json_each(json_at(plan, "files"), i, file) {
        json_each(json_object_get(file, "changes"), k, change) {
            const json_t *from = json_object_get(change, "from");
            const json_t *to = json_object_get(change, "to");

            if (k == 0)
                text_addf(out, "\n%s, against the cluster's KubeletConfiguration\n",
                          text_at(file, "path"));
            if (from)
                add_value(out, '-', text_at(change, "path"), from,
                          to ? "" : text_at(change, "reason"));
            if (to)
                add_value(out, '+', text_at(change, "path"), to, text_at(change, "reason"));
        }
    }
}

static void add_services(struct text *out, const json_t *plan) {
    text_add(out, "\nservices\n");
    json_each(json_at(plan, "services"), i, service) {
        text_addf(out, "  %-16s ", text_at(service, "name"));
        if (json_bool_at(service, "adopted", false)) {
            text_add(out, json_bool_at(service, "restarts", false) ? "adopted, started again with:"
                                                                   : "adopted, kept as it is:");
        } else {
            text_addf(out, "%s, %s", text_at(service, "start"), text_at(service, "account"));
            add_list(out, ", after ", json_object_get(service, "dependsOn"));
        }
        text_addf(out, "\n  %-16s %s\n", "", text_at(service, "command"));
        json_each(json_object_get(service, "environment"), k, item)
            text_addf(out, "  %-16s %s\n", "", json_string_value(item));
    }
}

static void add_network(struct text *out, const json_t *plan) {
    text_add(out, "\nHost Network Service\n");
    json_each(json_at(plan, "network.documents"), i, document) {
        const json_t *body = json_object_get(document, "body");
        const char *prefix = json_text_at(body, "Ipams.0.Subnets.0.IpAddressPrefix");

        text_addf(out, "  %-16s %s", text_at(document, "call"), text_at(body, "Name"));
        if (json_text_at(body, "Type"))
            text_addf(out, " (%s)", text_at(body, "Type"));
        if (prefix)
            text_addf(out, " %s", prefix);
        json_each(json_at(body, "Settings.Policies"), k, policy)
            text_addf(out, "%s%s", k ? ", " : "policy ", text_at(policy, "Type"));
        text_add_char(out, '\n');
    }
    json_each(json_at(plan, "network.routes"), i, item)
        text_addf(out, "%s  %s via %s\n", i ? "" : "\nroutes\n", text_at(item, "destination"),
                  text_at(item, "nextHop"));
    json_each(json_at(plan, "network.firewall"), i, item)
        text_addf(out, "%s  %-16s %s %lld, inbound\n", i ? "" : "\nfirewall\n",
                  text_at(item, "name"), text_at(item, "protocol"),
                  json_number_at(item, "port", 0));
}

/* Returns a copy that is safe for a terminal: line breaks and control characters in texts from
 * clusters and hosts are escaped. New reference. */
static json_t *printable(const json_t *json) {
    json_t *copy;

    if (json_is_string(json)) {
        _cleanup_(text_free) struct text line = {0};

        text_add_escaped(&line, json_string_value(json), json_string_length(json));
        return json_string(text_str(&line));
    }
    if (json_is_array(json)) {
        copy = json_array();
        json_each(json, i, value)
            json_array_append_new(copy, printable(value));
        return copy;
    }
    if (!json_is_object(json))
        return json_deep_copy(json);
    copy = json_object();
    json_each_member(json, key, value)
        json_object_set_new(copy, key, printable(value));
    return copy;
}

char *join_plan_text(const json_t *document) {
    _cleanup_json_ json_t *plan = printable(document);
    struct text out = {0};

    if (!json_array_size(json_at(plan, "steps"))) {
        text_addf(&out, "Joining %s would do nothing: all phases are skipped.\n",
                  text_at(plan, "node.name"));
        return text_take(&out);
    }
    text_addf(&out, "Joining %s to %s would do this; nothing was changed.\n\n",
              text_at(plan, "node.name"), text_at(plan, "cluster.server"));
    add_cluster(&out, plan);
    text_add(&out, "\nsteps\n");
    json_each(json_at(plan, "steps"), i, step)
        text_addf(&out, "  %2zu  %-14s %s\n", i + 1, text_at(step, "id"), text_at(step, "title"));
    json_each(json_at(plan, "artifacts"), i, artifact)
        text_addf(&out, "%s  %-44s %s, sha256:%.12s...\n", i ? "" : "\nprograms\n",
                  text_at(artifact, "path"), text_at(artifact, "version"),
                  text_at(artifact, "sha256"));
    text_add(&out, "\nfiles\n");
    json_each(json_at(plan, "files"), i, file)
        text_addf(
            &out, "  %-8s %s%s\n", json_bool_at(file, "replaces", false) ? "replace" : "write",
            text_at(file, "path"),
            json_bool_at(file, "protected", false) ? "  (SYSTEM and Administrators only)" : "");
    json_each(json_at(plan, "network.cni"), i, file)
        text_addf(&out, "  %-8s %s\n", "write", text_at(file, "path"));
    json_each(json_at(plan, "registry"), i, value) {
        const json_t *adds = json_object_get(value, "adds");
        _cleanup_(freep) char *data = json_write(adds ? adds : json_object_get(value, "data"));

        text_addf(&out, "%s  HKLM\\%s\\%s %s %s  (%s)\n", i ? "" : "\nregistry\n",
                  text_at(value, "key"), text_at(value, "value"), adds ? "+" : "=", data,
                  text_at(value, "why"));
    }
    add_changes(&out, plan);
    add_services(&out, plan);
    add_network(&out, plan);
    text_add_char(&out, '\n');
    json_each(json_at(plan, "unknown"), i, item)
        text_addf(&out,
                  "not known yet: %s (the cluster assigns it to the registered Node; --pod-cidr "
                  "plans with a given one)\n",
                  json_string_value(item));
    text_add(&out,
             "for the full text of every file and document: winjoin join --dry-run -o yaml\n");
    return text_take(&out);
}
