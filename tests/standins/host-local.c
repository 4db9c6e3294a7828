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

/* ranges[n][0], or for the first the older ipam.subnet with its siblings. 1 = no such range. */
static int read_range(const struct cni_call *call, size_t n, struct range *ret, struct error *err) {
    _cleanup_(freep) char *path = xasprintf("ipam.ranges.%zu.0", n);
    const json_t *given = json_at(call->conf, path);
    const json_t *range = given || n ? given : json_at(call->conf, "ipam");
    const char *subnet = json_text_at(range, "subnet");

    if (!subnet && n)
        return 1;
    if (!subnet)
        return error_set(err, ERROR_USAGE, "no IP ranges specified");
    if (cidr_parse(subnet, &ret->subnet, err) ||
        bound(range, "rangeStart", &ret->subnet, 1, &ret->first, err) ||
        bound(range, "gateway", &ret->subnet, 1, &ret->gateway, err))
        return -1;
    ret->last = ret->subnet.base;
    for (int bit = ret->subnet.length; bit < (ret->last.family == 4 ? 32 : 128); bit++)
        ret->last.bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
    if (ret->subnet.base.family == 4)
        ret->last.bytes[3]--; /* not the broadcast address */
    return json_text_at(range, "rangeEnd") ? bound(range, "rangeEnd", NULL, 0, &ret->last, err) : 0;
}

/* Of IPv6 the half that tells addresses of one network apart. */
static uint64_t number(const struct ip *ip) {
    size_t from = ip->family == 4 ? 0 : 8, bytes = ip->family == 4 ? 4 : 8;
    uint64_t n = 0;

    for (size_t i = 0; i < bytes; i++)
        n = n << 8 | ip->bytes[from + i];
    return n;
}

static void address_text(const struct range *range, uint64_t n, char out[IP_TEXT_MAX]) {
    struct ip ip = range->subnet.base;
    size_t last = ip.family == 4 ? 3 : 15;

    for (size_t i = 0; i < (ip.family == 4 ? 4u : 8u); i++)
        ip.bytes[last - i] = (uint8_t)(n >> 8 * i);
    ip_format(&ip, out);
}

/* A file's name cannot have a colon. */
static char *path_of(const struct store *store, const char *address) {
    char *path = xasprintf("%s\\%s", store->folder, address);

    for (char *p = path + strlen(store->folder); *p; p++)
        *p = *p == ':' ? '_' : *p;
    return path;
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
static int reserve(const struct cni_call *call, const struct store *store, size_t nth,
                   const char *address, struct error *err) {
    _cleanup_(freep) char *path = path_of(store, address);
    _cleanup_(freep) char *last = xasprintf("%s\\last_reserved_ip.%zu", store->folder, nth);
    _cleanup_(freep) char *content = content_of(call);

    if (host_file_type(call->host, path) != HOST_ABSENT)
        return 0;
    if (host_write(call->host, path, content, strlen(content), HOST_PUBLIC, err) ||
        host_write(call->host, last, address, strlen(address), HOST_PUBLIC, err))
        return -1;
    return 1;
}

static uint64_t after_last(const struct cni_call *call, const struct store *store, size_t nth,
                           const struct range *range) {
    _cleanup_(freep) char *path = xasprintf("%s\\last_reserved_ip.%zu", store->folder, nth);
    _cleanup_(freep) char *text = NULL;
    struct error none = {0};
    struct ip last;
    size_t len;

    if (host_read(call->host, path, 64, &text, &len, &none) || ip_parse(text, &last, &none) ||
        number(&last) < number(&range->first) || number(&last) >= number(&range->last))
        return number(&range->first);
    return number(&last) + 1;
}

static int allocate(const struct cni_call *call, const struct store *store, size_t nth,
                    const struct range *range, char out[IP_TEXT_MAX], struct error *err) {
    uint64_t first = number(&range->first), last = number(&range->last);
    uint64_t start = after_last(call, store, nth, range), size = last - first + 1;

    for (uint64_t i = 0; i < size; i++) {
        uint64_t n = first + (start - first + i) % size;
        if (n == number(&range->gateway))
            continue;
        address_text(range, n, out);
        int taken = reserve(call, store, nth, out, err);
        if (taken)
            return taken > 0 ? 0 : -1;
    }
    return error_set(err, ERROR_HOST, "no IP addresses available in range set");
}

/* Adds an address to the result in the words of its version. */
static void add_address(const struct range *range, const char *address, json_t *result) {
    _cleanup_(freep) char *sized = xasprintf("%s/%d", address, range->subnet.length);
    bool ipv6 = range->subnet.base.family == 6;
    char gateway[IP_TEXT_MAX];

    ip_format(&range->gateway, gateway);
    json_t *shown = json_pack("{s:s,s:s}", json_object_get(result, "ips") ? "address" : "ip", sized,
                              "gateway", gateway);
    if (!json_object_get(result, "ips")) {
        (void)json_object_set_new(result, ipv6 ? "ip6" : "ip4", shown); /* no memory only */
        return;
    }
    if (text_starts_with(json_text_at(result, "cniVersion"), "0."))
        (void)json_object_set_new(shown, "version", json_string(ipv6 ? "6" : "4"));
    (void)json_array_append_new(json_object_get(result, "ips"), shown);
}

static json_t *result_new(const struct cni_call *call) {
    const char *version = json_text_at(call->conf, "cniVersion");
    json_t *result = json_pack("{s:s,s:{}}", "cniVersion", version ? version : "0.2.0", "dns");

    if (version && !text_starts_with(version, "0.1") && !text_starts_with(version, "0.2"))
        (void)json_object_set_new(result, "ips", json_array()); /* no memory only */
    return result;
}

/* An address of each range set. */
static int add_all(const struct cni_call *call, const struct store *store, json_t *result,
                   struct error *err) {
    struct range range;
    char address[IP_TEXT_MAX];
    int more;

    for (size_t n = 0; (more = read_range(call, n, &range, err)) == 0; n++) {
        if (allocate(call, store, n, &range, address, err))
            return -1;
        add_address(&range, address, result);
    }
    return more < 0 ? -1 : 0;
}

static int add(const struct cni_call *call, json_t **ret, struct error *err) {
    _cleanup_(json_decrefp_) json_t *made = result_new(call);
    struct store store = {0};
    int result = -1;

    if (open_store(call, &store, err))
        return -1;
    if (each_own(call, &store, refuse, err) == 0 && add_all(call, &store, made, err) == 0) {
        *ret = json_incref(made);
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
