/* Only this file prints: results to stdout; errors, hints and warnings to stderr. */
#include "cmd/program.h"

#include <errno.h>

#include "base/redact.h"
#include "base/rfc3339.h"
#include "host/path.h"

bool output_is_document(const struct program *program) {
    return text_equal(program->options.output, "json") ||
           text_equal(program->options.output, "yaml");
}

/* Results may contain text from servers and hosts, so control characters and tokens are hidden. */
static void print_shown(const char *text) {
    _cleanup_(text_free) struct text shown = {0};

    text_add_visible(&shown, text, strlen(text));
    redact_tokens(shown.data);
    output_bytes(shown.data, shown.len);
}

void output_text(const struct program *program, const char *text) {
    if (!output_is_document(program))
        print_shown(text);
}

void output_format(const struct program *program, const char *format, ...) {
    _cleanup_(text_free) struct text text = {0};
    va_list args;

    va_start(args, format);
    text_addv(&text, format, args);
    va_end(args);
    output_text(program, text_str(&text));
}

/* The result for --output-file, collected until the end. */
static struct {
    char *path; /* Path of --output-file; NULL when results go to stdout. */
    struct text text;
} file;

static int unwritten; /* The errno of the first failed write to stdout. */

void output_bytes(const void *data, size_t len) {
    if (file.path)
        text_add_bytes(&file.text, data, len);
    else
        (void)fwrite(data, 1, len, stdout);
    if (ferror(stdout) && !unwritten)
        unwritten = errno;
}

bool output_flush(void) {
    errno = 0;
    if (fflush(stdout) != 0 && !unwritten)
        unwritten = errno;
    return !ferror(stdout);
}

int output_end(void) {
    bool arrived = output_flush();

    /* EPIPE is no error: in "winjoin help | head" the reader has read enough. */
    if (!arrived && unwritten != EPIPE)
        (void)fputs("error: write standard output: it is full or closed\n", stderr);
    unwritten = 0;
    return arrived ? 0 : -1;
}

void output_result(struct program *program, json_t *document) {
    json_decref(program->result);
    program->result = document;
}

void output_line(const json_t *document) {
    _cleanup_(freep) char *line = json_write(document), *text = xasprintf("%s\n", line);

    print_shown(text);
}

int output_open(struct program *program, struct error *err) {
    const char *given = program->options.output_file;

    return given && !text_equal(given, "-")
               ? output_path(program, "--output-file", given, &file.path, err)
               : 0;
}

static void print_document(struct program *program, const struct error *err) {
    bool document = output_is_document(program);
    bool lines = program->host && text_equal(program->options.progress, "json");
    _cleanup_(freep) char *text = NULL;

    if (!document && !lines)
        return;
    if (err && err->kind) {
        json_t *hints = json_array();

        for (size_t i = 0; i < ERROR_HINTS_MAX && err->hints[i][0]; i++)
            json_array_append_new(hints, json_string(err->hints[i]));
        if (!program->result)
            program->result = json_object();
        json_object_set_new(program->result, "error",
                            json_pack("{s:s, s:s, s:o, s:s*}", "kind", error_kind_name(err->kind),
                                      "message", err->message, "hints", hints, "phase",
                                      program->phase));
    }
    if (!program->result)
        return;
    if (lines) { /* The last line of --progress json is the result. */
        _cleanup_json_ json_t *line =
            json_pack("{s:s, s:O, s:i}", "time", RFC3339_TEXT(host_now(program->host)), "result",
                      program->result, "exitCode", error_exit_code(err ? err->kind : ERROR_NONE));
        _cleanup_(freep) char *shown = json_write(line);

        redact_tokens(shown);
        (void)fprintf(stderr, "%s\n", shown);
    }
    if (!document)
        return;
    if (text_equal(program->options.output, "yaml")) {
        text = yaml_write(program->result);
        redact_tokens(text);
        output_bytes(text, strlen(text));
    } else {
        text = json_write_pretty(program->result);
        print_shown(text);
    }
}

int output_finish(struct program *program, const struct error *failure, struct error *err) {
    int result = 0;

    print_document(program, failure);
    if (file.path && file.text.len)
        result = host_write(program->host, file.path, file.text.data, file.text.len,
                            program->verb->secret ? HOST_SECRET : HOST_PUBLIC, err);
    text_free(&file.text);
    freep(&file.path);
    return result;
}

void output_error(const struct error *err) {
    (void)fprintf(stderr, "error: %s\n", err->message);
    for (size_t i = 0; i < ERROR_HINTS_MAX && err->hints[i][0]; i++)
        (void)fprintf(stderr, "hint: %s\n", err->hints[i]);
}

void output_warning(const char *format, ...) {
    _cleanup_(text_free) struct text text = {0}, shown = {0};
    va_list args;

    va_start(args, format);
    text_addv(&text, format, args);
    va_end(args);
    text_add_escaped(&shown, text_str(&text), text.len);
    redact_tokens(shown.data);
    (void)fprintf(stderr, "warning: %s\n", text_str(&shown));
}

void output_warnings(const struct text_list *list) {
    for (size_t i = 0; i < list->count; i++)
        output_warning("%s", list->items[i]);
}

int output_path(struct program *program, const char *what, const char *given, char **ret,
                struct error *err) {
    _cleanup_(freep) char *full = terminal_full_path(given), *path = NULL, *folder = NULL;
    enum host_file_type type;

    if (path_normalize(full, &path, err) < 0)
        return error_prefix(err, "%s", what);
    folder = path_parent(path);
    type = host_file_type(program->host, path);
    if (type == HOST_FOLDER || !folder)
        return error_set(err, ERROR_USAGE, "%s: '%s' is a folder", what, given);
    if (type == HOST_LINK)
        return error_set(err, ERROR_USAGE,
                         "%s: '%s' is a symbolic link: name the file that it leads to", what,
                         given);
    type = host_file_type(program->host, folder);
    if (type != HOST_FOLDER && type != HOST_LINK)
        return error_set(err, ERROR_USAGE, "%s: the folder of '%s' does not exist", what, given);
    *ret = take_ptr(path);
    return 0;
}

bool output_color(const struct program *program, bool on_stderr) {
    const struct terminal *t = &program->terminal;
    const char *no_color = getenv("NO_COLOR"); /* no-color.org: any non-empty value counts. */

    return !program->options.no_color && !(no_color && *no_color) && t->color &&
           (on_stderr ? t->err_is_terminal : t->out_is_terminal && !file.path);
}

bool output_utf8(const struct program *program, bool on_stderr) {
    const struct terminal *t = &program->terminal;

    return on_stderr ? t->utf8 && t->err_is_terminal : file.path || (t->utf8 && t->out_is_terminal);
}
