/* The seam to the machine: every effect on the Windows host is one of these intents.
 *
 * Two implementations: host/win32 (the product) and host/posix (a Windows-shaped host under a
 * directory: rehearsal, sanitizers, fuzzing). Paths are Windows paths in UTF-8
 * ("C:\\etc\\kubernetes\\kubelet.conf", '/' accepted). Every operation is bounded in time; none
 * prints. Lists are freed with the *_free named beside. */
#pragma once

#include <stdint.h>

#include "base/json.h"

struct host; /* made by host_open() */

/* Opens this platform's own host: on Windows the machine itself (`rootfs` must be NULL, else
 * ERROR_USAGE), elsewhere a Windows-shaped one under the directory `rootfs` (rehearsal), which is
 * made when only it is absent (ERROR_USAGE when it cannot be). There C:\x is <rootfs>/x on disk,
 * Z:\x is this machine's own /x; services, registry, firewall, adapters, routes and HNS objects are
 * kept in <rootfs>/.winjoin-host/state.json (host/model), so that a rehearsal can be looked at.
 * Without a rootfs there is only Z: (for verbs that need no Windows); Windows' operations say
 * ERROR_UNSUPPORTED. */
int host_open(const char *rootfs, struct host **ret, struct error *err);

/* ---- files ---- */

/* Who may read a file or folder; the ACL is there from the moment of creation. */
enum host_access {
    HOST_PUBLIC,        /* inherits from its folder */
    HOST_SECRET,        /* SYSTEM and Administrators only: D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA); a
                         * folder is owned by Administrators */
    HOST_PROBE_MAILBOX, /* as secret, and containers' users may read and write */
    HOST_PROBE_PROGRAM, /* as secret, and containers' users may read and execute */
    HOST_READ_ONLY,     /* as secret, and all users may read and execute; owner: Administrators */
    HOST_POD_VOLUMES,   /* a folder: as secret, but what lies in its folders is for users inside
                         * containers, too: volumes of pods */
};
enum host_file_type { HOST_ABSENT, HOST_FILE, HOST_FOLDER, HOST_LINK };

/* Paths are absolute Windows paths (host/path.h). One that ends in a separator is a folder's: no
 * file has it.
 *
 * What changes a file or folder, or runs a program, goes through no folder that a stranger could
 * have put there, and nothing of HOST_OWN_FOLDER is read through one (host_stranger()):
 * ERROR_DENIED. Before anything is written below HOST_OWN_FOLDER, that folder is made
 * (HOST_SECRET). */
/* What an ordinary user could have put in the way: a junction or link, or what belongs to none of
 * SYSTEM, Administrators, TrustedInstaller and who runs this process. */
struct host_stranger {
    char *path;               /* NULL: nothing was found */
    char *owner;              /* "SRV\\eve", or a SID; NULL: it is a junction or a link */
    bool open;                /* no: "Users", who may change it, whosever it is */
    enum host_file_type type; /* of what is there */
    bool inside;              /* directly in the folder that was asked about, not above it */
};
/* Looks at `path` and at each folder above it, below the drive, from above; the first that is
 * found. A link at the path's end whose owner is one of those is no stranger. The look ends at what
 * is absent; network paths are not looked at. `ret` is empty before; host_stranger_free(). */
int host_stranger(struct host *host, const char *path, struct host_stranger *ret,
                  struct error *err);
/* The same of a folder, which may be no link either, then of each file and folder directly in it;
 * of these also whether users may change it: who closes the folder then cannot know what they
 * did. */
int host_stranger_in(struct host *host, const char *folder, struct host_stranger *ret,
                     struct error *err);
/* "'C:\\k' is a junction or a link", "'C:\\k' belongs to SRV\\eve", "'C:\\k\\x' can be changed by
 * Users". The caller frees. */
char *host_stranger_text(const struct host_stranger *stranger);
/* The command that takes it out of the way: it moves a folder with all that is in it, and removes
 * one file, or a junction but not what that leads to. The caller frees. */
