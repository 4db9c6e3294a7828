/* Stand-in for containernetworking's host-local.exe: addresses from a range, kept as files named by
 * the address, <id> CR LF <interface> inside, with last_reserved_ip.0 and lock beside them. */
#include "base/cidr.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/lib/cni_plugin.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

struct range {
    struct cidr subnet;
    struct ip first, last, gateway;
};

struct store {
    char *folder;
    HANDLE lock;
};

/* Upstream's default and relative paths stand on the current drive. */
static char *on_drive(const char *path) {
    return path[0] == '/' || path[0] == '\\' ? xasprintf("C:%s", path) : xstrdup(path);
}

static int open_store(const struct cni_call *call, struct store *ret, struct error *err) {
    const char *folder = json_text_at(call->conf, "ipam.dataDir");
    _cleanup_(freep) char *base = on_drive(folder ? folder : "/var/lib/cni/networks");
    _cleanup_(freep) char *path = xasprintf("%s\\%s", base, json_text_at(call->conf, "name"));
    _cleanup_(freep) char *lock = xasprintf("%s\\lock", path);
    OVERLAPPED at = {0};

    if (host_make_folder(call->host, path, HOST_PUBLIC, err))
        return -1;
    HANDLE file =
        CreateFileA(lock, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                    OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE || !LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &at))
        return error_set_os(err, ERROR_HOST, GetLastError(), "cannot lock '%s'", lock);
    *ret = (struct store){take_ptr(path), file};
    return 0;
}

static void close_store(struct store *store) {
    free(store->folder);
    if (store->lock)
        CloseHandle(store->lock);
}

static int bound(const json_t *range, const char *name, const struct cidr *subnet, uint64_t nth,
                 struct ip *ret, struct error *err) {
    const char *text = json_text_at(range, name);

    return text ? ip_parse(text, ret, err) : cidr_address(subnet, nth, ret, err);
}

/* ranges[0][0], or the older ipam.subnet with its siblings. */
static int read_range(const struct cni_call *call, struct range *ret, struct error *err) {
    const json_t *given = json_at(call->conf, "ipam.ranges.0.0");
    const json_t *range = given ? given : json_at(call->conf, "ipam");
    const char *subnet = json_text_at(range, "subnet");

    if (!subnet)
        return error_set(err, ERROR_USAGE, "no IP ranges specified");
    if (cidr_parse(subnet, &ret->subnet, err) ||
        bound(range, "rangeStart", &ret->subnet, 1, &ret->first, err) ||
        bound(range, "gateway", &ret->subnet, 1, &ret->gateway, err))
        return -1;
    if (ret->subnet.base.family != 4)
        return error_set(err, ERROR_UNSUPPORTED, "this host-local stand-in speaks IPv4");
    cidr_last(&ret->subnet, &ret->last);
    ret->last.bytes[3]--; /* not the broadcast address */
    return json_text_at(range, "rangeEnd") ? bound(range, "rangeEnd", NULL, 0, &ret->last, err) : 0;
}

static uint32_t number(const struct ip *ip) {
    return (uint32_t)ip->bytes[0] << 24 | (uint32_t)ip->bytes[1] << 16 |
           (uint32_t)ip->bytes[2] << 8 | ip->bytes[3];
}

static void address_text(uint32_t n, char out[IP_TEXT_MAX]) {
    struct ip ip = {.family = 4};

    for (int i = 0; i < 4; i++)
        ip.bytes[i] = (uint8_t)(n >> (24 - 8 * i));
    ip_format(&ip, out);
}

static char *content_of(const struct cni_call *call) {
    return xasprintf("%s\r\n%s", call->container, call->interface);
}

/* Calls visit for each reservation of this container and interface. */
static int each_own(const struct cni_call *call, const struct store *store,
                    int (*visit)(const struct cni_call *, const char *path, struct error *),
                    struct error *err) {
    _cleanup_(freep) char *mine = content_of(call);
    struct text_list names = {0};
    int result = host_list(call->host, store->folder, &names, err);

    for (size_t i = 0; result == 0 && i < names.count; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", store->folder, names.items[i]);
        _cleanup_(freep) char *content = NULL;
        struct error unreadable = {0};
        size_t len;
        if (text_equal(names.items[i], "lock") ||
            host_read(call->host, path, 4096, &content, &len, &unreadable))
            continue; /* not a reservation */
        if (text_equal(content, mine))
            result = visit(call, path, err);
    }
    text_list_free(&names);
    return result;
}

