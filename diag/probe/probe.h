/* The probe: what it is asked (probes.txt), what it answers (results-N.txt), how one question is
 * measured, and the program that does this inside a pod or by hand.
 *
 * Everything in this folder also makes the tiny program winjoin-probe, which finds little but the C
 * library inside its image: these files use base/error, base/text, base/memory and host/socket
 * only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

enum {
    PROBE_NAME_MAX = 64,    /* ids and responders */
    PROBE_TARGET_MAX = 254, /* DNS names (RFC 1035: 253) */
    PROBE_ADDRESSES_MAX = 8,
    PROBE_PAYLOAD_MAX = 2000, /* bytes */
    PROBE_LIST_MAX = 256,
    PROBE_FILE_MAX = 128 * 1024,
    PROBE_TIMEOUT_MAX_MS = 60000,
    PROBE_ATTEMPTS_MAX = 100,
    PROBE_PORT = 18080, /* where the echo listens, TCP and UDP */
};

enum probe_kind {
    PROBE_TCP,     /* connects; with a payload also talks to the echo there */
    PROBE_UDP,     /* talks to the echo there */
    PROBE_UDP_ANY, /* the same; the answer may come from another address of the target */
    PROBE_DNS,     /* asks the DNS server there, over UDP */
    PROBE_DNS_TCP, /* the same over TCP */
    PROBE_PAGE,    /* asks the HTTP server there for a page */
    PROBE_RESOLVE, /* resolves by the system's resolver */
};
/* How a probe ended: probe_outcome_names[] stand in results and reports. */
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
    PROBE_WRONG_RESPONDER, /* somebody else answered, or not what was said */
    PROBE_FAILED,          /* anything else */
};

struct probe {
    char id[PROBE_NAME_MAX + 1]; /* [a-z0-9.-] */
    enum probe_kind kind;
    char target[PROBE_TARGET_MAX]; /* address or name; a name is resolved by the system first */
    unsigned port;                 /* 0 for PROBE_RESOLVE */
    unsigned payload; /* TCP, UDP: bytes to echo; 0 = connecting is enough (TCP). DNS over TCP: of
                   the question, 0 = as short as it is. HTTP: of the answer that must come */
    /* DNS: the name asked for; HTTP: the page, without its '/'; "" otherwise */
    char question[PROBE_TARGET_MAX];
    /* TCP, UDP: the echo's name, "" = whoever answers. DNS: "address" = an address must come back,
     * "address6" = one of IPv6, "" = any answer of the server will do. */
    char expect[PROBE_NAME_MAX + 1];
    unsigned timeout_ms; /* of one attempt */
    unsigned attempts;   /* two failures before any success end it early */
};
struct probe_list {
    struct probe *items;
    size_t count;
};

struct probe_result {
    char id[PROBE_NAME_MAX + 1];
    enum probe_outcome outcome; /* of the last failure; PROBE_OK when every attempt succeeded */
    unsigned attempts;
    unsigned succeeded;
    unsigned min_us, median_us, p95_us, max_us; /* microseconds over the successes; 0 = none */
    char responder[PROBE_NAME_MAX + 1];         /* who answered last, "" = unknown */
    char addresses[PROBE_ADDRESSES_MAX][46];    /* what the target or question resolved to */
    size_t address_count;
};
struct probe_results {
    struct probe_result *items;
    size_t count;
};

/* By kind and by outcome: "tcp", "dns-tcp", ...; "ok", "dns-nxdomain", ... */
extern const char *const probe_kind_names[PROBE_RESOLVE + 1];
extern const char *const probe_outcome_names[PROBE_FAILED + 1];
int probe_outcome_parse(const char *name, enum probe_outcome *ret);

/* ---- the files of the mailbox (text, one item a line, blanks between fields, "-" = none) ---- */

/* "winjoin-probes 1", then one line a probe: id kind target port payload question expect timeout-ms
 * attempts. Strict: unknown kinds, wrong numbers, double ids, control characters, more than
 * PROBE_LIST_MAX lines or PROBE_FILE_MAX bytes fail with ERROR_MALFORMED and the line's number. */
int probe_list_parse(const char *text, size_t len, struct probe_list *ret, struct error *err);
char *probe_list_write(const struct probe_list *list); /* the caller frees */
void probe_list_free(struct probe_list *list);

/* "winjoin-results 1", then: id outcome attempts succeeded min median max responder
 * addresses(comma), then "end COUNT", so that a file cut short is seen. Fails: ERROR_MALFORMED. */
int probe_results_parse(const char *text, size_t len, struct probe_results *ret, struct error *err);
char *probe_results_write(const struct probe_results *results); /* the caller frees */
void probe_results_free(struct probe_results *results);
/* NULL when no result has that id. */
const struct probe_result *probe_results_find(const struct probe_results *results, const char *id);