char *host_stranger_remedy(const struct host_stranger *stranger);
/* 0 where nothing was found, else ERROR_DENIED that names it, with that command. */
int host_stranger_refuse(const struct host_stranger *stranger, struct error *err);
void host_stranger_free(struct host_stranger *stranger);
/* host_stranger_refuse() of what host_stranger() or host_stranger_in() finds. */
int host_refuse_stranger(struct host *host, const char *path, struct error *err);
int host_refuse_stranger_in(struct host *host, const char *folder, struct error *err);
/* Whole file, at most `max` bytes (more: ERROR_MALFORMED). Absent: ERROR_ABSENT. *ret is
 * NUL-terminated behind *ret_len bytes; the caller frees. */
int host_read(struct host *host, const char *path, size_t max, char **ret, size_t *ret_len,
              struct error *err);
/* The same of a file that others write, and so may belong to: what lies above it is an
 * administrator's, and it is no link (ERROR_DENIED). Nobody vouches for what is in it. */
int host_read_of_others(struct host *host, const char *path, size_t max, char **ret,
                        size_t *ret_len, struct error *err);
/* The same for a text that a person or a shell has written: UTF-16 with a byte order mark (as
 * PowerShell 5.1's ">" writes) and UTF-8 with one come as plain UTF-8. */
int host_read_text(struct host *host, const char *path, size_t max, char **ret, size_t *ret_len,
                   struct error *err);
/* The JSON of a file; *ret is a new reference. One that does not parse: ERROR_MALFORMED. */
int host_read_json(struct host *host, const char *path, size_t max, json_t **ret,
                   struct error *err);
/* Whether the file has just these bytes. */
bool host_has(struct host *host, const char *path, const void *data, size_t len);
/* At most `max` bytes from `offset` on, of a file that others write to meanwhile; *ret_size is its
 * whole size. Nothing (*ret_len 0) where it ends before `offset`. Absent: ERROR_ABSENT. *ret is
 * NUL-terminated; the caller frees. */
int host_read_part(struct host *host, const char *path, uint64_t offset, size_t max, char **ret,
                   size_t *ret_len, uint64_t *ret_size, struct error *err);
/* Written beside under a name that nobody guesses, flushed, renamed over; parent folders are made
 * (HOST_PUBLIC). */
int host_write(struct host *host, const char *path, const void *data, size_t len,
               enum host_access access, struct error *err);
/* One piece of a file that is too large for memory: what the file has from `offset` on goes, and
 * these bytes, flushed, are its new end. At 0 the file is a new one, of this access; a file that is
 * shorter, or a link: ERROR_HOST; one that belongs to a stranger, who can change it later:
 * ERROR_DENIED. A run that ends between pieces leaves what was written. */
int host_write_part(struct host *host, const char *path, uint64_t offset, const void *data,
                    size_t len, enum host_access access, struct error *err);
/* Makes the folder and its parents (these HOST_PUBLIC). One that exists keeps its content, and
 * loses what `access` would not give: rights are taken away, never added. */
int host_make_folder(struct host *host, const char *path, enum host_access access,
                     struct error *err);
/* A file's or folder's access as this host writes it (Windows: SDDL of owner and DACL; the caller
 * frees), and back. An owner that this process may not set stays. Absent: ERROR_ABSENT. */
int host_access_get(struct host *host, const char *path, char **ret, struct error *err);
int host_access_set(struct host *host, const char *path, const char *access, struct error *err);
/* Removes a file, link or empty folder; absent is success. */
int host_remove(struct host *host, const char *path, struct error *err);
/* Removes a folder with its content, not following links, also where somebody exchanges a folder
 * meanwhile; absent is success. */
