/* The probe has four parts: the questions it gets (probes.txt), its results (results-N.txt), the
 * measuring of one question, and the program that does this in a pod or by hand.
 *
 * All files in this folder also make the small program winjoin-probe, whose image has little more
 * than the C library. So they use only base/error, base/text, base/memory and host/socket. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

enum {
    PROBE_NAME_MAX = 64,    /* The longest id or name of a responder. */
    PROBE_TARGET_MAX = 254, /* DNS names have at most 253 characters (RFC 1035). */
    PROBE_ADDRESSES_MAX = 8,
    PROBE_PAYLOAD_MAX = 2000, /* The largest payload, in bytes. */
    PROBE_LIST_MAX = 256,
    PROBE_FILE_MAX = 128 * 1024,
    PROBE_TIMEOUT_MAX_MS = 60000,
    PROBE_ATTEMPTS_MAX = 100,
    PROBE_PORT = 18080, /* The port of the echo listeners, for TCP and UDP. */
};

enum probe_kind {
    /* Connects to the target; with a payload, also exchanges it with the echo listener there. */
    PROBE_TCP,
    PROBE_UDP, /* Exchanges a payload with the echo listener there. */
    /* As PROBE_UDP, but the answer may come from another address of the target. */
    PROBE_UDP_ANY,
    PROBE_DNS,     /* Asks the DNS server there, over UDP. */
    PROBE_DNS_TCP, /* Asks the DNS server there, over TCP. */
    PROBE_PAGE,    /* Asks the HTTP server there for a page. */
    PROBE_RESOLVE, /* Resolves the target with the system's resolver. */
};
/* Outcomes of a probe. Results and reports have the texts of probe_outcome_names[]. */
enum probe_outcome {
    PROBE_OK,
    PROBE_REFUSED,
    PROBE_TIMEOUT,
    PROBE_UNREACHABLE,
    PROBE_RESET,
    PROBE_NO_REPLY,
    PROBE_DNS_NXDOMAIN,
    PROBE_DNS_TIMEOUT,
    PROBE_DNS_SERVFAIL,
    /* An unexpected responder answered, or the answer is not the echo of the payload. */
    PROBE_WRONG_RESPONDER,
    PROBE_FAILED, /* Any other failure. */
};

struct probe {
    char id[PROBE_NAME_MAX + 1]; /* The id, made of [a-z0-9.-]. */
    enum probe_kind kind;
    /* An address, or a name that the system resolves first. */
    char target[PROBE_TARGET_MAX];
    unsigned port; /* The port; 0 for PROBE_RESOLVE. */
    /* For TCP and UDP, bytes to echo; with 0, a TCP connection is enough. For DNS over TCP, bytes
     * of the question; 0 means as few as possible. For HTTP, bytes of the answer that must
     * arrive. */
    unsigned payload;
    /* For DNS, the name to ask for; for HTTP, the page without its '/'; otherwise "". */
    char question[PROBE_TARGET_MAX];
    /* For TCP and UDP, the name of the echo listener; "" accepts any. For DNS, "address" requires
     * an address in the answer, "address6" an IPv6 address; "" accepts any answer of the server. */
    char expect[PROBE_NAME_MAX + 1];
    unsigned timeout_ms; /* Milliseconds for one attempt. */
    /* The number of attempts; two failures before any success end them early. */
    unsigned attempts;
};
struct probe_list {
    struct probe *items;
    size_t count;
};

struct probe_result {
    char id[PROBE_NAME_MAX + 1];
    /* The outcome of the last failure; PROBE_OK when every attempt succeeded. */
    enum probe_outcome outcome;
    unsigned attempts;
    unsigned succeeded;
    /* Microseconds of the attempts that succeeded; 0 when none did. */
    unsigned min_us, median_us, p95_us, max_us;
    char responder[PROBE_NAME_MAX + 1]; /* The last responder; "" when unknown. */
    /* Addresses to which the target, or the name in the question, resolved. */
    char addresses[PROBE_ADDRESSES_MAX][46];
    size_t address_count;
};
struct probe_results {
    struct probe_result *items;
    size_t count;
};

