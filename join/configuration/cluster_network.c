/* Reads what a cluster says about its Pod network. */
#include "join/configuration/cluster_config.h"

#include "kube/node.h"
#include "kube/object.h"
#include "netsetup/agents/agent.h"
#include "netsetup/agents/daemon_set_agent.h"

#define DAEMON_SETS_PATH "/apis/apps/v1/daemonsets"

/* A table of 200 DaemonSets has about 60 KB. */
enum { SETS_MAX = 200 };

struct asker {
    struct kube_client *client;
    unsigned timeout_ms;
    /* Names of all DaemonSets. NULL when unknown: then each is requested by its name. */
    json_t *names;
    /* Some object was refused, as usual for bootstrap tokens: a DaemonSet or a ConfigMap. */
    bool denied;
    bool no_sets;    /* A DaemonSet was refused. */
    bool no_objects; /* An agent's custom object was refused. */
};

/* ---- ConfigMaps ---- */

/* Reads a ConfigMap. *ret is a new reference, or stays NULL when it is absent or refused. */
static int find_config_map(struct asker *asker, const char *name_space, const char *name,
                           json_t **ret, struct error *err) {
    struct error why = {0};

    if (kube_configmap_get(asker->client, name_space, name, asker->timeout_ms, ret, &why) == 0)
        return 0;
    return kube_forgive(&why, &asker->denied, err);
}

/* Returns true when a DaemonSet has the agent's name in its own ("kube-flannel-ds-amd64"), or when
 * the names of DaemonSets are unknown. */
static bool may_run(const struct asker *asker, const struct network_agent *agent) {
    json_each_member(asker->names, name, value)
        if (strstr(name, agent->plugin))
            return true;
    return !asker->names;
}

/* Reads an agent's ConfigMaps until one has settings. When `left` is false, the first ConfigMap is
 * read, and those of older installations if a DaemonSet of the agent may run. When `left` is true,
 * only the ConfigMaps that the first call left out are read, for clusters where nothing else is
 * known. */
static int read_agent(struct asker *asker, const struct network_agent *agent, bool left,
                      struct agent_settings *ret, struct error *err) {
    for (const struct agent_source *s = agent->sources; s && s->name && !ret->agent; s++) {
        _cleanup_json_ json_t *map = NULL;
        bool first = s == agent->sources;
        const char *text;

        if (first ? left : may_run(asker, agent) == left)
            continue;
        if (find_config_map(asker, s->name_space, s->name, &map, err) < 0)
            return -1;
        if (!map)
            continue;
        text = json_string_value(json_object_get(json_at(map, "data"), s->key));
        if (text && (!*text || agent->read_settings(text, ret, err) == 0)) {
            ret->source = *text ? s : NULL;
            continue;
        }
        /* A retry does not help, because somebody must correct the ConfigMap. */
        if (!text)
            (void)error_set(err, ERROR_USAGE, "it has no key %s", s->key);
        (void)error_as(err, ERROR_USAGE);
        (void)error_prefix(err, "ConfigMap %s/%s", s->name_space, s->name);
        return error_hint(err, "correct it: kubectl -n %s edit configmap %s", s->name_space,
                          s->name);
    }
    return 0;
}

/* ---- DaemonSets ---- */

/* Finds a DaemonSet by its name in all namespaces; a right to this name is enough for such a
 * request. *ret is a new reference, or stays NULL when the DaemonSet is absent or refused. */
static int find_daemon_set(struct asker *asker, const char *name, json_t **ret, struct error *err) {
    _cleanup_(freep) char *path =
        xasprintf(DAEMON_SETS_PATH "?fieldSelector=metadata.name%%3D%s", name);
    _cleanup_json_ json_t *list = NULL;
    json_t *items = NULL;
    struct error why = {0};

    if (asker->names && !json_object_get(asker->names, name))
        return 0;
    if (kube_get_retry(asker->client, path, asker->timeout_ms, &list, &why) < 0) {
        int result = kube_forgive(&why, &asker->no_sets, err);

        asker->denied |= asker->no_sets;
        return result;
    }
    if (kube_list_items(list, &items, err) < 0)
        return error_prefix(err, "list DaemonSets");
    *ret = json_incref(json_array_get(items, 0));
    return 0;
}

/* Reads the settings of an agent with this DaemonSet: the variables of its containers, and for
 * missing variables the data of its ConfigMap. */
