/* The source VIP: its address, and its reservation in host-local's store. */
#include "netsetup/source_vip.h"

#include <string.h>

#include "base/memory.h"
#include "netsetup/cni_config.h"
#include "netsetup/modes/mode.h"
#include "netsetup/plugins/cni_plugin.h"

enum { RESERVATION_MAX = 4096 };
/* As host-local writes it: container id, line break, interface name. */
#define RESERVATION "winjoin\r\nsource-vip"

int source_vip_plan(const struct network_prefixes *prefixes, struct network_plan *plan,
                    struct error *err) {
    return network_prefixes_address(&prefixes->pod, 2, plan->source_vip, err);
}

const char *source_vip_reserved(const struct network_plan *plan) {
    const struct cni_plugin *cni = cni_plugin_by_name(plan->cni_plugin);
    if (plan->mode->source_vip)
        return plan->source_vip;
    return cni && cni->drops_ranges && !plan->ipv6.on && plan->host_endpoint_name
               ? plan->host_endpoint
               : NULL;
}

static char *network_folder(const char *network) {
    return xasprintf("%s\\%s", CNI_STATE_DIR, network);
}

static int read_reservation(struct host *host, const char *path, char **ret, struct error *err) {
    size_t len = 0;
    return host_read(host, path, RESERVATION_MAX, ret, &len, err);
}

/* Names in the store; a store that is not there is empty. */
static int list_store(struct host *host, const char *folder, struct text_list *ret,
                      struct error *err) {
    struct error list_err = {0};
    if (host_list(host, folder, ret, &list_err) == 0 || list_err.kind == ERROR_ABSENT)
        return 0;
    *err = list_err;
    return -1;
}

/* Gives back our reservations but the one for `keep` (NULL: all). */
static int release(struct host *host, const char *network, const char *keep, struct error *err) {
    _cleanup_(freep) char *folder = network_folder(network);
    _cleanup_(text_list_free) struct text_list names = {0};
    if (list_store(host, folder, &names, err) < 0)
        return -1;
    for (size_t i = 0; i < names.count; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", folder, names.items[i]);
        _cleanup_(freep) char *content = NULL;
        struct ip ip = {0};
        if (ip_parse(names.items[i], &ip, NULL) < 0 || text_equal(names.items[i], keep))
            continue; /* lock, last_reserved_ip.0 */
        if (read_reservation(host, path, &content, err) < 0)
            return -1;
        if (text_equal(content, RESERVATION) && host_remove(host, path, err) < 0)
            return -1;
    }
    return 0;
}

int source_vip_ensure(struct host *host, const struct network_plan *plan, struct error *err) {
    const char *reserved = source_vip_reserved(plan);
    if (!reserved)
        return 0;
    if (!plan->pod_cidr_known)
        return error_set(err, ERROR_USAGE, "reserve source VIP: the pod prefix is not known");
    _cleanup_(freep) char *path = xasprintf("%s\\%s\\%s", CNI_STATE_DIR, plan->name, reserved);
    _cleanup_(freep) char *content = NULL;
    struct error read_err = {0};
    if (release(host, plan->name, reserved, err) < 0)
        return error_prefix(err, "reserve source VIP");
    if (read_reservation(host, path, &content, &read_err) == 0) {
        if (text_equal(content, RESERVATION))
            return 0;
        (void)error_set(err, ERROR_CONFLICT,
                        "address '%s' is already reserved in '%s' by another container", reserved,
                        path);
        return error_hint(err,
                          "a pod of an earlier installation has it: remove that pod or the file");
    }
    if (read_err.kind != ERROR_ABSENT) {
        *err = read_err;
        return -1;
    }
    if (host_write(host, path, RESERVATION, strlen(RESERVATION), HOST_PUBLIC, err) < 0)
        return error_prefix(err, "reserve source VIP");
    return 0;
}

int source_vip_remove(struct host *host, const char *network_name, struct error *err) {
    if (release(host, network_name, NULL, err) < 0)
        return error_prefix(err, "release source VIP");
    return 0;
}

int ipam_stale_remove(struct host *host, const struct network_plan *plan, struct error *err) {
    _cleanup_(freep) char *folder = network_folder(plan->name);
    _cleanup_(text_list_free) struct text_list names = {0};
    struct cidr pods = {0};
    if (!plan->pod_cidr_known)
        return 0;
    if (cidr_parse(plan->pod_cidr, &pods, err) < 0 || list_store(host, folder, &names, err) < 0)
        return -1;
    for (size_t i = 0; i < names.count; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", folder, names.items[i]);
        struct ip ip = {0};
        if (ip_parse(names.items[i], &ip, NULL) < 0 || cidr_contains(&pods, &ip))
            continue;
        if (host_remove(host, path, err) < 0)
            return error_prefix(err, "remove stale reservation");
    }
    return 0;
}
