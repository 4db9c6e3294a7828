/* Packs texts and their index. */
#include "diag/collection/collection.h"

#include "base/redact.h"
#include "base/unicode.h"
#include "services/artifacts/bundle_archive.h"
#include "services/artifacts/bundle_path.h"

enum { OTHERS = 5 }; /* the report's three, the index, a capture */

struct collection {
    struct bundle_archive_file files[COLLECTION_FILES_MAX + OTHERS];
    size_t count, total;
    bool has_report;
    struct text rows, missing; /* of the index */
};

struct collection *collection_new(void) {
    return xcalloc(1, sizeof(struct collection));
}

void collection_free(struct collection *c) {
    for (size_t i = 0; i < c->count; i++) {
        free((char *)c->files[i].path);
        free((char *)c->files[i].data);
    }
    text_free(&c->rows);
    text_free(&c->missing);
    free(c);
}

void collection_freep(struct collection **c) {
    if (*c)
        collection_free(*c);
}

void collection_miss(struct collection *c, const char *name, const char *why) {
    text_addf(&c->missing, "  %s: ", name);
    text_add_escaped(&c->missing, why, strlen(why));
    text_add(&c->missing, "\n");
}

static void put(struct collection *c, const char *name, char *data, size_t len) {
    c->files[c->count++] = (struct bundle_archive_file){xstrdup(name), data, len};
}

/* What looks like a secret is overwritten. */
static void hide(char **data, size_t *len) {
    unicode_to_text(data, len);
    redact_secrets(*data);
}

static void add(struct collection *c, const char *name, const char *what, char *data, size_t len,
                uint64_t whole) {
    size_t read = len;

    if (c->count >= COLLECTION_FILES_MAX || len > COLLECTION_TOTAL_MAX - c->total ||
        !bundle_path_is_safe(name)) {
        collection_miss(c, name, "the collection is full, or the name cannot be packed");
        free(data);
        return;
    }
    hide(&data, &len);
    text_addf(&c->rows, "  %-56s %s", name, what);
    if (whole > read)
        text_addf(&c->rows, " (the last %u of %llu bytes)", (unsigned)read,
                  (unsigned long long)whole);
    text_add(&c->rows, "\n");
    c->total += len;
    put(c, name, data, len);
}

void collection_add(struct collection *c, const char *name, const char *what, struct text *text,
                    uint64_t whole) {
    size_t len = text->len;

    add(c, name, what, text_take(text), len, whole);
}

/* In a string of JSON a text of several lines is easier to look through by itself. */
static void hide_strings(json_t *json) {
    if (json_is_string(json)) {
        _cleanup_(freep) char *text = xstrdup(json_string_value(json));

        redact_secrets(text);
        json_string_set(json, text);
    }
    json_each_member(json, key, item) {
        hide_strings(item);
    }
    json_each(json, i, item) {
        hide_strings(item);
    }
}

json_t *collection_hidden(const json_t *json) {
    json_t *copy = json_deep_copy(json);

    hide_strings(copy);
    return copy;
}

static char *write_hidden(const json_t *json) {
    _cleanup_json_ json_t *hidden = collection_hidden(json);

    return json_write_pretty(hidden);
}

void collection_add_json(struct collection *c, const char *name, const char *what,
                         const json_t *json) {
    char *data = write_hidden(json);

    add(c, name, what, data, strlen(data), 0);
}

void collection_add_bytes(struct collection *c, const char *name, const char *what, char *data,
                          size_t len) {
    text_addf(&c->rows, "  %-56s %s\n", name, what);
    put(c, name, data, len);
}

void collection_add_report(struct collection *c, const char *text, const char *html, json_t *json) {
    _cleanup_json_ json_t *taken = json;
    _cleanup_(freep) char *written = write_hidden(taken);
    const struct {
        const char *name, *what, *text;
    } forms[] = {
        {"report.txt", "the flows, the causes, what to do", text},
        {"report.html", "the same for a browser", html},
        {COLLECTION_REPORT, "the same for programs", written},
    };

    c->has_report = true;
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        char *data = xstrdup(forms[i].text);
        size_t len = strlen(data);

        hide(&data, &len);
        collection_add_bytes(c, forms[i].name, forms[i].what, data, len);
    }
}

int collection_finish(struct collection *c, const char *head, const char *failure, char **ret,
                      size_t *ret_len, struct error *err) {
    struct text t = {0};
    size_t len;
    char *index;

    text_addf(&t, "%s\n\n", head);
    if (failure)
        text_addf(&t, "Nothing was measured: %s\n\n", failure);
    if (c->has_report)
        text_add(&t, "Begin with report.txt (or report.html in a browser). On any machine,\n"
                     "    winjoin diag --replay FILE.zip\n"
                     "evaluates this collection again. ");
    text_add(&t, "What looks like a secret (a token, a key, a password) is overwritten with *:\n"
                 "look before you give this away.\n\nFiles:\n");
    text_add(&t, text_str(&c->rows));
    if (c->missing.len)
        text_addf(&t, "\nCould not be read:\n%s", text_str(&c->missing));
    len = t.len;
    index = text_take(&t);
    hide(&index, &len);
    put(c, "index.txt", index, len);
    return bundle_archive_make(c->files, c->count, ret, ret_len, err);
}
