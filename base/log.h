/* Writes log lines to a sink that cmd/ installs (stderr, --log-file). Replaces known secrets. */
#pragma once

/* Log levels: what each -v adds. The text of --help says the same. */
enum log_level {
    LOG_WARNING = 0,
    LOG_INFO = 1,    /* What winjoin does and why. */
    LOG_RETRY = 2,   /* Messages about actions that are retried. */
    LOG_REQUEST = 3, /* Requests to servers. */
    LOG_CALL = 4,    /* Windows calls that change the machine, and all HNS calls. */
    LOG_TRACE = 5,   /* Input and output of HNS calls, and each check of a wait loop. */
};

/* A function that receives log lines. `line` has no newline and is valid during the call only. */
typedef void log_sink(void *context, enum log_level level, const char *line);

/* Installs the sink (NULL for none) and sets the highest level that is passed to it (-v N). */
void log_open(log_sink *sink, void *context, int verbosity);
void log_message(enum log_level level, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
/* Registers a secret, such as a token or a key. From then on the log shows <redacted> instead of
 * it. At most 16 secrets are kept; texts shorter than 6 bytes are ignored. The text is copied. */
void log_hide_secret(const char *secret);
void log_forget_secrets(void);