/* heartbeat.txt: who the probe is and which addresses it has. */
struct probe_heartbeat {
    char name[PROBE_NAME_MAX + 1];
    char host_name[PROBE_TARGET_MAX];
    char run[PROBE_NAME_MAX + 1]; /* --run: which question period it was started for, "" = none */
    char addresses[PROBE_ADDRESSES_MAX][46]; /* without loopback, as the network stack has them */
    size_t address_count;
    unsigned long beat;      /* counts up while it lives */
    bool tcp_echo, udp_echo; /* the listeners stand */
};
int probe_heartbeat_parse(const char *text, size_t len, struct probe_heartbeat *ret,
                          struct error *err);
char *probe_heartbeat_write(const struct probe_heartbeat *heartbeat); /* the caller frees */
/* The first address that a pod can be reached by, no link-local one: one of IPv4, else, or with
 * `ipv6`, one of IPv6. NULL: there is none. */
const char *probe_heartbeat_address(const struct probe_heartbeat *heartbeat, bool ipv6);

/* ---- measuring ---- */

/* Fills in min_us, median_us, p95_us and max_us: of `times`, which are as many as succeeded, and
 * are sorted. */
void probe_result_time(struct probe_result *result, unsigned *times);
/* Runs one probe over the sockets of this process. */
void probe_measure(const struct probe *probe, struct probe_result *ret);

/* ---- the program ---- */

/* `serve --mailbox DIR --name NAME [--tcp PORT] [--udp PORT] [--address IP]`: echoes, beats, and
 * for each go-N that appears runs probes.txt and writes results-N.txt; ends when the mailbox has
 * been gone for a minute (or when DIR/stop appears). `tcp|udp|dns|dns-tcp|http TARGET:PORT
 * [--payload N] [--question NAME] [--expect NAME] [--timeout MS] [--attempts N]` and `resolve
 * NAME`: one probe by hand; its result is added to `output`. argv[0] is the verb. 0 = done, every
 * attempt ok; ERROR_NETWORK = the probe failed (output is filled); ERROR_USAGE. */
int probe_command(int argc, char *const *argv, struct text *output, struct error *err);
/* The help of probe_command(), several lines. */
extern const char probe_usage[];

/* Lines of blank-separated fields: the shape of every file in the probe's mailbox. */

enum { PROBE_FIELDS_MAX = 10, PROBE_FIELD_MAX = 400 };

struct probe_reader {
    const char *at, *end;
    const char *what; /* "probes", for messages */
    size_t line;      /* number of the line read last */
    size_t count;     /* its fields */
    char fields[PROBE_FIELDS_MAX][PROBE_FIELD_MAX];
};

/* Starts at the first line, which must be "<title> 1". Fails with ERROR_MALFORMED. */
int probe_reader_open(struct probe_reader *reader, const char *text, size_t len, const char *title,
                      struct error *err);
/* 1 with the next line's fields, 0 at the end, -1 with ERROR_MALFORMED (bytes outside printable
 * ASCII, too many or too long fields). Empty lines are passed over; LF and CRLF end a line. */
int probe_reader_next(struct probe_reader *reader, struct error *err);
/* Field i as a number, or -1 with ERROR_MALFORMED that names line and field. */
int probe_reader_number(struct probe_reader *reader, size_t i, const char *name, long long min,
                        long long max, unsigned *ret, struct error *err);
/* Field i as text of at most size - 1 bytes; "-" becomes "". */
int probe_reader_text(struct probe_reader *reader, size_t i, const char *name, char *ret,
                      size_t size, struct error *err);
/* -1 with ERROR_MALFORMED: "decode probes: line 3: <why>". */
int probe_reader_fail(const struct probe_reader *reader, struct error *err, const char *why);

/* "a,b,c" into at most `max` addresses of 45 bytes; -1 when one is no address text. "" = none. */
int probe_addresses_split(const char *text, char (*ret)[46], size_t max, size_t *ret_count);
/* true for 1..64 characters of [a-z0-9.-]. */
bool probe_id_is_valid(const char *id);
/* true for an address or a DNS name: [A-Za-z0-9._:-], 1..253 characters, not beginning with '-'. */
bool probe_target_is_valid(const char *target);

/* A list of probes measured at the same time, attempts on threads of their own. */

/* All probes of a list are measured at the same time. The attempts of one follow each other; an
 * attempt that takes long does not keep the next one waiting, so that a dead path costs little more
 * than one time-out. */
struct probe_work;
/* Copies the list; starts nothing yet. */
struct probe_work *probe_work_new(const struct probe_list *list);
/* Starts the attempts that are due; true when all have ended. Call it every few milliseconds. */
bool probe_work_step(struct probe_work *work);
/* Adds the results in the order of the list and frees `work`; waits where something still runs. */
void probe_work_end(struct probe_work *work, struct probe_results *ret);

/* ---- the probe's life inside a pod ---- */

/* Text is borrowed. */
struct probe_server {
    const char *mailbox;         /* folder */
    const char *name;            /* what the echo answers with */
    const char *run;             /* reported in heartbeats, "" = none */
    const char *address;         /* to listen on and to report; "" = all, and what the system has */
    unsigned tcp_port, udp_port; /* 0 = no echo */
};
/* Serves until a file "stop" is in the mailbox or nothing could be written there for a minute. */
void probe_serve(const struct probe_server *options);
