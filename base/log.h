/* The log: lines to a sink that cmd/ installs (stderr, --log-file). Secrets are never logged. */
#pragma once

/* What each level of -v adds; --help says the same. */
enum log_level {
    LOG_WARNING = 0,
    LOG_INFO = 1,    /* what is done and why */
    LOG_RETRY = 2,   /* what is tried again */
    LOG_REQUEST = 3, /* requests to servers */
    LOG_CALL = 4,    /* calls of Windows that change it, and of HNS */
    LOG_TRACE = 5,   /* what HNS is given and answers; looks of a wait */
};

/* Where lines go; `line` has no newline and is valid during the call. */
typedef void log_sink(void *context, enum log_level level, const char *line);

/* Installs the sink (NULL = none) and the highest level that reaches it (-v N). */
void log_open(log_sink *sink, void *context, int verbosity);
void log_message(enum log_level level, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
/* A text that must not appear in any line from now on (token secret, key): each occurrence is shown
 * as <redacted>. At most 16 secrets of 6 bytes or more; the text is copied. */
void log_hide_secret(const char *secret);
void log_forget_secrets(void);
