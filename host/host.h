/* The interface to the machine. Every effect on the Windows host goes through one of these
 * functions.
 *
 * There are two implementations: host/win32 (the product) and host/posix (a simulated Windows host
 * in a directory, for rehearsal, sanitizers and fuzzing). Paths are Windows paths in UTF-8
 * ("C:\\etc\\kubernetes\\kubelet.conf"; '/' is accepted). Every operation has a time limit, and
 * none prints. The *_free function next to a structure frees it.
 *
 * The caller frees each char * that a function returns or stores through a pointer. */
#pragma once

#include <stdint.h>

#include "base/json.h"

struct host; /* Created by host_open(). */

/* Opens the host of this platform. On Windows that is the machine itself; `rootfs` must be NULL,
 * else ERROR_USAGE. Elsewhere it is a simulated Windows host in the directory `rootfs` (rehearsal),
 * which is created when its parent exists (else ERROR_USAGE). There C:\x is <rootfs>/x on disk, and
 * Z:\x is this machine's own /x. Services, registry, firewall, adapters, routes and HNS objects are
 * kept in <rootfs>/.winjoin-host/state.json (host/model), where users can look at them. With rootfs
 * NULL there is only Z: (for commands that need no Windows), and Windows operations fail with
 * ERROR_UNSUPPORTED. */
int host_open(const char *rootfs, struct host **ret, struct error *err);

/* ---- files ---- */

/* Says who may read a file or folder. The ACL is set at the moment of creation. */
enum host_access {
    HOST_PUBLIC, /* The ACL is inherited from the parent folder. */
    HOST_SECRET, /* Only SYSTEM and Administrators: D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA). A folder is
                    owned by Administrators. */
    HOST_PROBE_MAILBOX, /* As HOST_SECRET; users of containers may also read and write. */
    HOST_PROBE_PROGRAM, /* As HOST_SECRET; users of containers may also read and execute. */
    /* As HOST_SECRET, but all users may read and execute. Administrators own it. */
    HOST_READ_ONLY,
    HOST_POD_VOLUMES, /* A folder, as HOST_SECRET, for volumes of Pods: users inside containers may
                         also access what is in its subfolders. */
};
enum host_file_type { HOST_ABSENT, HOST_FILE, HOST_FOLDER, HOST_LINK };

/* Paths are absolute Windows paths (host/path.h). A path that ends in a separator names a folder,
 * never a file.
 *
 * Functions that change a file or folder, or run a program, refuse a path through a folder that an
 * untrusted user could have created, and reading below HOST_OWN_FOLDER does the same: ERROR_DENIED
 * (see host_find_untrusted()). Before anything is written below HOST_OWN_FOLDER, that folder is
 * created (HOST_SECRET). */
/* An untrusted part of a path: something that an ordinary user could have created. It is a
 * junction, a link, or a file or folder that does not belong to SYSTEM,
 * Administrators, TrustedInstaller or the user of this process. */
struct host_untrusted {
    char *path; /* Path of that part; NULL when no such part was found. */
    /* Owner of it: "SRV\\eve" or a SID. NULL when it is a junction or a link. */
    char *owner;
    /* The owner is trusted, but ordinary users may change the file; `owner` is then who may,
     * e.g. "Users". */
    bool open;
    enum host_file_type type; /* Type of the file or folder at `path`. */
    bool inside;              /* It is directly inside the folder that was checked, not above it. */
};
/* Checks `path` and each folder above it, except the drive, from the top, and finds the first
 * untrusted part. A link at the end of the path is trusted when its owner is. The check ends
 * at the first absent part. Network paths are not checked. `ret` must be empty; free it with
 * host_untrusted_free(). */
int host_find_untrusted(struct host *host, const char *path, struct host_untrusted *ret,
                        struct error *err);
/* Checks a folder as host_find_untrusted() does, but it may not be a link either, and then each
 * file and folder directly in it. These must also not be changeable by ordinary users: a caller who
 * restricts the folder afterwards could not know what these users did before. */
int host_find_untrusted_in(struct host *host, const char *folder, struct host_untrusted *ret,
                           struct error *err);
/* Describes the untrusted part for messages: "'C:\\k' is a junction or a link", "'C:\\k' belongs to
 * SRV\\eve", "'C:\\k\\x' can be changed by Users". */
char *host_untrusted_text(const struct host_untrusted *untrusted);
/* Returns the command with which an administrator removes the untrusted part. The command moves a
 * folder with its content, deletes a single file, or removes a junction but not its target. */
