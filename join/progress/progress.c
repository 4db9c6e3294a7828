/* Sends the events of a join to its listener: one line each, without secrets. */
#include "join/progress/progress.h"

#include "base/redact.h"

char *join_shown(const char *words) {
    struct text line = {0};

    text_add_escaped(&line, words, strlen(words));
    redact_tokens(line.data);
    return text_take(&line);
}

void join_tell(const struct join_progress *progress, struct join_event event) {
    _cleanup_(freep) char *message = join_shown(event.message ? event.message : "");
    _cleanup_(freep) char *hint = join_shown(event.hint ? event.hint : "");

    event.phase = progress->phase;
    event.message = message;
    event.hint = hint;
    if (progress->listener)
        progress->listener(progress->context, &event);
}

void join_tell_waiting(struct join_progress *progress, unsigned waited_ms, unsigned left_ms,
                       const char *hint, const char *format, ...) {
    _cleanup_(text_free) struct text message = {0};
    va_list args;

    va_start(args, format);
    text_addv(&message, format, args);
    va_end(args);
    text_clear(&progress->waiting);
    text_add(&progress->waiting, text_str(&message));
    join_tell(progress, (struct join_event){.state = JOIN_WAITING,
                                            .message = text_str(&message),
                                            .hint = hint,
                                            .waited_ms = waited_ms,
                                            .left_ms = left_ms});
}

static void tell_missing(void *context, const struct wait *wait, const struct error *missing) {
    join_tell_waiting(context, wait->waited_ms, wait_left_ms(wait), missing->hints[0], "%s",
                      missing->message);
}

enum wait_poll join_wait(struct host *host, struct join_progress *progress, struct wait *wait,
                         struct error *err) {
    wait->tell = tell_missing;
    wait->tell_context = progress;
    return wait_until(host, wait, err);
}

void join_fact(struct join_progress *progress, const char *key, json_t *value) {
    if (!value)
        return;
    if (!progress->data)
        progress->data = json_object();
    json_object_set_new(progress->data, key, value);
}

void join_warn(struct join_progress *progress, const char *format, ...) {
    _cleanup_(text_free) struct text message = {0};
    _cleanup_(freep) char *line = NULL;
    va_list args;

    va_start(args, format);
    text_addv(&message, format, args);
    va_end(args);
    line = join_shown(text_str(&message));
    if (!text_list_has(&progress->warnings, line)) {
        text_list_add(&progress->warnings, line);
        join_tell(progress, (struct join_event){.state = JOIN_WARNING, .message = line});
    }
}
