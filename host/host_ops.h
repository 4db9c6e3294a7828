/* What one kind of host implements: the table behind host.h. Only files in host/ and the tests' own
 * host include this. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "host/host.h"
#include "host/http.h"

/* What an interface has for each family, 4 and 6: whether it forwards (0, 1), and its metric. */
enum host_interface_value { HOST_INTERFACE_FORWARDING, HOST_INTERFACE_METRIC };

/* host.c has checked the arguments (no NULL, paths absolute and with '\\', numbers in range) and
 * hands these the rest; the contracts stand in host.h. */
struct host_ops {
    int (*read)(struct host *, const char *path, size_t max, char **ret, size_t *ret_len,
                struct error *);
    int (*read_part)(struct host *, const char *path, uint64_t offset, size_t max, char **ret,
                     size_t *ret_len, uint64_t *ret_size, struct error *);
    int (*write)(struct host *, const char *path, const void *data, size_t len,
                 enum host_access access, struct error *);
    int (*write_part)(struct host *, const char *path, uint64_t offset, const void *data,
                      size_t len, enum host_access access, struct error *);
    int (*make_folder)(struct host *, const char *path, enum host_access access, struct error *);
    int (*access_get)(struct host *, const char *path, char **ret, struct error *);
    int (*access_set)(struct host *, const char *path, const char *access, struct error *);
    int (*stranger)(struct host *, const char *path, struct host_stranger *ret, struct error *);
    int (*remove)(struct host *, const char *path, bool tree, struct error *);
    int (*rename)(struct host *, const char *from, const char *to, struct error *);
    int (*link)(struct host *, const char *path, const char *target, struct error *);
    enum host_file_type (*file_type)(struct host *, const char *path);
    int (*list)(struct host *, const char *path, struct text_list *ret, struct error *);
    int (*free_space)(struct host *, const char *path, uint64_t *ret, struct error *);

    int (*service_put)(struct host *, const struct host_service *service, struct error *);
    int (*service_query)(struct host *, const char *name, struct host_service *ret, struct error *);
    int (*service_start)(struct host *, const char *name, unsigned timeout_ms, struct error *);
    int (*service_stop)(struct host *, const char *name, unsigned timeout_ms, struct error *);
    int (*service_delete)(struct host *, const char *name, unsigned timeout_ms, struct error *);

    /* One export of computenetwork.dll or vmcompute.dll by its name. `arguments` are its inputs in
     * order (NULL allowed); handles are texts that this host chose. *ret_result is the first output
     * that is not the ErrorRecord (a handle, a list, properties, a response). 0: it was called and
     * *ret_hresult says how it went; -1: it could not be called (ERROR_UNSUPPORTED) or did not come
     * back in time (ERROR_TIMED_OUT). The caller frees the texts. */
    int (*hns)(struct host *, const char *function, const char *const *arguments, size_t count,
               unsigned timeout_ms, char **ret_result, char **ret_error_record,
               uint32_t *ret_hresult, struct error *);

    int (*adapters)(struct host *, struct host_adapters *ret, struct error *);
    int (*routes)(struct host *, struct host_routes *ret, struct error *);
    int (*neighbors)(struct host *, struct host_neighbors *ret, struct error *);
    int (*route_set)(struct host *, const struct host_route *route, bool add, struct error *);
    int (*address_add)(struct host *, uint32_t interface_index, const char *address,
                       struct error *);
    int (*dns_set)(struct host *, uint32_t interface_index, const struct text_list *servers,
                   struct error *);
    int (*forwarding)(struct host *, uint32_t interface_index, int family, bool *ret,
                      struct error *);
    int (*interface_set)(struct host *, uint32_t interface_index, int family,
                         enum host_interface_value what, uint32_t value, struct error *);
    int (*port_in_use)(struct host *, bool udp, unsigned port, bool *ret, struct error *);
    int (*firewall_put)(struct host *, const struct host_firewall_rule *rule, struct error *);
    int (*firewall_remove)(struct host *, const char *name, struct error *);
    int (*firewall_has)(struct host *, const char *name, bool *ret, struct error *);

    int (*facts)(struct host *, struct host_facts *ret, struct error *);
    /* `raw`: a REG_EXPAND_SZ as it is written, "%SystemRoot%" stays. */
    int (*registry_get)(struct host *, const char *key, const char *value, bool raw, char **ret,
                        struct error *);
    int (*registry_set)(struct host *, const char *key, const char *value, bool number,
                        const char *data, struct error *);
    int (*run)(struct host *, const struct host_process *process, int *ret_exit_code,
               char **ret_output, struct error *);
    int (*event)(struct host *, char level, unsigned event_id, const char *text, struct error *);
    int (*event_source_set)(struct host *, const char *file, struct error *);
    bool (*pipe_exists)(struct host *, const char *path);
    int64_t (*now)(struct host *);
    uint64_t (*monotonic_ms)(struct host *);
    int (*sleep)(struct host *, unsigned milliseconds, struct error *);
    bool (*interrupted)(struct host *);
    int (*random)(struct host *, void *data, size_t len, struct error *);
    char *(*environment)(struct host *, const char *name);
    void (*environment_names)(struct host *, const char *prefix, struct text_list *ret);
    char *(*program_path)(struct host *);
    void (*free)(struct host *);