char *host_untrusted_remedy(const struct host_untrusted *untrusted);
/* Returns 0 when nothing untrusted was found. Else fails with ERROR_DENIED; the message names it,
 * and a hint has the command of host_untrusted_remedy(). */
int host_untrusted_refuse(const struct host_untrusted *untrusted, struct error *err);
void host_untrusted_free(struct host_untrusted *untrusted);
/* Call host_find_untrusted() or host_find_untrusted_in() and refuse what it finds, as
 * host_untrusted_refuse() does. */
int host_refuse_untrusted(struct host *host, const char *path, struct error *err);
int host_refuse_untrusted_in(struct host *host, const char *folder, struct error *err);
/* Reads a whole file of at most `max` bytes. A larger file fails with ERROR_MALFORMED, an absent
 * one with ERROR_ABSENT. *ret is NUL-terminated behind *ret_len bytes. */
int host_read(struct host *host, const char *path, size_t max, char **ret, size_t *ret_len,
              struct error *err);
/* Reads a file that other programs write and may own. Only administrators may control the folders
 * above it, and it must not be a link (ERROR_DENIED). The content cannot be trusted. All else is as
 * in host_read(). */
int host_read_of_others(struct host *host, const char *path, size_t max, char **ret,
                        size_t *ret_len, struct error *err);
/* Reads a text that a person or a shell wrote, as host_read() does. UTF-16 with a byte order mark
 * (PowerShell 5.1's ">") and UTF-8 with one are converted to plain UTF-8. */
int host_read_text(struct host *host, const char *path, size_t max, char **ret, size_t *ret_len,
                   struct error *err);
/* Reads a file as JSON. *ret is a new reference. Invalid JSON fails with ERROR_MALFORMED. */
int host_read_json(struct host *host, const char *path, size_t max, json_t **ret,
                   struct error *err);
/* Does the file contain exactly the given bytes? */
bool host_has(struct host *host, const char *path, const void *data, size_t len);
/* Reads at most `max` bytes from `offset` of a file that other programs write at the same time.
 * *ret_size is the size of the whole file. *ret_len is 0 when the file ends before `offset`. An
 * absent file fails with ERROR_ABSENT. *ret is NUL-terminated. */
int host_read_part(struct host *host, const char *path, uint64_t offset, size_t max, char **ret,
                   size_t *ret_len, uint64_t *ret_size, struct error *err);
/* Writes a file atomically: writes a new file with an unpredictable name beside it, flushes it and
 * renames it. Missing parent folders are created (HOST_PUBLIC). */
int host_write(struct host *host, const char *path, const void *data, size_t len,
               enum host_access access, struct error *err);
/* Writes one part of a file that is too large for memory: cuts the file at `offset`, appends these
 * bytes and flushes. Offset 0 creates a new file with this access. A file that is shorter than
 * `offset`, or a link, fails with ERROR_HOST; a file that an untrusted user owns and could change
 * later fails with ERROR_DENIED. When the program ends between two parts, the parts that were
 * written remain. */
int host_write_part(struct host *host, const char *path, uint64_t offset, const void *data,
                    size_t len, enum host_access access, struct error *err);
/* Creates the folder and its parents (these HOST_PUBLIC). An existing folder keeps its content, but
 * loses all rights that `access` would not give. Rights are never added. */
int host_make_folder(struct host *host, const char *path, enum host_access access,
                     struct error *err);
/* Get and set the access of a file or folder as a text of this host (on Windows: SDDL of owner and
 * DACL). An owner that this process may not set stays unchanged. An absent file fails with
 * ERROR_ABSENT. */
int host_access_get(struct host *host, const char *path, char **ret, struct error *err);
int host_access_set(struct host *host, const char *path, const char *access, struct error *err);
/* Removes a file, a link or an empty folder. Succeeds when it is absent. */
int host_remove(struct host *host, const char *path, struct error *err);
/* Removes a folder with its content without following links, even if somebody replaces a subfolder
 * by a link meanwhile. Succeeds when it is absent. */
int host_remove_tree(struct host *host, const char *path, struct error *err);
int host_rename(struct host *host, const char *from, const char *to, struct error *err);
/* Creates a symbolic link at `path` to `target` and replaces an existing link. */
int host_link(struct host *host, const char *path, const char *target, struct error *err);
enum host_file_type host_file_type(struct host *host, const char *path);
/* Lists the names in a folder, sorted, without "." and "..". An absent one fails with
 * ERROR_ABSENT. */