/* Names by kind ("tcp", "dns-tcp", ...) and by outcome ("ok", "dns-nxdomain", ...). */
extern const char *const probe_kind_names[PROBE_RESOLVE + 1];
extern const char *const probe_outcome_names[PROBE_FAILED + 1];
int probe_outcome_parse(const char *name, enum probe_outcome *ret);

/* ---- files of the mailbox: one item in a line, spaces between fields, "-" when empty ---- */

/* Parses "winjoin-probes 1", then one line for each probe: id kind target port payload question
 * expect timeout-ms attempts. Unknown kinds, wrong numbers, duplicate ids, control characters, more
 * than PROBE_LIST_MAX lines or PROBE_FILE_MAX bytes fail with ERROR_MALFORMED and the line's
 * number. */
int probe_list_parse(const char *text, size_t len, struct probe_list *ret, struct error *err);
char *probe_list_write(const struct probe_list *list); /* The caller frees the text. */
void probe_list_free(struct probe_list *list);

/* Parses "winjoin-results 1", then one line for each result: id outcome attempts succeeded min
 * median p95 max responder addresses (separated by commas), and at last "end COUNT", by which a
 * truncated file is recognized. Fails with ERROR_MALFORMED. */
int probe_results_parse(const char *text, size_t len, struct probe_results *ret, struct error *err);
char *probe_results_write(const struct probe_results *results); /* The caller frees the text. */
void probe_results_free(struct probe_results *results);
/* Returns NULL when no result has that id. */
const struct probe_result *probe_results_find(const struct probe_results *results, const char *id);

/* heartbeat.txt: the probe's name and its addresses. */
struct probe_heartbeat {
    char name[PROBE_NAME_MAX + 1];
    char host_name[PROBE_TARGET_MAX];
    /* The value of --run: the id of the run that started the probe; "" when there is none. */
    char run[PROBE_NAME_MAX + 1];
    /* The addresses of the network stack, without loopback. */
    char addresses[PROBE_ADDRESSES_MAX][46];
    size_t address_count;
    unsigned long beat;      /* Increases while the probe runs. */
    bool tcp_echo, udp_echo; /* The listeners are open. */
};
int probe_heartbeat_parse(const char *text, size_t len, struct probe_heartbeat *ret,
                          struct error *err);
/* Writes heartbeat.txt. The caller frees the text. */
char *probe_heartbeat_write(const struct probe_heartbeat *heartbeat);
/* Returns the pod's first address that is not link-local: an IPv4 address, or an IPv6 address when
 * there is no IPv4 address or with `ipv6`. NULL when the pod has no such address. */
const char *probe_heartbeat_address(const struct probe_heartbeat *heartbeat, bool ipv6);

/* ---- measure a probe ---- */

/* Sorts `times`, one for each attempt that succeeded, and sets min_us, median_us, p95_us and max_us
 * of the result. */
void probe_result_time(struct probe_result *result, unsigned *times);
/* Runs one probe with the sockets of this process. */
void probe_measure(const struct probe *probe, struct probe_result *ret);

/* ---- the command line ---- */

/* Runs a verb, which is argv[0].
 *
 * `serve --mailbox DIR --name NAME [--run RUN] [--tcp PORT] [--udp PORT] [--address IP]` opens echo
 * listeners, writes heartbeats, and for each file go-N runs probes.txt and writes results-N.txt. It
 * ends when the file DIR/stop appears, or when the mailbox could not be written for a minute.
 *
 * `tcp|udp|udp-any|dns|dns-tcp|http TARGET:PORT [--payload N] [--question NAME] [--expect NAME]
 * [--timeout MS] [--attempts N]` and `resolve NAME` run one probe by hand, and add its result to
 * `output`.
 *
 * Returns 0 when every attempt succeeded. Fails with ERROR_NETWORK when the probe failed (`output`
 * is filled then), with ERROR_USAGE for wrong arguments, with ERROR_HOST without sockets. */