int host_remove_tree(struct host *host, const char *path, struct error *err);
int host_rename(struct host *host, const char *from, const char *to, struct error *err);
/* A symbolic link at `path` (replacing one) to `target`. */
int host_link(struct host *host, const char *path, const char *target, struct error *err);
enum host_file_type host_file_type(struct host *host, const char *path);
/* Names in a folder, sorted, without . and ..; absent: ERROR_ABSENT. */
int host_list(struct host *host, const char *path, struct text_list *ret, struct error *err);
/* Free bytes on the volume of `path`. */
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
/* "absent", "stopped", ... */
extern const char *const host_service_states[HOST_SERVICE_PAUSED + 1];
/* A service as the SCM has it; everything is text that the caller owns (put) or host_service_free()
 * frees (query). */
struct host_service {
    char *name;
    char *display_name;
    char *description;
    char *command;                /* lpBinaryPathName, quoted where needed */
    struct text_list depends_on;  /* service names */
    struct text_list environment; /* NAME=value, Services\<name>\Environment */
    bool auto_start;
    unsigned restart_delays_ms[3]; /* failure actions; 0 = none */
    bool restart_on_error;         /* after an exit with a code, too (failureflag) */
    unsigned reset_seconds;
    unsigned preshutdown_ms;
    enum host_service_state state; /* query only */
    uint32_t process_id;           /* query only; 0 = none */
    uint32_t exit_code;            /* query only; last service exit code */
    int64_t started; /* query only; when its process began, seconds since 1970; 0 = unknown */
};
void host_service_free(struct host_service *service);
/* Creates or changes it to be exactly this (LocalSystem, own process). */
int host_service_put(struct host *host, const struct host_service *service, struct error *err);
/* Absent is success with state HOST_SERVICE_ABSENT. */
int host_service_query(struct host *host, const char *name, struct host_service *ret,
                       struct error *err);
/* Of a service that ended: with a code of its own (what exit_code then is), or without a word. */
enum { HOST_SERVICE_SPECIFIC_ERROR = 1066, HOST_PROCESS_ABORTED = 1067 };
/* Starts it and waits up to timeout_ms for running; running already is success. One that ended
 * while it came up: ERROR_HOST, its `os` mostly one of the two above. */
int host_service_start(struct host *host, const char *name, unsigned timeout_ms, struct error *err);
/* Stops it and waits, first those that depend on it and run; stopped or absent is success. */
int host_service_stop(struct host *host, const char *name, unsigned timeout_ms, struct error *err);
/* Deletes it and waits until the SCM has forgotten it; absent is success. */
int host_service_delete(struct host *host, const char *name, unsigned timeout_ms,
                        struct error *err);

/* ---- Host Networking Service ---- */

enum hcn_kind { HCN_NETWORK, HCN_ENDPOINT, HCN_NAMESPACE, HCN_LOAD_BALANCER };

/* The HCN calls of computenetwork.dll (facts: ComputeNetwork.h), handles kept inside. `id` is a
 * GUID text without braces. Documents are JSON. Each call ends after HOST_HCN_TIMEOUT_MS at the
 * latest with ERROR_TIMED_OUT (outcome unknown: enumerate again); one that only asks ends with
 * host_set_deadline(), too, but is given a second. Failures carry the HRESULT in
 * err->os and the ErrorRecord's text; kinds: ERROR_ABSENT (0x80070490, 0x803b0001, 02 ...),
 * ERROR_CONFLICT (0x80071392, 0x800700b7, 0x803b0010 ...), ERROR_UNSUPPORTED (no such export),
 * ERROR_DENIED, ERROR_HOST. A non-empty ErrorRecord is a failure even with S_OK. */
enum { HOST_HCN_TIMEOUT_MS = 60000 };
/* JSON array of ids that match the query document (NULL: all); the caller frees. */
int hcn_enumerate(struct host *host, enum hcn_kind kind, const char *query, char **ret,
                  struct error *err);
/* Creates and answers the object's queried properties. `network` is the id of an endpoint's
 * network, NULL for other kinds; `id` may be NULL: HNS chooses. */