static int read_agent_settings(struct asker *asker, const struct daemon_set_agent *agent,
                               const json_t *daemon_set, struct agent_settings *ret,
                               struct error *err) {
    const char *name_space = json_text_at(daemon_set, "metadata.namespace");
    const struct agent_object *object = &agent->object;
    _cleanup_json_ json_t *variables = daemon_set_agent_variables(daemon_set), *map = NULL,
                          *others = NULL;
    _cleanup_json_ json_t *found = NULL;
    _cleanup_(freep) char *path = NULL, *absent = NULL;
    struct error why = {0};
    json_t *data;

    ret->daemon_set = kube_full_name(daemon_set);
    if ((agent->config_map && name_space &&
         find_config_map(asker, name_space, agent->config_map, &map, err) < 0) ||
        (agent->others_map && name_space &&
         find_config_map(asker, name_space, agent->others_map, &others, err) < 0))
        return -1;
    data = json_at(map, "data");
    if (data)
        (void)json_object_update_missing(variables, data);
    data = json_at(others, "data");
    if (data)
        json_object_set(variables, DAEMON_SET_AGENT_OTHERS, data);
    /* Also read the object with the agent's settings. When the object (not its whole kind) is
     * absent, the agent uses its defaults, so an empty object is stored. A forbidden object does
     * not count as absent. */
    if (object->group) {
        path = xasprintf("/apis/%s/%s/%s/%s", object->group, object->version, object->resource,
                         object->name);
        absent = xasprintf("\"%s\" not found", object->name);
        if (kube_get_retry(asker->client, path, asker->timeout_ms, &found, &why) == 0)
            json_object_set(variables, DAEMON_SET_AGENT_OBJECT, found);
        else if (kube_forgive(&why, &asker->no_objects, err) < 0)
            return -1;
        else if (why.kind == ERROR_ABSENT && strstr(why.message, absent))
            json_object_set_new(variables, DAEMON_SET_AGENT_OBJECT, json_object());
    }

    ret->variables = take_ptr(variables);
    if (agent->read && agent->read(ret->variables, ret, err) < 0) {
        (void)error_as(err, ERROR_USAGE); /* Somebody must correct the agent. */
        return error_prefix(err, "DaemonSet %s", ret->daemon_set);
    }
    if (!agent->read || ret->backend)
        ret->daemon_set_agent = agent;
    return 0;
}

/* Looks for an agent whose DaemonSet makes the network of Windows nodes, and for the DaemonSet of
 * kube-proxy. After the first refusal nothing more is requested. */
static int read_daemon_set_agent(struct asker *asker, struct agent_settings *ret,
                                 struct error *err) {
    _cleanup_json_ json_t *proxy = NULL;

    for (size_t i = 0; daemon_set_agents[i] && !ret->daemon_set_agent && !asker->denied; i++) {
        _cleanup_json_ json_t *daemon_set = NULL;

        if (find_daemon_set(asker, daemon_set_agents[i]->daemon_set, &daemon_set, err) < 0 ||
            (daemon_set &&
             read_agent_settings(asker, daemon_set_agents[i], daemon_set, ret, err) < 0))
            return -1;
    }
    if (asker->denied)
        return 0;
    if (find_daemon_set(asker, KUBE_PROXY_DAEMON_SET, &proxy, err) < 0)
        return -1;
    ret->kube_proxy = proxy ? kube_full_name(proxy) : NULL;
    return 0;
}

/* Finds an agent by the name of its DaemonSet alone. Searches the agents for Windows nodes that
 * have no ConfigMap first: in a cluster without flannel, flannel's ConfigMap may not be read, so a
 * refusal does not prove that it exists. When it finds none, it searches the agents that make the
 * network of Linux nodes. */
static int read_named(struct asker *asker, struct agent_settings *ret, struct error *err) {
    for (size_t i = 0; network_agents[i] && !ret->agent; i++) {
        const struct network_agent *agent = network_agents[i];
        _cleanup_json_ json_t *daemon_set = NULL;

        if (!agent->daemon_set || asker->no_sets)
            continue;
        if (find_daemon_set(asker, agent->daemon_set, &daemon_set, err) < 0)
            return -1;
        if (daemon_set) {
            ret->agent = agent;
            ret->daemon_set = kube_full_name(daemon_set);
        }
    }
    for (const struct linux_agent *agent = linux_agents; agent->title && !ret->agent; agent++)
        for (const char *const *name = agent->daemon_sets; *name; name++) {
            _cleanup_json_ json_t *daemon_set = NULL;

            if (asker->no_sets || ret->linux_agent)
                return 0;
            if (find_daemon_set(asker, *name, &daemon_set, err) < 0)
                return -1;
            if (daemon_set) {
                _cleanup_(freep) char *full_name = kube_full_name(daemon_set);

                ret->linux_agent = agent;
                ret->linux_set = xasprintf("DaemonSet %s", full_name);
            }
        }
    return 0;
}

/* ---- networks without a known name ---- */

