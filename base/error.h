/* Defines errors as values: a kind, which decides retry and exit code, and one line of text. */
#pragma once

/* Says what a failure means to the caller. The number at the end of each comment is the exit code
 * of the program, as in docs/unattended.md and error_exit_code(). */
enum error_kind {
    ERROR_NONE = 0,
    /* The command line or a configuration file is wrong; nothing was changed. Exit code 3. */
    ERROR_USAGE,
    ERROR_PREFLIGHT,   /* The host does not meet the requirements. Exit code 2. */
    ERROR_NETWORK,     /* There is no connection, or it broke. A retry may help. Exit code 1. */
    ERROR_TIMED_OUT,   /* A wait with a time limit ended without success. Exit code 1. */
    ERROR_DENIED,      /* HTTP 401 or 403, access denied, or a denied CSR. Exit code 1. */
    ERROR_ABSENT,      /* The object, file or service does not exist. Exit code 1. */
    ERROR_CONFLICT,    /* The object exists already, or changed in the meantime. Exit code 1. */
    ERROR_UNTRUSTED,   /* A signature, pin, certificate or checksum is wrong, or an answer was
                          changed. Never retried. Exit code 4. */
    ERROR_MALFORMED,   /* Input from outside cannot be parsed. Exit code 1. */
    ERROR_HOST,        /* Windows or HNS reported a failure. Exit code 1. */
    ERROR_UNSUPPORTED, /* The running version of Windows or this build of winjoin can never do what
                          was asked. Exit code 3. */
    ERROR_FLOWS,       /* The node joined, but some traffic that must work does not. Exit code 5. */
    ERROR_RESTART,     /* Windows must be restarted first. Exit code 6. */
    ERROR_INTERRUPTED, /* The user pressed Ctrl-C, or the service was stopped. Exit code 130. */
};

enum { ERROR_MESSAGE_MAX = 1024, ERROR_HINTS_MAX = 5, ERROR_HINT_MAX = 320 };

/* One error. The caller owns it; it has a fixed size and no heap memory. Initialize it with zeros:
 * `struct error err = {0};` */
struct error {
    enum error_kind kind;
    /* errno, Win32 error code or HRESULT of the failed call; 0 if the failure has no code. */
    unsigned long os;
    char message[ERROR_MESSAGE_MAX];
    /* What the user can do next, one line each; "" when unused. */
    char hints[ERROR_HINTS_MAX][ERROR_HINT_MAX];
};

/* Fills err (may be NULL) and returns -1, so that callers can write `return error_set(...)`. Longer
 * text is cut. Control characters and bytes that are not UTF-8 are shown escaped (\x1b, \n). */
int error_set(struct error *err, enum error_kind kind, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));
/* Works as error_set() and records the operating system's error number `os`. It appends the number
 * to the text, e.g. " (0x803b0006)" or " (5)". */
int error_set_os(struct error *err, enum error_kind kind, unsigned long os, const char *format, ...)
    __attribute__((format(gnu_printf, 4, 5)));
/* Puts the formatted text and ": " before the message and returns -1. The error's kind stays. */
int error_prefix(struct error *err, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
/* Adds a hint line to the error and returns -1. An error keeps its first five hints. */
int error_hint(struct error *err, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
/* Replaces the kind of the error by `kind` and returns -1. */
int error_as(struct error *err, enum error_kind kind);
/* An error argument for a call whose failure does not matter: (void)host_remove(host, path,
 * ERROR_IGNORED). */
#define ERROR_IGNORED (&(struct error){0})
/* Copies the error `why` into the caller's `err` (may be NULL) and returns -1. */
int error_pass(struct error *err, const struct error *why);
/* Clears `err` (not NULL) and returns 0 when its kind is `kind`, else returns -1. Example: removal
 * succeeds when the file is absent. */
int error_forgive(struct error *err, enum error_kind kind);
/* Resets the error to ERROR_NONE without text and hints. */
void error_clear(struct error *err);

/* Returns the kind's name in documents: "usage", "preflight", "network", ... */
const char *error_kind_name(enum error_kind kind);
/* Returns the exit code of the program for an error of this kind. */
int error_exit_code(enum error_kind kind);
/* Returns 1 when a retry later may help (network, timeout, conflict), else 0. */
int error_is_retryable(const struct error *err);
