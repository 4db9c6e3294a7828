/* Asks a probe one question: agnhost's /dial, through the API server's pod proxy. */
#pragma once

#include "diag/probe/probe.h"

enum {
    DIAL_TIMEOUT_MS = 5000, /* The time-out of netexec itself, for one try. */
    /* The wait for an answer that is counted: long enough that a late probe can still report a lost
     * packet. */
    DIAL_COUNTED_MS = DIAL_TIMEOUT_MS + 10000
};

/* Returns the path of a request; `request` is what the target is asked for ("hostname",
 * "clientip"). The caller frees it. */
char *dial_path(const char *namespace_, const char *pod, const char *host, unsigned port, bool udp,
                const char *request, unsigned tries);

enum dial_end {
    DIAL_ANSWERED, /* The probe reports a result, and *ret is filled. */
    /* The probe could not be asked, and `why` holds the API server's words. */
    DIAL_NOT_RUN,
};
/* Decides whether a responder is the expected one. Borrowed. */
struct dial_expected {
    bool (*is_right)(const void *context, const char *responder);
    const void *context;
};
/* Reads the result of a dial. `status` is the HTTP status; when it is 0, `body` is the reason. An
 * answer from a responder other than `expected` (NULL means that each is right) is a failed attempt
 * with PROBE_WRONG_RESPONDER. Fills these members of *ret: outcome, attempts, succeeded, responder
 * (the last wrong one, else the last one), and addresses[] (all different responders, as far as
 * they fit). `why` gets a plain text, or "". */
enum dial_end dial_read(long status, const char *body, size_t len, bool udp,
                        const struct dial_expected *expected, struct probe_result *ret, char *why,
                        size_t why_size);
/* Says whether the host is an IP address and not a name. */
bool dial_is_address(const char *host);
/* Was the API server's connection to the probe refused? Then the pod exists without a listener. */
bool dial_is_refused(long status, const char *body, size_t len);
/* Reads the pod's DNS settings: suffixes in the first line, servers in the second, separated by
 * commas. NULL when nothing can be read. The caller frees it. */
char *dial_settings_read(long status, const char *body, size_t len);