int hcn_create(struct host *host, enum hcn_kind kind, const char *network, const char *id,
               const char *document, char **ret_properties, struct error *err);
int hcn_query(struct host *host, enum hcn_kind kind, const char *id, const char *query,
              char **ret_properties, struct error *err);
int hcn_modify(struct host *host, enum hcn_kind kind, const char *id, const char *document,
               struct error *err);
int hcn_delete(struct host *host, enum hcn_kind kind, const char *id, struct error *err);
/* HNSCall of vmcompute.dll (version 1 of the interface): the whole response envelope. */
int hns_call(struct host *host, const char *method, const char *path, const char *request,
             char **ret_response, struct error *err);

/* ---- network of the host itself (iphlpapi) ---- */

struct host_adapter {
    char *alias; /* "Ethernet", "vEthernet (Ethernet)" */
    char *description;
    char mac[18]; /* "00-15-5D-01-02-03" */
    uint32_t index;
    uint32_t mtu;
    bool up;                     /* false, without addresses: it is below a virtual switch */
    bool dhcp;                   /* IPv4 address from DHCP */
    uint32_t metric, metric6;    /* of the interface for IPv4, IPv6; 0 = Windows computes it */
    struct text_list addresses;  /* "10.0.0.21/24", IPv4 and IPv6, link-local ones too */
    struct text_list advertised; /* those of them that a router's advertisement brought */
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
    char destination[50]; /* "10.244.2.0/24" */
    char next_hop[46];    /* "0.0.0.0" = on link */
    uint32_t interface_index;
    uint32_t metric;
    bool
        persistent; /* to be added: outlives a restart of Windows, as a default route does anyway */
};
struct host_routes {
    struct host_route *items;
    size_t count;
};
int host_routes(struct host *host, struct host_routes *ret, struct error *err);
void host_routes_free(struct host_routes *routes);
/* Who is behind an address of the node's own segments, as far as Windows was told (ARP, NDP). */
struct host_neighbor {
    char address[46];
    char mac[18]; /* "00-15-5D-01-02-03"; "" = it was asked for, and nobody answers */
    bool fixed;   /* written by an administrator or a program: it is not asked for */
};
struct host_neighbors {
    struct host_neighbor *items;
    size_t count;
};
int host_neighbors(struct host *host, struct host_neighbors *ret, struct error *err);
void host_neighbors_free(struct host_neighbors *neighbors);
/* Present already (same destination, next hop, interface) is success. */
int host_route_add(struct host *host, const struct host_route *route, struct error *err);
/* Absent is success. */
int host_route_remove(struct host *host, const struct host_route *route, struct error *err);
/* "10.0.0.21/24" on the interface, for good; present already is success. */
int host_address_add(struct host *host, uint32_t interface_index, const char *address,
                     struct error *err);
int host_dns_set(struct host *host, uint32_t interface_index, const struct text_list *servers,
                 struct error *err);
/* Forwarding of one interface and family, 4 or 6 (SetIpInterfaceEntry ForwardingEnabled). */
int host_forwarding(struct host *host, uint32_t interface_index, int family, bool *ret,
                    struct error *err);
int host_forwarding_set(struct host *host, uint32_t interface_index, int family, bool on,
                        struct error *err);
/* The metric of one interface for `family` (4, 6), at least 1. */
int host_metric_set(struct host *host, uint32_t interface_index, int family, uint32_t metric,
                    struct error *err);
/* true when something listens on (tcp) or holds (udp) the local port. */
int host_port_in_use(struct host *host, bool udp, unsigned port, bool *ret, struct error *err);

/* Inbound rule of the Windows Firewall, named and owned by winjoin (Grouping "winjoin"). */
struct host_firewall_rule {
    const char *name;
    const char *description;
    bool udp;
    unsigned port;
};
int host_firewall_put(struct host *host, const struct host_firewall_rule *rule, struct error *err);
/* Absent is success. */
int host_firewall_remove(struct host *host, const char *name, struct error *err);
/* true when a rule of that name exists. */
int host_firewall_has(struct host *host, const char *name, bool *ret, struct error *err);