static int refuse(const struct cni_call *call, const char *path, struct error *err) {
    return error_set(err, ERROR_CONFLICT,
                     "%s has been allocated to %s, duplicate allocation is not allowed",
                     strrchr(path, '\\') + 1, call->container);
}

static int release(const struct cni_call *call, const char *path, struct error *err) {
    return host_remove(call->host, path, err);
}

/* Takes the address when nobody has it: 1 taken, 0 not free, -1. */
static int reserve(const struct cni_call *call, const struct store *store, const char *address,
                   struct error *err) {
    _cleanup_(freep) char *path = xasprintf("%s\\%s", store->folder, address);
    _cleanup_(freep) char *last = xasprintf("%s\\last_reserved_ip.0", store->folder);
    _cleanup_(freep) char *content = content_of(call);

    if (host_file_type(call->host, path) != HOST_ABSENT)
        return 0;
    if (host_write(call->host, path, content, strlen(content), HOST_PUBLIC, err) ||
        host_write(call->host, last, address, strlen(address), HOST_PUBLIC, err))
        return -1;
    return 1;
}

static uint32_t after_last(const struct cni_call *call, const struct store *store,
                           const struct range *range) {
    _cleanup_(freep) char *path = xasprintf("%s\\last_reserved_ip.0", store->folder);
    _cleanup_(freep) char *text = NULL;
    struct error none = {0};
    struct ip last;
    size_t len;

    if (host_read(call->host, path, 64, &text, &len, &none) || ip_parse(text, &last, &none) ||
        number(&last) < number(&range->first) || number(&last) >= number(&range->last))
        return number(&range->first);
    return number(&last) + 1;
}

static int allocate(const struct cni_call *call, const struct store *store,
                    const struct range *range, char out[IP_TEXT_MAX], struct error *err) {
    uint32_t first = number(&range->first), last = number(&range->last);
    uint32_t start = after_last(call, store, range), size = last - first + 1;

    for (uint32_t i = 0; i < size; i++) {
        uint32_t n = first + (start - first + i) % size;
        if (n == number(&range->gateway))
            continue;
        address_text(n, out);
        int taken = reserve(call, store, out, err);
        if (taken)
            return taken > 0 ? 0 : -1;
    }
    return error_set(err, ERROR_HOST, "no IP addresses available in range set");
}

static json_t *result_of(const struct cni_call *call, const struct range *range,
                         const char *address) {
    const char *version = json_text_at(call->conf, "cniVersion");
    _cleanup_(freep) char *sized = xasprintf("%s/%d", address, range->subnet.length);
    char gateway[IP_TEXT_MAX];

    ip_format(&range->gateway, gateway);
    if (!version || text_starts_with(version, "0.1") || text_starts_with(version, "0.2"))
        return json_pack("{s:s,s:{s:s,s:s},s:{}}", "cniVersion", version ? version : "0.2.0", "ip4",
                         "ip", sized, "gateway", gateway, "dns");
    json_t *result = json_pack("{s:s,s:[{s:s,s:s}],s:{}}", "cniVersion", version, "ips", "address",
                               sized, "gateway", gateway, "dns");
    if (text_starts_with(version, "0."))
        (void)json_object_set_new(json_at(result, "ips.0"), "version", json_string("4"));
    return result;
}

static int add(const struct cni_call *call, json_t **ret, struct error *err) {
    struct store store = {0};
    struct range range;
    char address[IP_TEXT_MAX];
    int result = -1;

    if (read_range(call, &range, err) || open_store(call, &store, err))
        return -1;
    if (each_own(call, &store, refuse, err) == 0 &&
        allocate(call, &store, &range, address, err) == 0) {
        *ret = result_of(call, &range, address);
        result = 0;
    }
    close_store(&store);
    return result;
}

static int del(const struct cni_call *call, json_t **ret, struct error *err) {
    struct store store = {0};
    int result;

    (void)ret;
    if (open_store(call, &store, err))
        return -1;
    result = each_own(call, &store, release, err);
    close_store(&store);
    return result;
}

int main(void) {
    return cni_main(add, del);
}