/* Finds the DaemonSets that write CNI's configuration or programs on Linux nodes. *ret names them
 * in one text that the caller frees; it is NULL when nothing was found. DaemonSets without the
 * host's network do not count: they are additions such as a service mesh, on top of the network
 * that another DaemonSet makes. */
static int search_daemon_sets(struct kube_client *client, char **ret, struct error *err) {
    _cleanup_json_ json_t *list = NULL;
    _cleanup_(text_list_free) struct text_list found = {0};

    if (kube_pages_get(client, "/apis/apps/v1/daemonsets", &list, err) < 0)
        return -1;
    json_each(json_object_get(list, "items"), i, daemon_set) {
        const json_t *pod = json_at(daemon_set, "spec.template.spec");
        _cleanup_(freep) char *name = kube_full_name(daemon_set);
        bool writes = false;

        json_each(json_object_get(pod, "volumes"), v, volume) {
            const char *path = json_text_or(volume, "hostPath.path", "");

            writes |= *path == '/' && (strstr(path, "/cni/net.d") || strstr(path, "/cni/bin"));
        }
        if (writes && json_bool_at(pod, "hostNetwork", false))
            text_list_add_owned(&found, xasprintf("DaemonSet %s", name));
    }
    *ret = found.count ? text_list_join(&found, ", ") : NULL;
    return 0;
}

/* ---- all agents of the cluster ---- */

int cluster_network_read(struct kube_client *client, unsigned timeout_ms,
                         struct agent_settings *ret, bool *ret_unread, struct error *err) {
    struct asker asker = {.client = client, .timeout_ms = timeout_ms};
    struct agent_settings others = {0};
    struct error why = {0};
    bool denied = false;
    int result = kube_names_get(client, DAEMON_SETS_PATH, SETS_MAX, timeout_ms, &asker.names, &why);

    /* The names stay unknown in two cases: an older manifest of `winjoin config cluster` grants
     * each DaemonSet by its name alone, or there are more DaemonSets than one answer holds. */
    if (result < 0)
        result = why.kind == ERROR_UNSUPPORTED ? 0 : kube_forgive(&why, &denied, err);
    if (result == 0)
        result = read_daemon_set_agent(&asker, ret, err);
    for (size_t i = 0; network_agents[i] && result == 0 && !others.agent; i++)
        result = read_agent(&asker, network_agents[i], false, &others, err);
    if (result == 0 && !others.agent && !ret->daemon_set_agent)
        result = read_named(&asker, &others, err);
    for (size_t i = 0; network_agents[i] && asker.names && result == 0 && !others.agent &&
                       !ret->daemon_set_agent && !others.linux_agent;
         i++)
        result = read_agent(&asker, network_agents[i], true, &others, err);
    /* A cluster without a known agent may still have a network. */
    if (result == 0 && !others.agent && !ret->daemon_set_agent && !others.linux_agent &&
        !asker.no_sets) {
        error_clear(&why);
        if (search_daemon_sets(client, &others.linux_set, &why) < 0) {
            result = kube_forgive(&why, &asker.no_sets, err);
            asker.denied |= asker.no_sets;
        }
        others.linux_agent = others.linux_set ? &linux_agent_unknown : NULL;
    }
    *ret_unread |= asker.denied || asker.no_objects;
    json_decref(asker.names);
    daemon_set_agent_settle(ret, &others);
    return result;
}

/* ---- the search with an administrator's rights ---- */

int cluster_network_search(struct kube_client *client, struct agent_settings *settings,
                           struct error *err) {
    const struct linux_agent *known = settings->linux_agent;
    _cleanup_json_ json_t *nodes = NULL;
    _cleanup_(freep) char *found = NULL;

    if (known == &linux_agent_unknown)
        /* This is the result of an earlier search; it is kept when this search fails. */
        known = NULL;
    if (settings->agent || (known && !known->annotation))
        return 0;
    if (kube_nodes_get(client, &nodes, err) < 0)
        return -1;
    if (known) {
        json_each(json_object_get(nodes, "items"), i, node)
            if (json_object_get(json_at(node, "metadata.annotations"), known->annotation)) {
                settings->agent = network_agent_by_plugin(known->plugin);
                settings->linux_agent = NULL;
            }
        return 0;
    }

    if (search_daemon_sets(client, &found, err) < 0)
        return -1;
    json_each(json_object_get(nodes, "items"), i, item) {
        _cleanup_(kube_node_free) struct kube_node node = {0};

        if (found)
            break;
        if (kube_node_from_json(item, &node, err) < 0)
            return -1;
        if (node.ready && !text_equal(node.os, "windows"))
            found = xasprintf("its node %s is Ready, as without one none is", node.name);
    }
    settings->linux_agent = found ? &linux_agent_unknown : NULL;
    text_set(&settings->linux_set, take_ptr(found));
    return 0;
}