    /* NULL where there is nobody to talk to and nothing to watch, as on a played server. */
    int (*watcher_start)(struct host *, const char *const *argv, struct host_watcher **ret,
                         struct error *);
    void (*watcher_end)(struct host *, struct host_watcher *watcher);
    bool (*watched_well)(struct host *, unsigned timeout_ms);
    int (*pipe_open)(struct host *, const char *path, const struct host_pipe_talk *talk,
                     struct host_pipe **ret, struct error *);
    int (*pipe_turn)(struct host *, struct host_pipe *, unsigned wait_ms, bool *ret_done,
                     struct error *);
    void (*pipe_close)(struct host *, struct host_pipe *);
};

/* Every operation once, but for those that may be NULL: HOST_OPS(HOST_OP_DECLARE, win32) declares
 * the functions win32_read() and so on, HOST_OPS(HOST_OP_ROW, win32) is the table of them.
 * HOST_OPS_OF_WINDOWS has the others. */
/* clang-format off */
#define HOST_OPS(OP, prefix) \
    OP(prefix, read) OP(prefix, read_part) OP(prefix, write) OP(prefix, write_part) OP(prefix, make_folder) \
    OP(prefix, access_get) OP(prefix, access_set) OP(prefix, stranger) OP(prefix, remove) \
    OP(prefix, rename) OP(prefix, link) OP(prefix, file_type) \
    OP(prefix, list) OP(prefix, free_space) OP(prefix, service_put) OP(prefix, service_query) \
    OP(prefix, service_start) OP(prefix, service_stop) OP(prefix, service_delete) \
    OP(prefix, hns) OP(prefix, adapters) OP(prefix, routes) OP(prefix, neighbors) \
    OP(prefix, route_set) OP(prefix, address_add) OP(prefix, dns_set) \
    OP(prefix, forwarding) OP(prefix, interface_set) \
    OP(prefix, port_in_use) OP(prefix, firewall_put) OP(prefix, firewall_remove) \
    OP(prefix, firewall_has) OP(prefix, facts) OP(prefix, registry_get) \
    OP(prefix, registry_set) OP(prefix, run) OP(prefix, event) OP(prefix, event_source_set) \
    OP(prefix, pipe_exists) OP(prefix, now) OP(prefix, monotonic_ms) OP(prefix, sleep) \
    OP(prefix, interrupted) OP(prefix, random) OP(prefix, environment) \
    OP(prefix, environment_names) OP(prefix, program_path) OP(prefix, free)
#define HOST_OPS_OF_WINDOWS(OP, prefix) \
    OP(prefix, watcher_start) OP(prefix, watcher_end) OP(prefix, watched_well) \
    OP(prefix, pipe_open) OP(prefix, pipe_turn) OP(prefix, pipe_close)
/* clang-format on */
#define HOST_OP_DECLARE(prefix, op) __typeof__(*((struct host_ops *)0)->op) prefix##_##op;
#define HOST_OP_ROW(prefix, op) .op = prefix##_##op,

/* First member of each host. */
struct host {
    const struct host_ops *ops;
    unsigned changes;            /* host_changes() */
    bool own_folder_closed;      /* HOST_OWN_FOLDER, by this process */
    uint64_t deadline_ms;        /* host_set_deadline() */
    void (*tick)(void *context); /* host_set_tick() */
    void *tick_context;
};

/* The result of something that changes the machine. */
static inline int host_changed(struct host *host, int result) {
    host->changes += result == 0;
    return result;
}

/* 0 when the call went well; otherwise fills err and returns -1. `record` is the ErrorRecord or
 * NULL; a non-empty one is a failure even with a success code, and its ErrorCode counts then. */
int hcn_check(const char *function, uint32_t hresult, const char *record, struct error *err);

/* What one kind of HTTP implements: the table behind http.h. Only files in host/ and the tests' own
 * HTTP include this. */

struct http_ops {
    /* All whose `err` is clear; http_exchange_end() of each when it has ended. `at_once`: of
     * http_perform_all(). */
    void (*perform)(struct http *, struct http_exchange *, size_t count, size_t at_once);
    void (*talk)(struct http *, struct http_talk *, size_t count); /* the same */
    void (*free)(struct http *);
};

/* First member of each implementation. */
struct http {
    const struct http_ops *ops;
};

/* Tells whoever asked that this one has ended. */
void http_exchange_end(struct http_exchange *exchange);

/* The proxy for a URL by this process's environment or, where that names none, the machine's own;
 * NULL: none. The caller frees. */
char *http_environment_proxy(const char *url);
/* A file of roots that this process was told to trust instead of the system's, or NULL. One for
 * each platform. The caller frees. */
char *http_system_roots(void);
/* Hands over each certificate (DER) that this whole machine trusts as a root of servers, not those
 * of one user; none where libcurl knows where they are. One for each platform. */
void http_machine_roots(void (*take)(void *context, const unsigned char *der, size_t len),
                        void *context);
/* What follows "//" in a URL, taken apart; the spans lie in its text. */
struct http_authority {
    const char *end;       /* behind it: a path, a query or nothing */
    const char *login_end; /* the last "@", or NULL */
    const char *host;
    const char *port; /* its colon, or NULL */
};
struct http_authority http_authority_split(const char *authority);