int host_list(struct host *host, const char *path, struct text_list *ret, struct error *err);
/* Returns the free bytes on the volume of `path`. */
int host_free_space(struct host *host, const char *path, uint64_t *ret, struct error *err);

/* ---- services (Windows Service Control Manager) ---- */

enum host_service_state {
    HOST_SERVICE_ABSENT,
    HOST_SERVICE_STOPPED,
    HOST_SERVICE_STARTING,
    HOST_SERVICE_RUNNING,
    HOST_SERVICE_STOPPING,
    HOST_SERVICE_PAUSED,
};
/* Names of the states for messages: "absent", "stopped", ... */
extern const char *const host_service_states[HOST_SERVICE_PAUSED + 1];
/* A Windows service. For host_service_put() the caller owns all texts; after host_service_query(),
 * host_service_free() frees them. */
struct host_service {
    char *name;
    char *display_name;
    char *description;
    char *command;               /* Command line (lpBinaryPathName), quoted where needed. */
    struct text_list depends_on; /* Names of the services on which this service depends. */
    /* Environment variables NAME=value, from the registry value Services\<name>\Environment. */
    struct text_list environment;
    bool auto_start;
    /* Delays before the restarts in the failure actions; 0 means no restart. */
    unsigned restart_delays_ms[3];
    bool restart_on_error; /* Restart also after an exit with an error code (failureflag). */
    unsigned reset_seconds;
    unsigned preshutdown_ms;
    enum host_service_state state; /* State of the service. Set by queries only. */
    uint32_t process_id;           /* Process of the service; 0 when none. Set by queries only. */
    uint32_t exit_code;            /* Last exit code of the service. Set by queries only. */
    /* Start time of its process in seconds since 1970; 0 when unknown. Set by queries only. */
    int64_t started;
};
void host_service_free(struct host_service *service);
/* Creates or changes the service so that it is exactly as given (LocalSystem, own process). */
int host_service_put(struct host *host, const struct host_service *service, struct error *err);
/* Queries a service. An absent service is a success with the state HOST_SERVICE_ABSENT. */
int host_service_query(struct host *host, const char *name, struct host_service *ret,
                       struct error *err);
/* Windows' error codes for a service that ended with a code of its own (exit_code then holds it),
 * and for a service that ended without reporting that it stopped. */
enum { HOST_SERVICE_SPECIFIC_ERROR = 1066, HOST_PROCESS_ABORTED = 1067 };
/* Starts a service and waits up to timeout_ms until it runs. Succeeds when it runs already. A
 * service that ends while starting fails with ERROR_HOST; `os` is then mostly
 * HOST_SERVICE_SPECIFIC_ERROR or HOST_PROCESS_ABORTED. */
int host_service_start(struct host *host, const char *name, unsigned timeout_ms, struct error *err);
/* Stops a service and waits until it has stopped; running services that depend on it are stopped
 * first. Succeeds when it is stopped or absent. */
int host_service_stop(struct host *host, const char *name, unsigned timeout_ms, struct error *err);
/* Deletes a service and waits until the SCM has removed it. Succeeds when it is absent. */
int host_service_delete(struct host *host, const char *name, unsigned timeout_ms,
                        struct error *err);

/* ---- Host Networking Service ---- */

enum hcn_kind { HCN_NETWORK, HCN_ENDPOINT, HCN_NAMESPACE, HCN_LOAD_BALANCER };

/* The HCN functions of computenetwork.dll (documented in ComputeNetwork.h); handles are hidden.
 * `id` is a GUID without braces. Documents are JSON. Each call ends after at most
 * HOST_HCN_TIMEOUT_MS with ERROR_TIMED_OUT; its outcome is then unknown, so enumerate again. A call
 * that only reads also ends at the deadline of host_set_deadline(), but gets at least one second. A
 * failure has the HRESULT in err->os and the text of the ErrorRecord. Kinds: ERROR_ABSENT
 * (0x80070490, 0x803b0001, 02 ...), ERROR_CONFLICT (0x80071392, 0x800700b7, 0x803b0010 ...),
 * ERROR_UNSUPPORTED (the function does not exist), ERROR_DENIED, ERROR_HOST. An ErrorRecord that is
 * not empty means failure even with S_OK. */
enum { HOST_HCN_TIMEOUT_MS = 60000 };
/* Returns a JSON array of the ids that match the query document; a NULL query matches all. */
int hcn_enumerate(struct host *host, enum hcn_kind kind, const char *query, char **ret,
                  struct error *err);
