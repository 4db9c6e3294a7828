/* The server before a join, kept in before.json beside the kit, and held against what is there
 * later. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/windows_builds.h"
#include "services/service_table.h"
#include "tests/acceptance/acceptance.h"

/* Those a join makes, writes to, and leaves where others' files are in them. */
static const char *const folders[] = {"C:\\k",
                                      "C:\\etc\\cni",
                                      "C:\\etc\\kubernetes",
                                      "C:\\opt\\cni",
                                      "C:\\var\\lib\\kubelet",
                                      "C:\\Program Files\\containerd",
                                      "C:\\Windows\\System32\\wincni.log"};

static json_t *texts_without_link_local(const struct text_list *list) {
    json_t *ret = json_object();

    for (size_t i = 0; i < list->count; i++)
        if (!text_starts_with(list->items[i], "fe80") &&
            !text_starts_with(list->items[i], "169.254."))
            json_object_set_new(ret, list->items[i], json_true());
    return ret;
}

static int add_adapters(struct host *host, json_t *state, struct error *err) {
    json_t *adapters = json_object();
    struct host_adapters list = {0};

    json_object_set_new(state, "adapters", adapters);
    if (host_adapters(host, &list, err) < 0)
        return -1;
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].up)
            json_object_set_new(
                adapters, list.items[i].alias,
                json_pack("{s:o, s:o, s:o}", "addresses",
                          texts_without_link_local(&list.items[i].addresses), "dnsServers",
                          texts_without_link_local(&list.items[i].dns_servers), "gateways",
                          texts_without_link_local(&list.items[i].gateways)));
    host_adapters_free(&list);
    return 0;
}

static int add_networks(struct host *host, json_t *state, struct error *err) {
    _cleanup_json_ json_t *networks = NULL;
    json_t *names = json_object();
    const json_t *network;
    size_t i;

    json_object_set_new(state, "networks", names);
    if (hcn_list(host, HCN_NETWORK, NULL, NULL, &networks, err) < 0)
        return -1;
    json_array_foreach(networks, i, network)
        json_object_set_new(names, json_text_at(network, "Name"), json_true());
    return 0;
}

static int add_services(struct host *host, json_t *state, struct error *err) {
    json_t *services = json_object();

    json_object_set_new(state, "services", services);
    for (const struct service *const *s = service_table; *s; s++) {
        struct host_service found = {0};

        if (host_service_query(host, (*s)->name, &found, err) < 0)
            return -1;
        if (found.state != HOST_SERVICE_ABSENT)
            json_object_set_new(services, (*s)->name, json_string(found.command));
        host_service_free(&found);
    }
    return 0;
}

/* Registry values that --apply-host-fixes writes. */
static int add_fixes(struct host *host, json_t *state, struct error *err) {
    json_t *values = json_object();

    json_object_set_new(state, "registry", values);
    for (const struct host_fix *fix = host_fixes; fix->key; fix++) {
        _cleanup_(freep) char *data = NULL;
        struct error why = {0};

        if (host_registry_get(host, fix->key, fix->value, &data, &why) == 0)
            json_object_set_new(values, fix->value, json_string(data));
        else if (why.kind != ERROR_ABSENT)
            return *err = why, -1;
    }
    return 0;
}

/* New reference; NULL with a failed finding. */
static json_t *state_of(struct kit *kit, struct finding *f) {
    json_t *state = json_object(), *there = json_object();
    struct error err = {0};

    json_object_set_new(state, "folders", there);
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
        if (host_file_type(kit->host, folders[i]) != HOST_ABSENT)
            json_object_set_new(there, folders[i], json_true());
    if (add_adapters(kit->host, state, &err) == 0 && add_networks(kit->host, state, &err) == 0 &&
        add_services(kit->host, state, &err) == 0 && add_fixes(kit->host, state, &err) == 0)
        return state;
    finding_fail(f, "%s", err.message);
    json_decref(state);
    return NULL;
}

static char *file_of(const struct kit *kit) {
    return xasprintf("%s\\before.json", kit->folder);
}

void before_keep(struct kit *kit, struct finding *f) {
    _cleanup_json_ json_t *state = state_of(kit, f);
    _cleanup_(freep) char *path = file_of(kit), *text = state ? json_write(state) : NULL;
    struct error err = {0};

    if (text && host_write(kit->host, path, text, strlen(text), HOST_PUBLIC, &err) < 0)
        finding_fail(f, "%s", err.message);
}

/* NULL: this kit has joined nothing. */
static json_t *before(struct kit *kit, struct finding *f) {
    _cleanup_(freep) char *path = file_of(kit), *text = NULL;
    json_t *state = NULL;
    struct error err = {0};
    size_t len;

    if (host_read(kit->host, path, 1 << 20, &text, &len, &err) < 0 ||
        json_read(text, len, "before.json", &state, &err) < 0)
        finding_skip(f, "this kit has not made the server a node: %s", err.message);
    return state;
}

/* What is gone, and what is left. */
static void compare(const char *where, const json_t *was, const json_t *is, struct finding *f) {
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)was, key, value) {
        _cleanup_(freep) char *place = xasprintf("%s %s", where, key);
        const json_t *now = json_object_get(is, key);

        if (!now)
            finding_fail(f, "%s is gone", place);
        else if (json_is_object(value))
            compare(place, value, now, f);
        else if (!json_equal(value, (json_t *)now))
            finding_fail(f, "%s has changed", place);
    }
    json_object_foreach((json_t *)is, key, value) if (!json_object_get(was, key))
        finding_fail(f, "%s %s was not there", where, key);
}

void before_is_back(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_json_ json_t *was = before(kit, f);
    _cleanup_json_ json_t *is = was ? state_of(kit, f) : NULL;
    const char *area;
    json_t *value;

    (void)row;
    json_object_foreach(is ? was : NULL, area, value)
        compare(area, value, json_object_get(is, area), f);
    if (is && f->outcome == ROW_PASS)
        finding_note(f, "nothing is left, nothing is gone");
}

/* Adapters get other names by a virtual switch: what one had, one of them has. */
void before_adapters(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_json_ json_t *was = before(kit, f);
    _cleanup_json_ json_t *is = was ? state_of(kit, f) : NULL;
    const char *alias, *kind, *text, *other;
    json_t *adapter, *list, *value, *candidate;
    unsigned count = 0;

    (void)row;
    json_object_foreach(is ? json_object_get(was, "adapters") : NULL, alias, adapter)
        json_object_foreach(adapter, kind, list) json_object_foreach(list, text, value) {
        bool kept = false;

        json_object_foreach(json_object_get(is, "adapters"), other, candidate) kept =
            kept || json_object_get(json_object_get(candidate, kind), text);
        if (!kept)
            finding_fail(f, "%s %s of %s is on no adapter", kind, text, alias);
        count++;
    }
    if (is && f->outcome == ROW_PASS)
        finding_note(f, "%u addresses, DNS servers and gateways", count);
}
