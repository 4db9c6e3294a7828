/* Errors as values: a kind that decides retry and exit code, and one line of text. */
#pragma once

/* What a failure means to the caller; the exit code of each kind is in docs (contracts: exit
 * codes) and in error_exit_code(). */
enum error_kind {
    ERROR_NONE = 0,
    ERROR_USAGE,       /* the call or a configuration file is wrong; nothing was touched: 3 */
    ERROR_PREFLIGHT,   /* the host is not fit: 2 */
    ERROR_NETWORK,     /* no connection, or it broke; may be tried again: 1 */
    ERROR_TIMED_OUT,   /* a bounded wait ended: 1 */
    ERROR_DENIED,      /* 401, 403, access denied, CSR denied: 1 */
    ERROR_ABSENT,      /* the thing is absent: 1 */
    ERROR_CONFLICT,    /* the thing is there already or changed meanwhile: 1 */
    ERROR_UNTRUSTED,   /* signature, pin, certificate, changed answer, checksum: 4; never retried */
    ERROR_MALFORMED,   /* bytes from outside that do not parse: 1 */
    ERROR_HOST,        /* Windows (or HNS) said no: 1 */
    ERROR_UNSUPPORTED, /* this build of Windows or of winjoin cannot do it, now or later: 3 */
    ERROR_FLOWS,       /* joined, but flows that must work do not: 5 */
    ERROR_RESTART,     /* a restart of Windows is needed first: 6 */
    ERROR_INTERRUPTED, /* Ctrl-C or service stop: 130 */
};

enum { ERROR_MESSAGE_MAX = 1024, ERROR_HINTS_MAX = 5, ERROR_HINT_MAX = 320 };

/* Caller-owned, fixed size, no heap. Zero-initialise: `struct error err = {0};` */
struct error {
    enum error_kind kind;
    unsigned long os; /* errno, Win32 code or HRESULT where there is one; 0 otherwise */
    char message[ERROR_MESSAGE_MAX];
    char hints[ERROR_HINTS_MAX][ERROR_HINT_MAX]; /* what to do next, one line each; "" = none */
};

/* Fills err (NULL allowed) and returns -1, so that `return error_set(...)` is one line. Longer text
 * is cut. Control characters and bytes that are no UTF-8 are shown escaped (\x1b, \n). */
int error_set(struct error *err, enum error_kind kind, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));
/* The same with the operating system's number; the text gets " (0x803b0006)" or " (5)" added. */
int error_set_os(struct error *err, enum error_kind kind, unsigned long os, const char *format, ...)
    __attribute__((format(gnu_printf, 4, 5)));
/* Puts "text: " before the message; returns -1. The kind stays. */
int error_prefix(struct error *err, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
/* Adds a hint line (the first five are kept); returns -1. */
int error_hint(struct error *err, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
/* Makes it a failure of this kind, whatever it was; returns -1. */
int error_as(struct error *err, enum error_kind kind);
/* For a call whose failure matters to nobody: (void)host_remove(host, path, ERROR_IGNORED). */
#define ERROR_IGNORED (&(struct error){0})
/* Makes `why` the caller's error (err NULL: nobody asks); returns -1. */
int error_pass(struct error *err, const struct error *why);
/* 0 and no error when `err`, not NULL, is of this kind, else -1: absent needs no removal. */
int error_forgive(struct error *err, enum error_kind kind);
/* Back to ERROR_NONE with no text. */
void error_clear(struct error *err);

/* "usage", "preflight", "network", ...: the names in documents. */
const char *error_kind_name(enum error_kind kind);
/* The process exit code of a kind. */
int error_exit_code(enum error_kind kind);
/* 1 when trying the same again later may help (network, timeout, conflict). */
int error_is_retryable(const struct error *err);
