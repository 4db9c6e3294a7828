/* Agents of DaemonSets: a DaemonSet of the cluster (Calico, Antrea, flannel in HostProcess
 * containers) makes the HNS network, writes the CNI configuration, and brings kube-proxy or does
 * its work. A join must not disturb it: Antrea refuses an adapter that has a virtual switch, and
 * Calico deletes every HNS network except nat. Sources: Calico's node/windows-packaging, Antrea's
 * docs/windows.md. */
#include "netsetup/agents/daemon_set_agent.h"
#include "netsetup/netsetup.h"
#include "netsetup/hns/hcn_network.h"

#define ROW(agent) &daemon_set_agent_##agent,
const struct daemon_set_agent *const daemon_set_agents[] = {DAEMON_SET_AGENTS(ROW) NULL};

const struct daemon_set_agent *daemon_set_agent_by_name(const char *name) {
    for (size_t i = 0; daemon_set_agents[i]; i++)
        if (text_equal(daemon_set_agents[i]->name, name))
            return daemon_set_agents[i];
    return NULL;
}

const struct daemon_set_network *daemon_set_agent_network(const struct daemon_set_agent *agent,
                                                          const struct network_mode *mode) {
    for (const struct daemon_set_network *n = agent ? agent->networks : NULL; n && n->mode; n++)
        if (text_equal(n->mode, mode->name))
            return n;
    return NULL;
}

int daemon_set_network_find(struct host *host, const struct daemon_set_network *wanted,
                            struct hcn_network *ret, struct error *err) {
    _cleanup_json_ json_t *list = NULL;
    if (hcn_list(host, HCN_NETWORK, NULL, NULL, &list, err) < 0)
        return -1;
    json_each(list, i, json) {
        struct hcn_network network = {0};
        if (hcn_network_parse(json, &network, err) < 0)
            return -1;
        if (!text_equal_nocase(network.type, wanted->hns_type) ||
            (wanted->base && text_equal(network.name, wanted->base)))
            continue;
        *ret = network;
        return 0;
    }
    return error_set(err, ERROR_ABSENT, "HNS has no network of type %s like '%s'", wanted->hns_type,
                     wanted->name);
}

json_t *daemon_set_agent_variables(const json_t *daemon_set) {
    const json_t *spec = json_at(daemon_set, "spec.template.spec");
    _cleanup_json_ json_t *containers = json_array();
    json_t *ret = json_object();
    json_each(json_object_get(spec, "volumes"), i, volume) {
        const char *name = json_text_at(volume, "name");
        const char *path = json_text_at(volume, "hostPath.path");
        if (name && path)
            json_object_set_new(ret, name, json_string(path));
    }
    json_array_extend(containers, json_object_get(spec, "initContainers"));
    json_array_extend(containers, json_object_get(spec, "containers"));
    json_each(containers, i, container) {
        json_each(json_object_get(container, "env"), k, variable) {
            const char *name = json_text_at(variable, "name");
            const char *value = json_text_at(variable, "value");
            if (name && value)
                json_object_set_new(ret, name, json_string(value));
        }
    }
    return ret;
}

int daemon_set_agent_prefixes(const char *text, const char *what, struct text_list *ret,
                              struct error *err) {
    _cleanup_(text_list_free) struct text_list list = {0};
    text_list_split(&list, text ? text : "", ',');
    for (size_t i = 0; i < list.count; i++) {
        struct cidr cidr;
        if (!*list.items[i])
            continue;
        if (cidr_parse(list.items[i], &cidr, err) < 0)
            return error_prefix(err, "%s", what);
        text_list_add(ret, list.items[i]);
    }
    return 0;
}

