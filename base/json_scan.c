/* Finds values at given paths in JSON text while reading it, without building a tree. */
#include "base/json_scan.h"

#include <string.h>

#include "base/json.h"

enum { DEPTH_MAX = 256 };

struct reader {
    const char *at, *end;
    const struct json_scan *scan;
    unsigned depth;
};
/* The parts of the prefix and of each path that still have to be matched, at one level of the
 * document. NULL when this branch cannot match; "" when the current value matches. `any` is true
 * when something can still match. */
struct state {
    const char *prefix, *left[SCAN_PLACES_MAX];
    bool any;
};

/* ---- matching paths ---- */

/* Returns the rest of a path behind its first part when that part equals the key; else NULL. */
static const char *behind(const char *path, const char *key, size_t len) {
    size_t i = 0;

    if (!path || !*path)
        return NULL;
    for (; *path && *path != '.'; path++, i++) {
        if (path[0] == '\\')
            path++;
        if (i >= len || *path != key[i])
            return NULL;
    }
    return i == len ? path + (*path == '.') : NULL;
}

static void enter(const struct reader *r, const struct state *outer, const char *key, size_t len,
                  struct state *ret) {
    ret->any = false;
    ret->prefix = behind(outer->prefix, key, len);
    if (outer->prefix && *outer->prefix) { /* The prefix is not matched fully yet. */
        ret->any = ret->prefix;
        if (ret->prefix && !*ret->prefix)
            for (size_t i = 0; i < r->scan->count; i++)
                ret->left[i] = r->scan->places[i].path;
        return;
    }
    ret->prefix = "";
    for (size_t i = 0; i < r->scan->count; i++) {
        ret->left[i] = behind(outer->left[i], key, len);
        ret->any |= ret->left[i] != NULL;
    }
}

static void tell(const struct reader *r, const struct state *state, struct json_found found) {
    if (*state->prefix)
        return;
    for (size_t i = 0; i < r->scan->count; i++)
        if (state->left[i] && !*state->left[i]) {
            found.what = r->scan->places[i].what;
            r->scan->found(r->scan->context, &found);
        }
}

/* ---- reading JSON ---- */

static char next(struct reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static bool take(struct reader *r, char c) {
    bool is = next(r) == c;

    r->at += is;
    return is;
}

/* Reads a string with its quotes. *ret and *ret_len give the bytes between the quotes. *ret_plain
 * is true when the string has no escapes and only ASCII characters. */
static bool take_text(struct reader *r, const char **ret, size_t *ret_len, bool *ret_plain) {
    const char *at, *const end = r->end;
    bool plain = true;

    if (!take(r, '"'))
        return false;
    for (at = r->at; at < end && *at != '"'; at++) {
        unsigned char c = (unsigned char)*at;

        if (c < ' ')
            return false;
        if (c == '\\' || c >= 0x80) {
            plain = false;
            at += c == '\\';
        }
    }
    if (at >= end)
        return false;
    *ret = r->at;
    *ret_len = (size_t)(at - r->at);
    *ret_plain = plain;
    r->at = at + 1;
    return true;
}

/* Skips the value that begins at the reader's position. */
static bool skip(struct reader *r) {
    unsigned open = 0;
    size_t len;
    bool plain;

    do {
        const char *text;
        char c = next(r);

        if (c == '"') {
            if (!take_text(r, &text, &len, &plain))
                return false;
            continue;
        }
        if (!c || (!open && strchr(",:", c)))
            return false;
        if (c == '}' || c == ']') {
            if (!open--)
                return false;
        } else {
            open += c == '{' || c == '[';
        }
        r->at++;
        if (!strchr("{}[],:", c))
            while (r->at < r->end && !strchr("{}[],:\" \n\r\t", *r->at))
                r->at++;
    } while (open);
    return true;
}

static bool scan_value(struct reader *r, const struct state *state);

/* Reads a string value. jansson decodes strings that have escapes or characters outside ASCII. */
static bool scan_text(struct reader *r, const struct state *state) {
    _cleanup_json_ json_t *json = NULL;
    const char *text;
    size_t len;
    bool plain;

    if (!take_text(r, &text, &len, &plain))
        return false;
    if (!plain) {
        if (json_read(text - 1, len + 2, "text", &json, ERROR_IGNORED) < 0)
            return false;
        text = json_string_value(json);
        len = json_string_length(json);
    }
    tell(r, state, (struct json_found){.kind = SCAN_TEXT, .text = text, .len = len});
    return true;
}

static bool scan_word(struct reader *r, const struct state *state) {
    char word[32];
    struct json_found found = {.kind = SCAN_NUMBER};
    size_t len = 0, kept;

    while (r->at + len < r->end && !strchr("{}[],:\" \n\r\t", r->at[len]))
        len++;
    /* A longer word cannot be a number of the accepted range. */
    kept = len < sizeof word ? len : sizeof word - 1;
    memcpy(word, r->at, kept);
    word[kept] = '\0';
    r->at += len;
    if (text_equal(word, "null")) {
        found.kind = SCAN_NULL;
    } else if (text_equal(word, "true") || text_equal(word, "false")) {
        found.kind = SCAN_BOOL;
        found.number = *word == 't';
    } else if (text_to_number(word, -1000000000000, 1000000000000, &found.number) < 0) {
        found.number = 0;
        if (!kept || strspn(word, "0123456789+-.eE") != kept)
            return false;
    }
    tell(r, state, found);
    return true;
}

static bool scan_members(struct reader *r, const struct state *state) {
    const char *begin = r->at;
    bool object = *r->at++ == '{';
    char end = object ? '}' : ']';

    if (++r->depth > DEPTH_MAX)
        return false;
    tell(r, state, (struct json_found){.kind = SCAN_BEGINS});
    if (!take(r, end)) {
        do {
            struct state inner;
            const char *key = "*";
            size_t len = 1;
            bool plain;

            if (object && (!take_text(r, &key, &len, &plain) || !take(r, ':')))
                return false;
            enter(r, state, key, len, &inner);
            if (!(inner.any ? scan_value(r, &inner) : skip(r)))
                return false;
        } while (take(r, ','));
        if (!take(r, end))
            return false;
    }
    tell(r, state,
         (struct json_found){
             .kind = SCAN_ENDS, .whole = begin, .whole_len = (size_t)(r->at - begin)});
    r->depth--;
    return true;
}

static bool scan_value(struct reader *r, const struct state *state) {
    char c = next(r);

    return c == '{' || c == '[' ? scan_members(r, state)
           : c == '"'           ? scan_text(r, state)
                                : scan_word(r, state);
}

int json_scan(const char *text, size_t len, const struct json_scan *scan, struct error *err) {
    struct reader r = {.at = text, .end = text + len, .scan = scan};
    struct state state = {.prefix = scan->prefix, .any = true};

    for (size_t i = 0; i < scan->count; i++)
        state.left[i] = scan->places[i].path;
    if (scan_value(&r, &state) && !next(&r) && r.at == r.end)
        return 0;
    return error_set(err, ERROR_MALFORMED, "decode %s: byte %zu is not JSON", scan->name,
                     (size_t)((r.at < r.end ? r.at : r.end) - text));
}

char *json_found_text(const struct json_found *found) {
    return found->kind == SCAN_TEXT ? xstrndup(found->text, found->len) : NULL;
}

bool json_found_is(const struct json_found *found, const char *text) {
    return found->kind == SCAN_TEXT && found->len == strlen(text) &&
           memcmp(found->text, text, found->len) == 0;
}
