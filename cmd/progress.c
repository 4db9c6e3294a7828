/* Shows the progress of a join on stderr, as lines for a person or as one JSON object per line. */
#include "cmd/program.h"

#include "base/rfc3339.h"
#include "join/phases/phases.h"

enum {
    DRAW_MS = 200,
    TELL_AGAIN_MS = 15000,
    FIRST_TELL_MS = 3000,
    TITLE_WIDTH = 14,
    COLUMNS = 80,
    BAR_WIDTH = 16,
    MARGIN = 5
};

static void on_tick(void *context);

void progress_open(struct progress *progress, struct program *program) {
    const char *wanted = program->options.progress;

    *progress = (struct progress){
        .utf8 = output_utf8(program, true),
        .color = output_color(program, true),
        .columns = program->terminal.columns ? program->terminal.columns : COLUMNS,
        .lines = program->terminal.lines,
        .host = program->host,
        .program = program,
    };
    if (text_equal(wanted, "none"))
        progress->mode = PROGRESS_NONE;
    else if (text_equal(wanted, "json"))
        progress->mode = PROGRESS_JSON;
    else if (text_equal(wanted, "plain") || !program->terminal.err_is_terminal ||
             !program->terminal.color)
        progress->mode = PROGRESS_PLAIN;
    else
        progress->mode = PROGRESS_LIVE;
    if (progress->mode == PROGRESS_LIVE || progress->mode == PROGRESS_PLAIN)
        host_set_tick(progress->host, on_tick, progress);
}

/* Forgets the current wait, because it has ended. */
static void forget_waiting(struct progress *progress) {
    free(take_ptr(progress->message));
    free(take_ptr(progress->hint));
    progress->waiting = (struct join_event){0};
}

static void end_table(struct progress *progress) {
    if (progress->line_open)
        (void)fputs("\r\x1b[K", stderr);
    progress->line_open = false;
    if (progress->table)
        (void)fprintf(stderr, "\x1b[%zuA\x1b[J", progress->table);
    progress->table = 0;
}

void progress_table(struct progress *progress, const struct text_list *lines) {
    if (progress->mode != PROGRESS_LIVE || progress->lines < lines->count + 2)
        return;
    end_table(progress);
    for (size_t i = 0; i < lines->count; i++) {
        _cleanup_(freep) char *line = progress_fit(
            lines->items[i], progress->columns > MARGIN ? progress->columns - MARGIN : 0);

        (void)fprintf(stderr, "  %s\n", line);
    }
    progress->table = lines->count;
    (void)fflush(stderr);
}

void progress_clear(struct progress *progress) {
    end_table(progress);
    forget_waiting(progress);
}

void progress_close(struct progress *progress) {
    host_set_tick(progress->host, NULL, NULL);
    progress_clear(progress);
    free(take_ptr(progress->told_hint));
    text_list_free(&progress->warnings);
}

char *progress_json(const struct join_event *event, int64_t now) {
    static const char *const states[] = {"started", "waiting", "warning",
                                         "done",    "skipped", "failed"};
    _cleanup_json_ json_t *line =
        json_pack("{s:s, s:s*, s:s}", "time", RFC3339_TEXT(now), "phase",
                  event->phase ? event->phase->id : NULL, "state", states[event->state]);

    json_set_text(line, "message", event->message);
    json_set_text(line, "hint", event->hint);
    if (event->state == JOIN_WAITING)
        json_object_set_new(line, "waitedSeconds", json_real(event->waited_ms / 1000.0));
    if (event->state == JOIN_WAITING && event->left_ms)
        json_object_set_new(line, "leftSeconds", json_real(event->left_ms / 1000.0));
    if (event->percent)
        json_object_set_new(line, "percent", json_integer(event->percent));
    if (event->state == JOIN_DONE || event->state == JOIN_FAILED)
        json_object_set_new(line, "durationSeconds", json_real(event->duration_ms / 1000.0));
    return json_write(line);
}

static void mark(const struct progress *progress, enum join_event_state state, char out[32]) {
    static const char *const spinner[][4] = {
        {"| ", "/ ", "- ", "\\ "},
        {"\xe2\xa0\x8b", "\xe2\xa0\xb8", "\xe2\xa0\xb4", "\xe2\xa0\xa6"}};
    static const struct {
        const char *utf8, *ascii, *color;
    } marks[] = {
        [JOIN_WAITING] = {"\xe2\x80\xa6", "..", "36"},
        [JOIN_DONE] = {"\xe2\x9c\x93", "ok", "32"},
        [JOIN_SKIPPED] = {"-", "--", "33"},
        [JOIN_FAILED] = {"\xe2\x9c\x97", "!!", "31"},
    };
    const char *sign = progress->utf8 ? marks[state].utf8 : marks[state].ascii;

    if (progress->mode == PROGRESS_LIVE && state == JOIN_WAITING)
        sign = spinner[progress->utf8][progress->turn % 4];
    if (progress->color)
        (void)text_format(out, 32, "\x1b[%sm%s\x1b[0m", marks[state].color, sign);
    else
        (void)text_format(out, 32, "%s", sign);
}

