/* Implements a simulated Windows host in a directory: files are real, everything else is a model in
 * a JSON file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/command_line.h"
#include "host/model/model.h"
#include "host/posix/posix.h"

const bool host_rehearses = true;

#define STATE_FOLDER "C:\\.winjoin-host"
#define STATE_FILE STATE_FOLDER "\\state.json"
enum { STATE_MAX = 32 * 1024 * 1024 };

static volatile sig_atomic_t asked_to_stop;

static void on_signal(int) {
    asked_to_stop = 1;
}

static json_t *state_of(struct host *host, const char *what, struct error *err) {
    json_t *state = rootfs_of(host)->state;

    if (!state) {
        (void)error_set(err, ERROR_UNSUPPORTED, "%s: this is not a Windows machine", what);
        (void)error_hint(err, "to rehearse in a folder, use --rootfs DIR");
    }
    return state;
}

/* Writes the state to disk after a change. When nothing changed, writes nothing. */
static int save(struct host *host, int result, struct error *err) {
    struct posix_host *posix = rootfs_of(host);
    _cleanup_(freep) char *text = NULL;

    if (result < 0)
        return -1;
    if (json_equal(posix->state, posix->saved))
        return 0;
    text = json_write_pretty(posix->state);
    if (rootfs_write(host, STATE_FILE, text, strlen(text), HOST_SECRET, err) < 0)
        return -1;
    json_decref(posix->saved);
    posix->saved = json_deep_copy(posix->state);
    return 0;
}

/* Defines the operations that the model simulates: the operation's name, its description in
 * messages, the call of the model, and the parameters between `host` and `err`. */
#define PLAYED(operation, what, played, ...)                                                       \
    int rootfs_##operation(struct host *host, __VA_ARGS__, struct error *err) {                    \
        json_t *state = state_of(host, what, err);                                                 \
                                                                                                   \
        return state ? save(host, (played), err) : -1;                                             \
    }
/* clang-format off */
PLAYED(service_put, "register a service", model_service_put(state, service, err),
       const struct host_service *service)
PLAYED(service_query, "query a service", model_service_query(state, name, ret, err),
       const char *name, struct host_service *ret)
/* A simulated service starts and stops at once. */
PLAYED(service_start, "start a service", model_service_start(state, name, err),
       const char *name, unsigned)
PLAYED(service_stop, "stop a service", (model_service_stop(state, name), 0),
       const char *name, unsigned)
PLAYED(service_delete, "delete a service", (model_service_delete(state, name), 0),
       const char *name, unsigned)
PLAYED(hns, "call HNS",
       (*ret_hresult = model_hns(state, NULL, NULL, function, arguments, count, ret_result,
                                 ret_error_record), 0),
       const char *function, const char *const *arguments, size_t count, unsigned, char **ret_result,
       char **ret_error_record, uint32_t *ret_hresult)
PLAYED(adapters, "list network adapters", (model_adapters(state, ret), 0),
       struct host_adapters *ret)
PLAYED(routes, "list routes", (model_routes(state, ret), 0), struct host_routes *ret)
PLAYED(neighbors, "list neighbors", (model_neighbors(state, ret), 0), struct host_neighbors *ret)
PLAYED(route_set, add ? "add a route" : "remove a route",
       model_route_set(state, route, add, err), const struct host_route *route, bool add)
PLAYED(address_add, "add an address", model_address_add(state, index, address, err),
       uint32_t index, const char *address)
PLAYED(dns_set, "set DNS servers", model_dns_set(state, index, servers, err),
       uint32_t index, const struct text_list *servers)
PLAYED(forwarding, "query forwarding", model_forwarding(state, index, family, ret, err),
       uint32_t index, int family, bool *ret)
PLAYED(interface_set, what == HOST_INTERFACE_METRIC ? "set the metric" : "set forwarding",
       model_interface_set(state, index, family, what, value, err),
       uint32_t index, int family, enum host_interface_value what, uint32_t value)
PLAYED(port_in_use, "query ports", (*ret = model_port_in_use(state, udp, port), 0),
       bool udp, unsigned port, bool *ret)
PLAYED(firewall_put, "add a firewall rule", (model_firewall_put(state, rule), 0),
       const struct host_firewall_rule *rule)
PLAYED(firewall_remove, "remove a firewall rule", (model_firewall_remove(state, name), 0),
       const char *name)
PLAYED(firewall_has, "query firewall rules", (*ret = model_firewall_has(state, name), 0),
       const char *name, bool *ret)
PLAYED(facts, "query the Windows version", (model_facts(state, ret), 0), struct host_facts *ret)
/* The model expands nothing, so raw and normal values are the same. */
PLAYED(registry_get, "read the registry", model_registry_get(state, key, value, ret, err),
       const char *key, const char *value, bool, char **ret)
PLAYED(registry_set, "write the registry", (model_registry_set(state, key, value, data), 0),
       const char *key, const char *value, bool, const char *data)
PLAYED(event, "write the event log", (model_event(state, level, event_id, text), 0),
       char level, unsigned event_id, const char *text)
PLAYED(event_source_set, "register the event source", (model_event_source_set(state, file), 0),
       const char *file)
/* clang-format on */

bool rootfs_pipe_exists(struct host *host, const char *path) {
    json_t *state = rootfs_of(host)->state;

    return state && model_pipe_exists(state, path);
}