/* ---- facts, registry, processes, time ---- */

struct host_facts {
    char product[128];                      /* "Windows Server 2022 Datacenter" */
    char installation_type[32];             /* "Server", "Server Core", "Client" */
    unsigned major, minor, build, revision; /* 10.0.20348.2340 */
    char architecture[16];                  /* "amd64" */
    char host_name[256]; /* ComputerNamePhysicalDnsHostname, as the system spells it */
    bool elevated;
    uint64_t memory_bytes;
    uint64_t page_file_bytes; /* configured page file size; 0 = none */
    int containers_feature;   /* 1 installed, 0 not, -1 unknown */
    int restart_pending;      /* 1 yes, 0 no, -1 unknown */
    uint64_t uptime_seconds;  /* since the system started; 0 = unknown */
};
int host_facts(struct host *host, struct host_facts *ret, struct error *err);

/* String (REG_SZ, REG_EXPAND_SZ, REG_DWORD as decimal) under HKLM; absent: ERROR_ABSENT. The
 * caller frees. */
int host_registry_get(struct host *host, const char *key, const char *value, char **ret,
                      struct error *err);
/* Sets a value under HKLM, and makes its key: data as host_registry_get() tells it, a REG_DWORD
 * when `number`, else a REG_SZ, or REG_EXPAND_SZ where it was one; NULL: the value is taken away,
 * and its key when nothing else is in it; absent is success. */
int host_registry_set(struct host *host, const char *key, const char *value, bool number,
                      const char *data, struct error *err);

/* Runs a program (argv[0] is its path) with `input` on its standard input and answers its exit code
 * and standard output (at most 1 MiB; the caller frees). Killed after that time: ERROR_TIMED_OUT.
 */
struct host_process {
    const char *const *argv;        /* NULL-terminated */
    const char *const *environment; /* additional NAME=value, NULL-terminated, or NULL; of ours it
                                     * gets what host/command_line.h hands on */
    const char *input;              /* or NULL */
    unsigned timeout_ms;
    bool with_errors; /* standard error is part of the answer, as it comes */
    bool undoes;      /* what was begun: Ctrl-C does not end it */
    bool named;       /* by the person who calls, who answers for its place */
};
int host_run(struct host *host, const struct host_process *process, int *ret_exit_code,
             char **ret_output, struct error *err);

/* A program that outlives this one, with no console (Ctrl-C does not reach it) and in no job of
 * ours: its standard input is a pipe from this process, whose end tells it that we are gone.
 * *ret is NULL where a played server starts nothing. argv[0] is its path, NULL at the end. */
struct host_watcher;
int host_watcher_start(struct host *host, const char *const *argv, struct host_watcher **ret,
                       struct error *err);
/* Tells it that all is well and waits, at most 5 s, until it has ended. NULL: nothing. */
void host_watcher_end(struct host *host, struct host_watcher *watcher);
/* In that program: true after host_watcher_end(); false when the other program is gone or the time
 * is over. */
bool host_watched_well(struct host *host, unsigned timeout_ms);

/* One entry in the Application log, source "winjoin". level: 'i', 'w' or 'e'. */
int host_event(struct host *host, char level, unsigned event_id, const char *text,
               struct error *err);

/* The source "winjoin" of the Application log: EventMessageFile under this key is where Event
 * Viewer finds the texts. file NULL: the source is taken away; absent is success. Read it with
 * host_registry_get. */
#define HOST_EVENT_SOURCE_KEY "SYSTEM\\CurrentControlSet\\Services\\EventLog\\Application\\winjoin"
int host_event_source_set(struct host *host, const char *file, struct error *err);

/* true when `path` can be opened as a named pipe's client end
 * ("\\\\.\\pipe\\containerd-containerd"). */
