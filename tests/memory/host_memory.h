/* A host in memory for unit tests: starts as a bare server, records every call, fails the n-th. */
#pragma once
#include "base/json.h"
#include "host/host.h"

struct host *host_memory_new(void);
/* Number of calls so far that can fail. */
size_t host_memory_calls(const struct host *host);
/* The n-th call from now (1 = next) that can fail fails with ERROR_HOST; 0 = none. */
void host_memory_fail(struct host *host, size_t n);
/* The same, and each call after it too, as if the program was killed there. */
void host_memory_die(struct host *host, size_t n);
/* The next call whose line in the log begins so fails; borrowed, NULL = none. */
void host_memory_fail_named(struct host *host, const char *line);
/* Where the running program lies, borrowed; at first where a join installs it. "": not known. */
void host_memory_set_program_path(struct host *host, const char *path);
/* Its line in the log and those after it, once it has failed. */
const char *host_memory_failed(const struct host *host);
/* One line a call so far: "write C:\\x secret 123 bytes", "service_put kubelet", "HcnCreateNetwork
 * 00000000-... {...}" (exports of HNS with all their arguments). Borrowed until the next call. */
const char *host_memory_log(const struct host *host);
/* The whole state as JSON (files as text or base64, services, registry, firewall, routes, adapters,
 * HNS objects), to compare before and after. New reference. */
json_t *host_memory_state(const struct host *host);
/* One value of it that is no file: "services.kubelet.state". The host owns it; NULL: none. */
const json_t *host_memory_at(const struct host *host, const char *path);
/* Preparing the scene. */
/* A merge patch (RFC 7386) of the state but its files. */
void host_memory_patch(struct host *host, const json_t *patch);
void host_memory_set_facts(struct host *host, const struct host_facts *facts);
void host_memory_set_registry(struct host *host, const char *key, const char *value,
                              const char *data);
void host_memory_set_environment(struct host *host, const char *name, const char *value);
/* Something holds the port; a pipe of that path answers; what the SCM says of a service (absent:
 * removed). */
void host_memory_set_port(struct host *host, bool udp, unsigned port);
void host_memory_set_pipe(struct host *host, const char *path);
void host_memory_set_service_state(struct host *host, const char *name,
                                   enum host_service_state state);
/* It ended by itself with that code. */
void host_memory_end_service(struct host *host, const char *name, uint32_t exit_code);
/* The next `times` starts of it end at once, with exit code 1. */
void host_memory_end_service_starts(struct host *host, const char *name, unsigned times);
/* What host_free_space() answers for every volume but X:, which is not there; 64 GiB at first. */
void host_memory_set_free_space(struct host *host, uint64_t bytes);
/* The user pressed Ctrl-C. */
void host_memory_interrupt(struct host *host);
/* How many watchers were started and not ended. */
size_t host_memory_watchers(struct host *host);
/* What host_watched_well() answers. */
void host_memory_set_watched_well(struct host *host, bool well);
/* A program has that file open, or runs from it: it cannot be removed nor written over, and stays
 * held where it is renamed. NULL: none any more. */
void host_memory_hold(struct host *host, const char *path);
/* An ordinary user made that file or folder, which is there. */
void host_memory_give_to_user(struct host *host, const char *path);
/* Who is behind that address of a segment (struct host_neighbor). */
void host_memory_add_neighbor(struct host *host, const char *address, const char *mac, bool fixed);
void host_memory_set_adapters(struct host *host, const struct host_adapters *adapters);
/* What a program that host_run() starts answers; matched by argv[0]'s base name. */
void host_memory_set_program(struct host *host, const char *name, int exit_code,
                             const char *output);
/* The flags that this program, set before, knows ("v node-ip"): others end it with 1, --help prints
 * them. */
void host_memory_set_program_flags(struct host *host, const char *name, const char *flags);
/* Asked before each program is run: true when it has answered, with exit code and words, or with an
 * error. */
typedef bool host_memory_run(void *context, struct host *host, const struct host_process *process,
                             int *ret_code, struct text *ret_said, struct error *err);
void host_memory_on_run(struct host *host, host_memory_run *hook, void *context);
/* Who answers HNS calls (tests link the HNS model); NULL: a plain store of documents. `call` gets
 * the export's name and its inputs in order (handles as the text that it gave) and answers HRESULT,
 * *ret_result (the first output that is not the ErrorRecord) and *ret_error_record, both malloc'ed
 * or NULL. Either way the host's adapters follow: host/model/model.h, model_hns(). */
typedef uint32_t host_memory_hns(void *context, const char *function, const char *const *arguments,
                                 size_t count, char **ret_result, char **ret_error_record);
void host_memory_set_hns(struct host *host, host_memory_hns *call, void *context);
/* From now on no call of HNS comes back: each takes all the time that it is given. */
void host_memory_hang_hns(struct host *host);
/* Who answers on every pipe: handed what was said, adds to `answer`; nothing: it hung up, or
 * said host_memory_pipe_not_yet() and is asked again later. NULL: there is no pipe to talk on. */
typedef void host_memory_pipe(void *context, const void *said, size_t len, struct text *answer);
void host_memory_set_pipe_answer(struct host *host, host_memory_pipe *answer, void *context);
void host_memory_pipe_not_yet(struct host *host);
/* Lets go what the host itself notes of what was done: its log and the event log. */
void host_memory_forget(struct host *host);
/* The service hns gets another process (registered where it is not), and Windows' store of HNS (not
 * that of host_memory_set_hns()) loses what a restart loses: networks with Flags 8, their
 * endpoints, all load balancers. */
void host_memory_restart_hns(struct host *host);
/* Moves the clock (host_sleep moves it too, without waiting). */
void host_memory_advance(struct host *host, unsigned milliseconds);
/* Called by host_sleep with the new time, so that a test can change the scene while winjoin waits.
 */
void host_memory_on_sleep(struct host *host, void (*hook)(void *, struct host *), void *context);
/* What the list of a file or folder comes down to: "public" (it inherits), "secret", "read-only",
 * ...; else it as SDDL. The caller frees. */
char *host_memory_access(struct host *host, const char *path);
/* From now on, as a command begins: each call is checked for what an ordinary user could have made,
 * changed or replaced by then. What stands in folders where others add is believed once its owner
 * was asked. Lists are those of a fresh Windows Server. Off at first. */
void host_memory_check_access(struct host *host);
/* A line each: "call 12 (run C:\\k\\a.exe): add to C:\\k". Borrowed. */
const struct text_list *host_memory_openings(const struct host *host);