/* Creates an object and returns its properties. `network` is the id of an endpoint's network, NULL
 * for other kinds. `id` may be NULL; HNS then chooses one. */
int hcn_create(struct host *host, enum hcn_kind kind, const char *network, const char *id,
               const char *document, char **ret_properties, struct error *err);
int hcn_query(struct host *host, enum hcn_kind kind, const char *id, const char *query,
              char **ret_properties, struct error *err);
int hcn_modify(struct host *host, enum hcn_kind kind, const char *id, const char *document,
               struct error *err);
int hcn_delete(struct host *host, enum hcn_kind kind, const char *id, struct error *err);
/* Calls HNSCall of vmcompute.dll (HNS interface version 1) and returns the whole response
 * envelope. */
int hns_call(struct host *host, const char *method, const char *path, const char *request,
             char **ret_response, struct error *err);

/* ---- network of the host itself (iphlpapi) ---- */

struct host_adapter {
    char *alias; /* Name of the adapter in Windows: "Ethernet", "vEthernet (Ethernet)". */
    char *description;
    char mac[18]; /* MAC address: "00-15-5D-01-02-03". */
    uint32_t index;
    uint32_t mtu;
    bool up;   /* False without addresses when the adapter is bound to a virtual switch. */
    bool dhcp; /* The IPv4 address comes from DHCP. */
    /* Metrics of the interface for IPv4 and IPv6; 0 when Windows computes them. */
    uint32_t metric, metric6;
    /* IPv4 and IPv6 addresses with prefix lengths ("10.0.0.21/24"), also link-local ones. */
    struct text_list addresses;
    /* Those of the adapter's addresses that come from router advertisements. */
    struct text_list advertised;
    struct text_list gateways;
    struct text_list dns_servers;
};
struct host_adapters {
    struct host_adapter *items;
    size_t count;
};
int host_adapters(struct host *host, struct host_adapters *ret, struct error *err);
void host_adapters_free(struct host_adapters *adapters);

struct host_route {
    char destination[50]; /* Destination prefix, e.g. "10.244.2.0/24". */
    char next_hop[46];    /* Address of the next hop; "0.0.0.0" means on link. */
    uint32_t interface_index;
    uint32_t metric;
    /* For adding: the route survives a restart of Windows. A default route always does. */
    bool persistent;
};
struct host_routes {
    struct host_route *items;
    size_t count;
};
int host_routes(struct host *host, struct host_routes *ret, struct error *err);
void host_routes_free(struct host_routes *routes);
/* An entry of Windows' neighbor table (ARP, NDP): which machine has an address. */
struct host_neighbor {
    char address[46];
    /* MAC address, e.g. "00-15-5D-01-02-03"; "" when Windows asked for it and got no answer. */
    char mac[18];
    bool fixed; /* A static entry of an administrator or a program; Windows does not ask for it. */
};
struct host_neighbors {
    struct host_neighbor *items;
    size_t count;
};
int host_neighbors(struct host *host, struct host_neighbors *ret, struct error *err);
void host_neighbors_free(struct host_neighbors *neighbors);
/* Adds a route. Succeeds when it exists already (same destination, next hop and interface). */
int host_route_add(struct host *host, const struct host_route *route, struct error *err);
/* Removes a route. Succeeds when there is no such route. */
int host_route_remove(struct host *host, const struct host_route *route, struct error *err);
/* Adds a permanent address such as "10.0.0.21/24" to the interface. Succeeds if it exists. */
int host_address_add(struct host *host, uint32_t interface_index, const char *address,
                     struct error *err);
int host_dns_set(struct host *host, uint32_t interface_index, const struct text_list *servers,
                 struct error *err);
/* Get and set IP forwarding of one interface and address family (4 or 6): ForwardingEnabled of
 * SetIpInterfaceEntry. */
int host_forwarding(struct host *host, uint32_t interface_index, int family, bool *ret,
                    struct error *err);
int host_forwarding_set(struct host *host, uint32_t interface_index, int family, bool on,
                        struct error *err);
/* Sets the metric (at least 1) of one interface for an address family (4 or 6). */
int host_metric_set(struct host *host, uint32_t interface_index, int family, uint32_t metric,
                    struct error *err);
/* *ret is true when a process listens on the local TCP port, or has the local UDP port open. */
int host_port_in_use(struct host *host, bool udp, unsigned port, bool *ret, struct error *err);

