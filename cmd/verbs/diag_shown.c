/* What diag reads and shows alike, be it of this node or of a whole cluster. */
#include "cmd/verbs/diag_shown.h"

#include "base/rfc3339.h"
#include "cmd/output.h"
#include "diag/collection/collection.h"
#include "diag/reports/compare.h"
#include "host/path.h"

enum { REPLAY_MAX = 64 * 1024 * 1024 };

/* ---- reports ---- */

bool diag_is_text(const struct program *program) {
    return !program->options.output || text_equal(program->options.output, "text");
}

struct diag_text_style diag_style(const struct program *program) {
    return (struct diag_text_style){output_utf8(program, false), output_color(program, false),
                                    program->terminal.out_is_terminal ? program->terminal.columns
                                                                      : 0};
}

void diag_print(struct program *program, char *text, json_t *document, const json_t *compared) {
    output_text(program, text);
    free(text);
    if (compared && diag_is_text(program)) {
        _cleanup_(freep) char *changes = diag_compare_text(compared);

        output_text(program, changes);
    }
    if (compared && document)
        json_object_set(document, "changes", (json_t *)compared);
    if (document)
        output_result(program, document);
}

int diag_judge_changes(const json_t *compared, struct error *err) {
    return json_bool_at(compared, "worse", false)
               ? error_set(err, ERROR_FLOWS, "compare with %s: it is worse",
                           json_text_at(compared, "since"))
               : 0;
}

/* ---- files ---- */

int diag_file_refuse(const char *flag, const char *given, struct error *err) {
    err->kind = ERROR_USAGE; /* the file that was named, not this machine */
    return error_prefix(err, "%s %s", flag, given);
}

static int read_file(struct host *host, const char *path, char **ret, size_t *ret_len,
                     struct error *err) {
    _cleanup_(freep) char *file = NULL;
    size_t len;

    if (host_read(host, path, REPLAY_MAX, &file, &len, err) < 0)
        return -1;
    return diag_is_collection(file, len)
               ? diag_collection_report(file, len, REPLAY_MAX, ret, ret_len, err)
               : host_read_text(host, path, REPLAY_MAX, ret, ret_len, err);
}

int diag_file_read(struct program *program, const char *flag, const char *given, char **ret,
                   size_t *ret_len, struct error *err) {
    _cleanup_(freep) char *path = terminal_full_path(given);

    if (read_file(program->host, path, ret, ret_len, err) == 0)
        return 0;
    return diag_file_refuse(flag, given, err);
}

int diag_file_write(struct program *program, const char *path, const char *data, size_t len,
                    struct error *err) {
    _cleanup_(freep) char *shown = path_shown(path), *line = NULL;

    if (host_write(program->host, path, data, len, HOST_PUBLIC, err) < 0)
        return error_prefix(err, "--collect");
    line = xasprintf("the evidence is in %s (%zu KiB)\n", shown, (len + 1023) / 1024);
    if (diag_is_text(program))
        output_text(program, line);
    return 0;
}

/* ---- again and again ---- */

int diag_check_watch(const struct program *program, struct error *err) {
    const struct program_options *o = &program->options;
    const char *other = o->replay        ? "replay"
                        : o->collect     ? "collect"
                        : o->output_file ? "output-file"
                                         : NULL;

    if (other)
        return error_set(err, ERROR_USAGE, "use either --watch or --%s", other);
    if (!diag_is_text(program) && !text_equal(o->output, "json"))
        return error_set(err, ERROR_USAGE,
                         "use -o text or -o json (an object a line) with --watch");
    return 0;
}

void diag_tell_failure(struct program *program, char *told, size_t size, const struct error *why) {
    char time[RFC3339_TEXT_MAX];
    _cleanup_json_ json_t *line = NULL;
    _cleanup_(freep) char *text = NULL;

    if (text_equal(told, why->message))
        return;
    text_format(told, size, "%s", why->message);
    rfc3339_format(host_now(program->host), time);
    text = xasprintf("%s  not measured: %s\n", time, why->message);
    line = json_pack("{s:s, s:{s:s, s:s}}", "time", time, "error", "kind",
                     error_kind_name(why->kind), "message", why->message);
    output_text(program, text);
    if (!diag_is_text(program))
        output_line(line);
}

int diag_repeat(struct program *program, int (*once)(void *context, struct error *err),
                void *context, struct error *err) {
    int result;

    do {
        error_clear(err);
        result = once(context, err);
    } while (result == 0 && output_flush() &&
             host_sleep(program->host, (unsigned)program->options.watch, err) == 0);
    if (err->kind && err->kind != ERROR_INTERRUPTED)
        return -1;
    error_clear(err);
    return 0;
}
