/* A cluster's API server that knows DaemonSets and ConfigMaps of network agents. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/configuration/cluster_config.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

#define PROXY "kube-system/kube-proxy-windows"
#define NET_CONF                                                                                   \
    "{\"Network\": \"10.244.0.0/16\", \"Backend\": {\"Type\": \"vxlan\", \"VNI\": 4096, "          \
    "\"Port\": 4789}}"

/* A cluster: DaemonSets "namespace/name", variables of the first, a ConfigMap's data. */
struct cluster {
    const char *sets[3];
    const char *variables[4][2];
    const char *map, *data[2][2];
    const char *others[2][2]; /* data of ConfigMap antrea-config */
    const char *net_conf;     /* of kube-flannel-cfg */
    const char *refused;      /* in the path: 403 */
    bool by_name;             /* DaemonSets may be listed by name alone */
    bool many;                /* there are more of them than one answer holds */
    const char *failing;      /* in the path: 422 */
    const char *node_pods;    /* the Node's podCIDR */
    const char *services;     /* kubeadm's serviceSubnet */
    bool loose;               /* Calico's strictAffinity is off */
    bool unset;               /* it has no IPAMConfig */
    const char *cni_bin;      /* on the host, of the first one's volume */
    bool host_network;        /* of their pods */
};
struct scene {
    struct host *host;
    struct http *http;
    struct kube_client client;
    const struct cluster *cluster;
    struct cluster_config config;
    struct error err;
};

static json_t *daemon_set(const struct cluster *cluster, const char *name) {
    size_t len = strcspn(name, "/");
    _cleanup_(freep) char *name_space = xstrndup(name, len);
    json_t *variables = json_array();
    for (size_t i = 0; i < ARRAY_SIZE(cluster->variables) && cluster->variables[i][0]; i++)
        json_array_append_new(variables, json_pack("{s:s, s:s}", "name", cluster->variables[i][0],
                                                   "value", cluster->variables[i][1]));
    json_array_append_new(variables, json_pack("{s:s, s:{}}", "name", "NODENAME", "valueFrom"));
    return json_pack("{s:{s:s, s:s}, s:{s:{s:{s:b, s:[{s:s}], s:[{s:o}], s:[{s:s, s:{s:s*}}]}}}}",
                     "metadata", "namespace", name_space, "name", name + len + 1, "spec",
                     "template", "spec", "hostNetwork", cluster->host_network, "initContainers",
                     "name", "install", "containers", "env", variables, "volumes", "name",
                     "cni-bin-dir", "hostPath", "path", cluster->cni_bin);
}

/* A line each, as of a list of all. */
static json_t *set_names(const struct cluster *c) {
    json_t *rows = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(c->sets) && c->sets[i]; i++)
        json_array_append_new(rows,
                              json_pack("{s:[s, i]}", "cells", strchr(c->sets[i], '/') + 1, 1));
    return json_pack("{s:s, s:{s:s}, s:o}", "kind", "Table", "metadata", "continue",
                     c->many ? "x" : "", "rows", rows);
}

static json_t *answer_object(const struct cluster *c, const char *url) {
    const char *name = strstr(url, "metadata.name%3D");
    if (name || strstr(url, "/daemonsets?limit=")) {
        json_t *items = json_array();
        for (size_t i = 0; i < ARRAY_SIZE(c->sets) && c->sets[i]; i++) {
            if (!name || text_equal(strchr(c->sets[i], '/') + 1, name + strlen("metadata.name%3D")))
                json_array_append_new(items, daemon_set(c, c->sets[i]));
        }
        return json_pack("{s:s, s:o}", "kind", "DaemonSetList", "items", items);
    }
    if (strstr(url, "/daemonsets?"))
        return set_names(c);
    if (c->net_conf && strstr(url, "/kube-flannel/configmaps/kube-flannel-cfg"))
        return json_pack("{s:{s:s}}", "data", "net-conf.json", c->net_conf);
    if (c->map && text_ends_with(url, c->map)) {
        json_t *data = json_object();
        for (size_t i = 0; i < ARRAY_SIZE(c->data) && c->data[i][0]; i++)
            json_object_set_new(data, c->data[i][0], json_string(c->data[i][1]));
        return json_pack("{s:o}", "data", data);
    }
    if (c->loose && text_ends_with(url, "/ipamconfigs/default"))
        return json_pack("{s:{s:b}}", "spec", "strictAffinity", 0);
    if (c->others[0][0] && text_ends_with(url, "/kube-system/configmaps/antrea-config"))
        return json_pack("{s:{s:s, s:s*}}", "data", c->others[0][0], c->others[0][1],
                         c->others[1][0] ? c->others[1][0] : "none", c->others[1][1]);
    return NULL;
}

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    struct scene *s = context;
    bool refused = (s->cluster->refused && strstr(request->url, s->cluster->refused)) ||
                   (s->cluster->by_name && strstr(request->url, "/daemonsets?") &&
                    !strstr(request->url, "fieldSelector"));
    _cleanup_json_ json_t *object = refused ? NULL : answer_object(s->cluster, request->url);
    bool failing = s->cluster->failing && strstr(request->url, s->cluster->failing);
    (void)err;
    ret->status = refused ? 403 : failing ? 422 : object ? 200 : 404;
    ret->body = object ? json_write(object)
                : s->cluster->unset && text_ends_with(request->url, "/ipamconfigs/default")
                    ? xstrdup("{\"message\":\"ipamconfigs \\\"default\\\" not found\"}")
                    : xstrdup("{\"message\":\"no\"}");
    ret->body_len = strlen(ret->body);
    return 0;
}

static void open_scene(struct scene *s, const struct cluster *cluster) {
    struct kubeconfig config = {
        .server = (char *)"https://k", .ca_pem = (char *)"CA", .token = (char *)"t"};
    *s = (struct scene){.cluster = cluster, .host = host_memory_new()};
    s->http = http_memory_new(answer, s);
    assert_int_equal(kube_client_open(s->http, s->host, &config, &s->client, NULL), 0);
}

static void close_scene(struct scene *s) {
    cluster_config_free(&s->config);
    kube_client_close(&s->client);
    http_free(s->http);
    host_free(s->host);
}

static int read_network(struct scene *s) {
    return cluster_network_read(&s->client, 3000, &s->config.network, &s->config.network_unread,
                                &s->err);
}

#define CALICO "calico-system/calico-node-windows"
#define ANTREA "kube-system/antrea-agent-windows"
#define FLANNEL "kube-flannel/kube-flannel-ds-windows-amd64"
#define ANTREA_MAP "/kube-system/configmaps/antrea-windows-config"
#define CONF "antrea-agent.conf"
#define CONTROLLER "antrea-controller.conf"
#define CNS "kube-system/azure-cns-win"
#define HOST_GW "{\"Network\": \"10.244.0.0/16\", \"Backend\": {\"Type\": \"host-gw\"}}"