/* An event outside of phases (winjoin preflight asks the cluster without one) has no title. */
static const char *title_of(const struct join_event *event) {
    return event->phase ? event->phase->title : "";
}

static void show_end(struct progress *progress, const struct join_event *event) {
    char sign[32];

    end_table(progress);
    mark(progress, event->state, sign);
    /* After a failure the error line that follows says the rest. */
    (void)fprintf(stderr, "  %s %-*s %s", sign, TITLE_WIDTH, title_of(event),
                  event->state == JOIN_FAILED ? (event->kind == ERROR_INTERRUPTED ? "interrupted"
                                                 : event->kind == ERROR_TIMED_OUT ? "timed out"
                                                                                  : "failed")
                                              : event->message);
    if (event->duration_ms >= 100)
        (void)fprintf(stderr, "  (%.1f s)", event->duration_ms / 1000.0);
    (void)fputc('\n', stderr);
    for (size_t i = 0; i < progress->warnings.count; i++)
        (void)fprintf(stderr, "      ! %s\n", progress->warnings.items[i]);
    text_list_free(&progress->warnings);
}

char *progress_fit(const char *message, size_t room) {
    size_t len = strlen(message), head = room / 3, tail = room - head - 5, h = head, t = tail;

    if (len <= room)
        return xstrdup(message);
    if (room < 12)
        return xstrndup(message, room);

    /* Cuts at blanks where there are some, and never inside a UTF-8 character. */
    while (h && message[h] != ' ')
        h--;
    while (t && message[len - t - 1] != ' ')
        t--;
    if (h && t) {
        head = h + 1;
        tail = t + 1;
    } else {
        tail += 2;
        while (head && ((unsigned char)message[head] & 0xc0) == 0x80)
            head--;
        while (tail && ((unsigned char)message[len - tail] & 0xc0) == 0x80)
            tail--;
    }
    return xasprintf("%.*s...%s", (int)head, message, message + len - tail);
}

static void add_seconds(struct text *out, unsigned milliseconds) {
    unsigned seconds = milliseconds / 1000;

    if (seconds >= 60)
        text_addf(out, "%u min ", seconds / 60);
    text_addf(out, "%u s", seconds % 60);
}

/* Makes " (12 s; gives up in 48 s)": how long the wait has lasted and, where there is room, when it
 * times out. */
static char *time_of(const struct join_event *event, size_t room) {
    struct text out = {0};
    size_t short_end;

    text_add(&out, " (");
    add_seconds(&out, event->waited_ms);
    short_end = out.len;
    if (event->left_ms) {
        text_add(&out, "; gives up in ");
        add_seconds(&out, event->left_ms);
    }
    if (out.len + 1 > room)
        out.data[out.len = short_end] = '\0';
    text_add_char(&out, ')');
    return text_take(&out);
}

/* A message such as "for the adapter to come up" needs "waiting" before it. */
static char *waits_for(const struct join_event *event) {
    return xasprintf("%s%s", text_starts_with(event->message, "for ") ? "waiting " : "",
                     event->message);
}

/* Rewrites the wait line. A line that wraps could not be rewritten in place, so it is cut. */
static void show_live(struct progress *progress, const struct join_event *event, const char *sign) {
    int title_width = event->phase ? TITLE_WIDTH + 1 : 0;
    size_t room = progress->columns - 1 > (size_t)title_width + MARGIN
                      ? progress->columns - 1 - (size_t)title_width - MARGIN
                      : 0;
    _cleanup_(text_free) struct text bar = {0};
    _cleanup_(freep) char *time =
        event->waited_ms >= 1000 || event->left_ms ? time_of(event, room - room / 4) : xstrdup("");
    _cleanup_(freep) char *whole = waits_for(event), *message = NULL;

    if (event->waited_ms < 1000 && strlen(whole) + strlen(time) > room)
        *time = '\0'; /* At first the whole message is more useful than the time. */

    /* Draws "[######..........] " where a percentage is known and there is room. */
    if (event->percent && room >= 3 * BAR_WIDTH) {
        text_add(&bar, progress->utf8 ? "" : "[");
        for (unsigned i = 0; i < BAR_WIDTH; i++)
            if (i * 100 < event->percent * BAR_WIDTH)
                text_add(&bar, progress->utf8 ? "\xe2\x96\x88" : "#");
            else
                text_add(&bar, progress->utf8 ? "\xe2\x96\x91" : ".");
        text_add(&bar, progress->utf8 ? " " : "] ");
        room -= BAR_WIDTH + 3;
    }
    message = progress_fit(whole, room > strlen(time) ? room - strlen(time) : 0);

    (void)fprintf(stderr, "\r\x1b[K  %s %-*s%s%s%s", sign, title_width, title_of(event),
                  text_str(&bar), message, time);
    progress->line_open = true;
}

