/* Implements log.h. */
#include "base/log.h"

#include "base/redact.h"
#include "base/text.h"

enum { SECRETS_MAX = 16, SECRET_LENGTH_MIN = 6 };

static log_sink *sink;
static void *sink_context;
static int verbosity;
static char *secrets[SECRETS_MAX];

void log_open(log_sink *new_sink, void *context, int new_verbosity) {
    sink = new_sink;
    sink_context = context;
    verbosity = new_verbosity;
}

void log_hide_secret(const char *secret) {
    if (!secret || strlen(secret) < SECRET_LENGTH_MIN)
        return;
    redact_learn(secret);
    for (size_t i = 0; i < SECRETS_MAX; i++) {
        if (secrets[i] && strcmp(secrets[i], secret) == 0)
            return;
        if (!secrets[i]) {
            secrets[i] = xstrdup(secret);
            return;
        }
    }
}

void log_forget_secrets(void) {
    for (size_t i = 0; i < SECRETS_MAX; i++) {
        secret_free_text(secrets[i]);
        secrets[i] = NULL;
    }
    redact_forget();
}

void log_message(enum log_level level, const char *format, ...) {
    _cleanup_(text_free) struct text raw = {0}, line = {0};
    va_list args;

    if (!sink || (int)level > verbosity)
        return;
    va_start(args, format);
    text_addv(&raw, format, args);
    va_end(args);
    for (const char *p = text_str(&raw); *p;) {
        const char *secret = NULL;

        for (size_t i = 0; i < SECRETS_MAX && secrets[i] && !secret; i++)
            secret = text_starts_with(p, secrets[i]) ? secrets[i] : NULL;
        if (secret)
            text_add(&line, "<redacted>");
        else
            text_add_char(&line, *p);
        p += secret ? strlen(secret) : 1;
    }
    text_clear(&raw);
    text_add_escaped(&raw, text_str(&line), line.len);
    if (raw.len)
        redact_tokens(raw.data);
    sink(sink_context, level, text_str(&raw));
}