int64_t rootfs_now(struct host *) {
    return time(NULL);
}

uint64_t rootfs_monotonic_ms(struct host *) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

bool rootfs_interrupted(struct host *) {
    return asked_to_stop;
}

int rootfs_sleep(struct host *host, unsigned milliseconds, struct error *err) {
    struct timespec left = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};

    while (!rootfs_interrupted(host) && nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
    return rootfs_interrupted(host) ? error_set(err, ERROR_INTERRUPTED, "wait: interrupted") : 0;
}

int rootfs_random(struct host *, void *data, size_t len, struct error *err) {
    unsigned char *p = data;

    while (len) {
        ssize_t n = getrandom(p, len < 256 ? len : 256, 0);

        if (n < 0)
            return error_set_os(err, ERROR_HOST, (unsigned long)errno, "get random bytes");
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

char *rootfs_environment(struct host *, const char *name) {
    char *value = getenv(name), *ret = xstrdup_null(value);

    if (value && child_variable_is_ours(name)) {
        /* Overwrite the value, because /proc/PID/environ would still show it. */
        secret_wipe(value, strlen(value));
        (void)unsetenv(name); /* unsetenv() refuses only invalid names. */
    }
    return ret;
}

void rootfs_environment_names(struct host *, const char *prefix, struct text_list *ret) {
    for (char **item = environ; item && *item; item++)
        if (text_starts_with(*item, prefix))
            text_list_add_owned(ret, xstrndup(*item, strcspn(*item, "=")));
}

char *rootfs_program_path(struct host *) {
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);

    if (len <= 0)
        return NULL;
    path[len] = '\0';
    return text_replace(xasprintf("Z:%s", path), "/", '\\');
}

void rootfs_free(struct host *host) {
    json_decref(rootfs_of(host)->state);
    json_decref(rootfs_of(host)->saved);
    free(rootfs_of(host)->rootfs);
    free(host);
}

static const struct host_ops rootfs_ops = {HOST_OPS(HOST_OP_ROW, rootfs)};

/* Loads the state file. Missing members (in an older or hand-written file) are taken from the
 * default server; in "facts", "hns", "drives" and "registry" this applies to each of their members.
 */
static int load_state(struct posix_host *posix, struct error *err) {
    static const char *const deeper[] = {"facts", "hns", "drives", "registry"};
    _cleanup_json_ json_t *saved = NULL;
    _cleanup_(freep) char *text = NULL;
    size_t len;

    posix->state = model_new();
    if (rootfs_read(&posix->host, STATE_FILE, STATE_MAX, &text, &len, err) < 0) {
        posix->saved = json_deep_copy(posix->state);
        return error_forgive(err, ERROR_ABSENT);
    }
    if (json_read(text, len, STATE_FILE, &saved, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(deeper); i++) {
        _cleanup_json_ json_t *members = json_incref(json_object_get(posix->state, deeper[i]));

        if (json_object_get(saved, deeper[i])) {
            json_object_update(members, json_object_get(saved, deeper[i]));
            json_object_set(saved, deeper[i], members);
        }
    }
    json_object_update(posix->state, saved);
    posix->saved = json_deep_copy(posix->state);
    return 0;
}

/* Returns the real path of the root directory. When only the directory itself is missing, returns
 * the path that it will have; the first written file then creates it. */
static char *real_rootfs(const char *rootfs) {
    char *real = realpath(rootfs, NULL), *slash;
    _cleanup_(freep) char *parent = xstrdup(rootfs), *above = NULL;
    size_t len = strlen(parent);
    struct stat there;
    const char *name;

    if (real || errno != ENOENT || !len || lstat(rootfs, &there) == 0)
        return real;
    while (len > 1 && parent[len - 1] == '/')
        parent[--len] = '\0';
    slash = strrchr(parent, '/');
    name = slash ? slash + 1 : parent;
    above = realpath(!slash ? "." : slash == parent ? "/" : (*slash = '\0', parent), NULL);
    return above ? xasprintf("%s/%s", text_equal(above, "/") ? "" : above, name) : NULL;
}

int host_open(const char *rootfs, struct host **ret, struct error *err) {
    struct posix_host *posix = xcalloc(1, sizeof *posix);
    struct sigaction action = {.sa_handler = on_signal}, was;

    posix->host.ops = &rootfs_ops;
    sigemptyset(&action.sa_mask);
    /* When nohup has set SIGHUP to be ignored, keep that. */
    if (sigaction(SIGHUP, NULL, &was) == 0 && was.sa_handler != SIG_IGN)
        (void)sigaction(SIGHUP, &action, NULL);
    /* Handle SIGINT even if it is ignored, as in a background job of a script: whoever sends it
     * wants winjoin to stop. */
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    /* A child program that does not read its input must not end this process. */
    (void)signal(SIGPIPE, SIG_IGN);
    if (rootfs) {
        posix->rootfs = real_rootfs(rootfs);
        if (!posix->rootfs)
            (void)error_set_os(err, ERROR_USAGE, (unsigned long)errno, "open rootfs '%s'", rootfs);
        if (!posix->rootfs || load_state(posix, err) < 0) {
            rootfs_free(&posix->host);
            return -1;
        }
    }
    *ret = &posix->host;
    return 0;
}