bool host_pipe_exists(struct host *host, const char *path);
/* A conversation as client of a named pipe: says `first`, then hands each piece that is heard to
 * `heard`, which adds to `reply` what is to be said and sets *ret_done when nothing more is awaited
 * (-1 with err ends it, too). */
struct host_pipe_talk {
    const void *first;
    size_t first_len;
    int (*heard)(void *context, const void *data, size_t len, struct text *reply, bool *ret_done,
                 struct error *err);
    void *context;
    unsigned timeout_ms; /* of the whole conversation */
};
/* Dials and begins to say `first`. `path` and talk->context must outlive *ret, which the caller
 * closes, in the midst of the conversation, too. No such pipe: ERROR_ABSENT; it is no service of
 * this machine: ERROR_DENIED. */
struct host_pipe;
int host_pipe_open(struct host *host, const char *path, const struct host_pipe_talk *talk,
                   struct host_pipe **ret, struct error *err);
/* Waits at most wait_ms for something to be heard or said; between turns the rest is done. No end
 * in time: ERROR_TIMED_OUT; the server hung up: ERROR_HOST; ERROR_INTERRUPTED. */
int host_pipe_turn(struct host *host, struct host_pipe *pipe, unsigned wait_ms, bool *ret_done,
                   struct error *err);
void host_pipe_close(struct host *host, struct host_pipe *pipe);

int64_t host_now(struct host *host);           /* seconds since 1970, UTC */
uint64_t host_monotonic_ms(struct host *host); /* never goes back */
/* Sleeps; -1 with ERROR_INTERRUPTED when the user asked to stop meanwhile. */
int host_sleep(struct host *host, unsigned milliseconds, struct error *err);
/* true after Ctrl-C, Ctrl-Break, console close or a service stop. */
bool host_interrupted(struct host *host);
/* From that time of host_monotonic_ms() on, everything ends as if it were interrupted; 0: never. */
void host_set_deadline(struct host *host, uint64_t monotonic_ms);
/* The same in so many milliseconds, unless it ends earlier already. Returns what was set before, to
 * be set again. */
uint64_t host_set_limit(struct host *host, unsigned milliseconds);
bool host_deadline_passed(struct host *host);
/* `tick` is called several times a second while something is waited for (host_sleep()), and about
 * once a second during requests and other programs (host_interrupted()). NULL: no more. */
void host_set_tick(struct host *host, void (*tick)(void *context), void *context);
/* winjoin's own records on the machine. */
#define HOST_OWN_FOLDER "C:\\ProgramData\\winjoin"
/* How many things were changed on the machine by this process (files written or moved but those of
 * HOST_OWN_FOLDER, services, HNS objects, routes, addresses, DNS servers): compare two answers. */
unsigned host_changes(const struct host *host);
/* Cryptographically strong. */
int host_random(struct host *host, void *data, size_t len, struct error *err);
/* A number of milliseconds from `from` to `to`, another one on each machine and each time, so that
 * many nodes that were turned away together do not come back together; the middle where there is no
 * randomness. */
unsigned host_spread_ms(struct host *host, unsigned from, unsigned to);
/* An environment variable of this process; NULL when not set; the caller frees. A secret of ours
 * (WINJOIN_TOKEN, host/command_line.h) is there once: reading takes it out. */
char *host_environment(struct host *host, const char *name);
/* Adds the names of this process's environment variables that begin with `prefix` (capitals), on
 * Windows, where their case does not matter, in capitals. */
void host_environment_names(struct host *host, const char *prefix, struct text_list *ret);
/* Path of the running program; the caller frees. */
char *host_program_path(struct host *host);

void host_free(struct host *host);

/* Can this build play a Windows host in a folder (--rootfs)? */
extern const bool host_rehearses;

/* Windows alone: the machine this program runs on. Never fails; host_free(). */
struct host *host_win32_open(void);