/* An inbound rule of the Windows Firewall that winjoin owns (Grouping "winjoin"). */
struct host_firewall_rule {
    const char *name;
    const char *description;
    bool udp;
    unsigned port;
};
int host_firewall_put(struct host *host, const struct host_firewall_rule *rule, struct error *err);
/* Removes a firewall rule. Succeeds when there is no such rule. */
int host_firewall_remove(struct host *host, const char *name, struct error *err);
/* *ret is true when a rule with this name exists. */
int host_firewall_has(struct host *host, const char *name, bool *ret, struct error *err);

/* ---- facts, registry, processes, time ---- */

struct host_facts {
    char product[128];          /* Product name: "Windows Server 2022 Datacenter". */
    char installation_type[32]; /* Installation type: "Server", "Server Core" or "Client". */
    /* Parts of the Windows version, e.g. 10.0.20348.2340. */
    unsigned major, minor, build, revision;
    char architecture[16]; /* Processor architecture, e.g. "amd64". */
    /* Host name (ComputerNamePhysicalDnsHostname), in the system's spelling. */
    char host_name[256];
    bool elevated;
    uint64_t memory_bytes;
    uint64_t page_file_bytes; /* Configured size of the page file; 0 when there is none. */
    int containers_feature;   /* Containers feature: 1 installed, 0 not installed, -1 unknown. */
    int restart_pending;      /* Restart of Windows pending: 1 yes, 0 no, -1 unknown. */
    uint64_t uptime_seconds;  /* Seconds since the system started; 0 when unknown. */
};
int host_facts(struct host *host, struct host_facts *ret, struct error *err);

/* Reads a registry value under HKLM as a string (REG_SZ, REG_EXPAND_SZ, or REG_DWORD in decimal).
 * An absent value fails with ERROR_ABSENT. */
int host_registry_get(struct host *host, const char *key, const char *value, char **ret,
                      struct error *err);
/* Sets a value under HKLM and creates its key. `data` has the form of host_registry_get(). The
 * value is a REG_DWORD when `number`, else a REG_SZ, or a REG_EXPAND_SZ when it was one before.
 * `data` NULL removes the value, and its key when the key is then empty; an absent value is a
 * success. */
int host_registry_set(struct host *host, const char *key, const char *value, bool number,
                      const char *data, struct error *err);

/* A program to run. host_run() gives it `input` on its standard input and returns its exit code and
 * standard output (at most 1 MiB; the caller frees it). The program is killed after `timeout_ms`:
 * ERROR_TIMED_OUT. */
struct host_process {
    const char *const *argv; /* The program's path and its arguments, terminated by NULL. */
    /* Additional variables NAME=value, terminated by NULL; may be NULL. The program also gets those
     * variables of this process that host/command_line.h passes on. */
    const char *const *environment;
    const char *input; /* Text for standard input, or NULL. */
    unsigned timeout_ms;
    /* Standard error is included in the output, in the order in which it arrives. */
    bool with_errors;
    bool undoes; /* The program undoes an earlier change, so Ctrl-C does not end it. */
    bool named;  /* The user chose the program, so its location is not checked. */
};
int host_run(struct host *host, const struct host_process *process, int *ret_exit_code,
             char **ret_output, struct error *err);

/* A program that continues to run after this process ends. It has no console, so Ctrl-C does not
 * reach it, and is in none of our jobs. Its standard input is a pipe from this process; when the
 * pipe closes, it knows that this process is gone. A simulated host starts no program and sets *ret
 * to NULL. argv[0] is the program's path; NULL ends the list. */
struct host_watcher;
int host_watcher_start(struct host *host, const char *const *argv, struct host_watcher **ret,
                       struct error *err);
/* Tells the watcher program that all went well and waits up to 5 s until it has ended. NULL is
 * allowed and does nothing. */
void host_watcher_end(struct host *host, struct host_watcher *watcher);
/* Called in the watcher program. Returns true after host_watcher_end(); false when the program that
 * started the watcher ended without that call, or when the time is over. */
bool host_watched_well(struct host *host, unsigned timeout_ms);

/* Writes one entry to the Application log with the source "winjoin". `level` is 'i' (information),
 * 'w' (warning) or 'e' (error). */
int host_event(struct host *host, char level, unsigned event_id, const char *text,
               struct error *err);

/* Registers the source "winjoin" of the Application log. Event Viewer finds the message texts
 * through the value EventMessageFile under this key. `file` NULL removes the source; an absent
 * source is a success. host_registry_get() reads the value. */
#define HOST_EVENT_SOURCE_KEY "SYSTEM\\CurrentControlSet\\Services\\EventLog\\Application\\winjoin"
int host_event_source_set(struct host *host, const char *file, struct error *err);