int probe_command(int argc, char *const *argv, struct text *output, struct error *err);
/* The help of probe_command(), in several lines. */
extern const char probe_usage[];

/* ---- Lines of fields with spaces between them, the form of every file in the mailbox. ---- */

enum { PROBE_FIELDS_MAX = 10, PROBE_FIELD_MAX = 400 };

struct probe_reader {
    const char *at, *end;
    const char *what; /* The kind of file, for messages: "winjoin-probes". */
    size_t line;      /* The number of the line that was read last. */
    size_t count;     /* The number of its fields. */
    char fields[PROBE_FIELDS_MAX][PROBE_FIELD_MAX];
};

/* Begins to read; the first line must be "<title> 1". Fails with ERROR_MALFORMED. */
int probe_reader_open(struct probe_reader *reader, const char *text, size_t len, const char *title,
                      struct error *err);
/* Reads the next line with fields; empty lines are skipped. Returns 1 when there is one, 0 at the
 * end, -1 with ERROR_MALFORMED (bytes outside printable ASCII, too many or too long fields). Lines
 * end with LF or CRLF. */
int probe_reader_next(struct probe_reader *reader, struct error *err);
/* Reads field i as a number; fails with ERROR_MALFORMED, which names the line and the field. */
int probe_reader_number(struct probe_reader *reader, size_t i, const char *name, long long min,
                        long long max, unsigned *ret, struct error *err);
/* Reads field i as text of at most size - 1 bytes; "-" becomes "". */
int probe_reader_text(struct probe_reader *reader, size_t i, const char *name, char *ret,
                      size_t size, struct error *err);
/* Sets ERROR_MALFORMED with "decode winjoin-probes: line 3: <why>", and returns -1. */
int probe_reader_fail(const struct probe_reader *reader, struct error *err, const char *why);

/* Splits "a,b,c" into at most `max` addresses of at most 45 bytes; "" gives none. Returns -1 when a
 * part cannot be an address, or there are too many. */
int probe_addresses_split(const char *text, char (*ret)[46], size_t max, size_t *ret_count);
/* Is the id 1 to 64 characters of [a-z0-9.-]? */
bool probe_id_is_valid(const char *id);
/* Is the target an address or DNS name: 1 to 253 characters of [A-Za-z0-9._:-], the first not
 * '-'? */
bool probe_target_is_valid(const char *target);

/* ---- a list of probes that are measured at the same time, each attempt on its own thread ---- */

/* A measurement of all probes of a list at the same time. The attempts of one probe follow each
 * other, but an attempt that takes long does not delay the next one, so that a dead path costs
 * little more than one time-out. */
struct probe_work;
/* Copies the list; does not start any attempt. */
struct probe_work *probe_work_new(const struct probe_list *list);
/* Starts the attempts that are due. Returns true when all have ended. The caller repeats the call
 * every few milliseconds. */
bool probe_work_step(struct probe_work *work);
/* Waits until all attempts have ended, adds the results in the list's order, and frees `work`. */
void probe_work_end(struct probe_work *work, struct probe_results *ret);

/* ---- the probe inside a pod ---- */

/* Options of a serving probe. All text is borrowed. */
struct probe_server {
    const char *mailbox; /* The path of the mailbox folder. */
    const char *name;    /* The name with which the echo listeners answer. */
    /* The id of the run, written into heartbeats; "" when there is none. */
    const char *run;
    /* The address to listen on and to report; "" listens on all and reports those of the system. */
    const char *address;
    unsigned tcp_port, udp_port; /* Ports of the echo listeners; 0 opens none. */
};
/* Serves until the mailbox has a file "stop", or could not be written for a minute. */
void probe_serve(const struct probe_server *options);