bool daemon_set_agent_same_folder(const char *path, const char *folder) {
    static const char mounted[] = "/host/";
    const char *a = path, *b = folder + strcspn(folder, ":") + 1;
    if (text_starts_with(a, mounted))
        a += sizeof mounted - 2;
    if (*a && a[1] == ':') {
        if (((unsigned char)*a | 0x20U) != ((unsigned char)*folder | 0x20U))
            return false;
        a += 2;
    }
    for (;;) {
        a += strspn(a, "/\\");
        b += strspn(b, "/\\");
        size_t a_len = strcspn(a, "/\\"), b_len = strcspn(b, "/\\");
        _cleanup_(freep) char *a_part = xstrndup(a, a_len), *b_part = xstrndup(b, b_len);
        if (!text_equal_nocase(a_part, b_part))
            return false;
        if (!a_len)
            return true;
        a += a_len;
        b += b_len;
    }
}

/* Refuses an agent that writes its CNI files to other folders than those in which containerd looks.
 * `ours` ends with NULL. */
static int check_folder(const struct agent_settings *settings, const char *const *names,
                        const char *const *ours, struct error *err) {
    const char *theirs = NULL;
    while (names && *names && !theirs) {
        theirs = json_string_value(json_object_get(settings->variables, *names));
        names += !theirs;
    }
    if (!theirs || !*theirs)
        return 0;
    for (size_t i = 0; ours[i]; i++)
        if (daemon_set_agent_same_folder(theirs, ours[i]))
            return 0;
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "DaemonSet %s writes to '%.80s', but this node's containerd reads '%s'",
                    settings->daemon_set, theirs, ours[0]);
    return error_hint(err, "set %s of the DaemonSet to %s", *names, ours[0]);
}

static int check_settings(const struct agent_settings *settings, struct error *err) {
    const struct daemon_set_agent *agent = settings->daemon_set_agent;
    const struct containerd_settings *found = settings->containerd;
    const char *const bin[] = {CNI_BIN_DIR, NULL};
    const char *const conf[] = {found ? found->conf_dir : CNI_CONF_DIR, NULL};
    if (!agent)
        return 0;
    if (check_folder(settings, agent->cni_bin,
                     found ? (const char *const *)found->bin_dirs.items : bin, err) < 0 ||
        check_folder(settings, agent->cni_conf, conf, err) < 0)
        return -1;
    if (agent->settings_of && agent->settings_of->check_settings(settings, err) < 0)
        return -1;
    return agent->check ? agent->check(settings, err) : 0;
}

/* After a start of Windows the agent's network is gone, or the agent deletes it before it makes a
 * new one (Calico). Its CNI file is still there, so Pods would start without a network. Without the
 * file the Node is not Ready, and the taint node.kubernetes.io/not-ready keeps Pods away. The
 * agent's own Pods use the host's network, so the agent starts anyway and writes the file again.
 * For an unknown agent this is not certain, so its file stays. */
static int restore(const struct network_restore *restore, struct error *err) {
    _cleanup_(freep) char *path = NULL, *folder = NULL;
    _cleanup_json_ json_t *conf = NULL;
    const struct daemon_set_agent *agent =
        daemon_set_agent_by_name(restore->input->daemon_set_agent);
    if (!restore->booting || !agent)
        return 0;
    folder = containerd_cni_folder(restore->host);
    if (cni_config_read(restore->host, folder, &path, &conf, ERROR_IGNORED) < 0)
        return 0; /* No CNI configuration that containerd would use. */
    if (host_remove(restore->host, path, err) < 0)
        return -1;
    text_list_add_owned(restore->did,
                        xasprintf("removed %s until %s writes it again", path, agent->title));
    return 0;
}

/* The agent that the cluster brings. It has no names for modes, because the agent in the cluster
 * has its own; winjoin opens the firewall for the mode that is given. No such agent uses a switch
 * that is on no adapter. */
const struct network_agent network_agent_external = {
    .plugin = "external",
    .makes_network = true,
    .wait_seconds = 900, /* A long wait, since the agent's images may have some gigabytes. */
    .in_cluster = true,
    .keeps_routes = true,
    .check_settings = check_settings,
    .restore = restore,
};