/* Can a client open the named pipe at `path` ("\\\\.\\pipe\\containerd-containerd")? */
bool host_pipe_exists(struct host *host, const char *path);
/* A conversation as the client of a named pipe. It sends `first`, then passes each received piece
 * to `heard`. That function adds to `reply` what to send next and sets *ret_done when the
 * conversation is complete. It returns -1 with err to end the conversation with a failure. */
struct host_pipe_talk {
    const void *first;
    size_t first_len;
    int (*heard)(void *context, const void *data, size_t len, struct text *reply, bool *ret_done,
                 struct error *err);
    void *context;
    unsigned timeout_ms; /* Time limit of the whole conversation. */
};
/* Connects to the pipe and begins to send `first`. `path` and talk->context must live longer than
 * *ret. The caller closes *ret, also in the middle of the conversation. Fails with ERROR_ABSENT
 * when there is no such pipe, and with ERROR_DENIED when its server is not a service of this
 * machine. */
struct host_pipe;
int host_pipe_open(struct host *host, const char *path, const struct host_pipe_talk *talk,
                   struct host_pipe **ret, struct error *err);
/* Waits at most wait_ms until bytes can be received or sent; the caller can do other work between
 * calls. Fails with ERROR_TIMED_OUT after the conversation's time limit, with ERROR_HOST when the
 * server closed the pipe, and with ERROR_INTERRUPTED. */
int host_pipe_turn(struct host *host, struct host_pipe *pipe, unsigned wait_ms, bool *ret_done,
                   struct error *err);
void host_pipe_close(struct host *host, struct host_pipe *pipe);

int64_t host_now(struct host *host); /* Returns the time in seconds since 1970, UTC. */
/* Returns the milliseconds of a clock that never goes back. */
uint64_t host_monotonic_ms(struct host *host);
/* Sleeps. Returns -1 with ERROR_INTERRUPTED when the user asks to stop meanwhile. */
int host_sleep(struct host *host, unsigned milliseconds, struct error *err);
/* Returns true after Ctrl-C, Ctrl-Break, closing of the console or a stop of the service, or when
 * the deadline has passed. */
bool host_interrupted(struct host *host);
/* Sets the deadline in the time of host_monotonic_ms(). After it, everything ends as if the user
 * had interrupted it. 0 means no deadline. */
void host_set_deadline(struct host *host, uint64_t monotonic_ms);
/* Sets the deadline to `milliseconds` from now, unless the current deadline is earlier. Returns the
 * old deadline, so that the caller can restore it. */
uint64_t host_set_limit(struct host *host, unsigned milliseconds);
bool host_deadline_passed(struct host *host);
/* Sets a function that is called several times a second in host_sleep(), and at each call of
 * host_interrupted(), which HTTP requests make several times a second. NULL removes the
 * function. */
void host_set_tick(struct host *host, void (*tick)(void *context), void *context);
/* The folder of winjoin's own records on the machine. */
#define HOST_OWN_FOLDER "C:\\ProgramData\\winjoin"
/* Returns how many changes this process made on the machine: files written or moved outside of
 * HOST_OWN_FOLDER, services, HNS objects, routes, addresses, DNS servers. Callers compare two
 * results. */
unsigned host_changes(const struct host *host);
/* Fills `data` with cryptographically strong random bytes. */
int host_random(struct host *host, void *data, size_t len, struct error *err);
/* Returns a random number of milliseconds from `from` to `to`, different on each machine and each
 * time. Many nodes that were refused together then do not retry together. Returns the middle when
 * random bytes are not available. */
unsigned host_spread_ms(struct host *host, unsigned from, unsigned to);
/* Returns an environment variable of this process, or NULL when it is not set. One of winjoin's
 * secrets (WINJOIN_TOKEN, see host/command_line.h) is returned only once, because reading removes
 * it from the environment. */
char *host_environment(struct host *host, const char *name);
/* Adds the names of this process's environment variables that begin with `prefix` (in capitals). On
 * Windows, where their case does not matter, the names are added in capitals. */
void host_environment_names(struct host *host, const char *prefix, struct text_list *ret);
/* Returns the path of the running program. */
char *host_program_path(struct host *host);

void host_free(struct host *host);

/* True when this build can simulate a Windows host in a folder (--rootfs). */
extern const bool host_rehearses;

/* Opens the machine that this program runs on. Exists on Windows only. Never fails; free it with
 * host_free(). */
struct host *host_win32_open(void);