/* Shows the wait: a terminal's line is rewritten; elsewhere a long wait prints a line at times. */
static void show_waiting(struct progress *progress, const struct join_event *event) {
    char sign[32];

    mark(progress, JOIN_WAITING, sign);
    if (progress->mode == PROGRESS_LIVE) {
        show_live(progress, event, sign);
        if (!*event->hint)
            return;
    } else if (event->waited_ms < progress->last_told_ms + TELL_AGAIN_MS &&
               !(progress->last_told_ms == 0 && event->waited_ms >= FIRST_TELL_MS)) {
        return;
    } else {
        _cleanup_(freep) char *time = time_of(event, SIZE_MAX), *message = waits_for(event);

        (void)fprintf(stderr, "  %s %-*s %s%s\n", sign, TITLE_WIDTH, title_of(event), message,
                      time);
    }
    if (*event->hint &&
        (progress->mode == PROGRESS_PLAIN || !text_equal(event->hint, progress->told_hint))) {
        end_table(progress);
        (void)fprintf(stderr, "     %-*s %s\n", TITLE_WIDTH, "", event->hint);
        text_set(&progress->told_hint, xstrdup(event->hint));
    }
    progress->last_told_ms = event->waited_ms ? event->waited_ms : 1;
}

/* Updates the wait that is shown while no events arrive, such as during a slow request or while a
 * service stops. */
static void on_tick(void *context) {
    struct progress *progress = context;
    uint64_t now = host_monotonic_ms(progress->host);
    struct join_event event = progress->waiting;
    unsigned more = (unsigned)(now - progress->told_ms);

    if (!progress->message || now - progress->drawn_ms < DRAW_MS)
        return;
    if (progress->mode == PROGRESS_PLAIN && !*event.message)
        return;
    progress->drawn_ms = now;
    progress->turn++;
    event.waited_ms += more;
    if (event.left_ms)
        event.left_ms = event.left_ms > more ? event.left_ms - more : 0;
    show_waiting(progress, &event);
    (void)fflush(stderr);
}

void progress_show(void *context, const struct join_event *event) {
    struct progress *progress = context;

    /* When winjoin was called as kubeadm, scripts expect kubeadm's lines on stdout. winjoin's own
     * progress is shown on stderr as well. */
    if (progress->program && progress->program->as_kubeadm && event->state == JOIN_BEGIN)
        output_text(progress->program, kubeadm_phase(event->phase)->begin);
    if (progress->program)
        record_event(progress->program, event);
    if (progress->mode == PROGRESS_NONE)
        return;
    if (progress->mode == PROGRESS_JSON) {
        _cleanup_(freep) char *line = progress_json(event, host_now(progress->host));

        (void)fprintf(stderr, "%s\n", line);
        return;
    }
    if (event->state == JOIN_BEGIN || event->state == JOIN_WAITING) {
        /* Keep a copy of the event that owns its texts, because on_tick() shows the event again. */
        struct join_event kept = *event;

        kept.state = JOIN_WAITING;
        kept.message = xstrdup(event->message);
        kept.hint = xstrdup(event->hint);
        forget_waiting(progress);
        progress->waiting = kept;
        progress->message = (char *)kept.message;
        progress->hint = (char *)kept.hint;
        progress->told_ms = progress->drawn_ms = host_monotonic_ms(progress->host);
    } else if (event->state != JOIN_WARNING) {
        forget_waiting(progress);
    }
    switch (event->state) {
    case JOIN_BEGIN:
        progress->last_told_ms = 0;
        free(take_ptr(progress->told_hint));
        if (progress->mode == PROGRESS_LIVE)
            show_waiting(progress, event);
        break;
    case JOIN_WAITING:
        show_waiting(progress, event);
        break;
    case JOIN_WARNING:
        if (!event->phase) {
            end_table(progress);
            output_warning("%s", event->message);
            break;
        }
        text_list_add(&progress->warnings, event->message);
        break;
    case JOIN_DONE:
    case JOIN_SKIPPED:
    case JOIN_FAILED:
        show_end(progress, event);
        break;
    }
    (void)fflush(stderr);
}

void progress_name_phase(struct program *program, const struct join_progress *run, int result,
                         struct error *err) {
    const struct join_phase *phase = run->phase;
    _cleanup_(freep) char *begins = phase ? xasprintf("%s: ", phase->title) : NULL;

    program->phase = result < 0 && phase ? phase->id : NULL;
    if (program->phase && program->as_kubeadm)
        (void)error_prefix(err, "error execution phase %s", kubeadm_phase(phase)->name);
    else if (program->phase && !text_starts_with(err->message, begins))
        (void)error_prefix(err, "%s", phase->title);
}
