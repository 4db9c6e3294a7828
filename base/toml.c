/* Reads TOML 1.0 (https://toml.io/en/v1.0.0) with a recursive descent parser. */
#include "base/toml.h"

#include "base/unicode.h"

enum { DEPTH_MAX = 32 };

struct reader {
    const char *at, *end;
    size_t line;
    const char *what;
    unsigned depth;
    struct error *err;
};

static int refuse(const struct reader *r, const char *why) {
    return error_set(r->err, ERROR_MALFORMED, "decode %s: line %zu: %s", r->what, r->line, why);
}

/* Returns the character to read next; '\0' at the end of the text. */
static char now(const struct reader *r) {
    return r->at < r->end ? *r->at : '\0';
}

static bool takes(struct reader *r, const char *token) {
    size_t len = strlen(token);

    if ((size_t)(r->end - r->at) < len || memcmp(r->at, token, len) != 0)
        return false;
    r->at += len;
    return true;
}

static void skip_blanks(struct reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
}

/* Skips blanks, comments and line ends. */
static void skip_lines(struct reader *r) {
    for (; r->at < r->end && strchr(" \t\r\n#", *r->at) && *r->at; r->at++) {
        if (*r->at == '#')
            while (r->at + 1 < r->end && r->at[1] != '\n')
                r->at++;
        r->line += *r->at == '\n';
    }
}

/* ---- strings ---- */

static int read_escape(struct reader *r, bool lines, struct text *out) {
    static const char letters[] = "btnfr\"\\", bytes[] = "\b\t\n\f\r\"\\";
    static const char hex[] = "0123456789abcdef";
    const char *letter = now(r) ? strchr(letters, now(r)) : NULL;
    int digits = now(r) == 'u' ? 4 : now(r) == 'U' ? 8 : 0;
    uint32_t code = 0;
    char utf8[4];

    if (letter) {
        text_add_char(out, bytes[letter - letters]);
        r->at++;
        return 0;
    }
    if (digits) {
        for (r->at++; digits > 0; digits--, r->at++) {
            const char *digit =
                now(r) ? strchr(hex, now(r) | ('A' <= now(r) && now(r) <= 'F' ? 0x20 : 0)) : NULL;

            if (!digit)
                return refuse(r, "an escape \\u has too few digits");
            code = code << 4 | (uint32_t)(digit - hex);
        }
        if (!code || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return refuse(r, "an escape \\u is no character");
        text_add_bytes(out, utf8, unicode_encode(code, utf8));
        return 0;
    }
    if (!lines || !now(r) || !strchr(" \t\r\n", now(r)))
        return refuse(r, "in double quotes a backslash is written twice: \"C:\\\\folder\"");
    /* A backslash at the end of a line removes the line end and all blanks that follow. */
    for (; now(r) && strchr(" \t\r\n", now(r)); r->at++)
        r->line += *r->at == '\n';
    return 0;
}

static int read_string(struct reader *r, char **ret) {
    static const char *const quotes[] = {"\"\"\"", "'''", "\"", "'"};

    for (size_t i = 0; i < ARRAY_SIZE(quotes); i++)
        if (takes(r, quotes[i])) {
            _cleanup_(text_free) struct text out = {0};
            bool lines = quotes[i][1] != '\0', plain = *quotes[i] == '\'';

            /* A line end directly behind the opening quotes is not part of the string. */
            if (lines && (takes(r, "\r\n") || takes(r, "\n")))
                r->line++;
            while (!takes(r, quotes[i])) {
                char c = now(r);

                if (!c || (!lines && c == '\n'))
                    return refuse(r, "a quote is not closed");
                r->at++;
                if (c == '\\' && !plain) {
                    if (read_escape(r, lines, &out) < 0)
                        return -1;
                    continue;
                }
                r->line += c == '\n';
                text_add_char(&out, c);
            }
            for (int k = 0; lines && k < 2 && now(r) == *quotes[i];
                 k++, r->at++) /* Up to two quotes may precede the closing three: """a""""" is a"".
                                */
                text_add_char(&out, *quotes[i]);
            *ret = text_take(&out);
            return 0;
        }
    return refuse(r, "a value is missing");
}

/* ---- keys ---- */

/* Returns the table `name` inside `table` and creates it when absent. When `name` is an array of
 * tables, returns its last table. The reference is borrowed. */
static json_t *table_in(struct reader *r, json_t *table, const char *name) {
    json_t *found = json_object_get(table, name);

    if (!found) {
        found = json_object();
        if (json_object_set_new(table, name, found) < 0) {
            (void)refuse(r, "a key is no UTF-8");
            return NULL;
        }
    }
    if (json_is_array(found))
        found = json_array_get(found, json_array_size(found) - 1);
    if (!json_is_object(found)) {
        (void)refuse(r, "a key has a value already, and can have no keys below it");
        return NULL;
    }
    return found;
}

/* Reads a key such as "a.'b.c'.d". Returns the table for its last part; *ret_name is that part. */
static json_t *read_key(struct reader *r, json_t *table, char **ret_name) {
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

    for (;;) {
        _cleanup_(freep) char *name = NULL;
        const char *from;

        skip_blanks(r);
        from = r->at;
        while (now(r) && strchr(bare, now(r)))
            r->at++;
        if (r->at > from) {
            name = xstrndup(from, (size_t)(r->at - from));
        } else if (now(r) != '"' && now(r) != '\'') {
            (void)refuse(r, "a key is missing");
            return NULL;
        } else if (read_string(r, &name) < 0) {
            return NULL;
        }
        skip_blanks(r);
        if (!takes(r, ".")) {
            *ret_name = take_ptr(name);
            return table;
        }
        table = table_in(r, table, name);
        if (!table)
            return NULL;
    }
}

/* ---- values ---- */

static int read_value(struct reader *r, json_t **ret);

static int read_pair(struct reader *r, json_t *table) {
    _cleanup_(freep) char *name = NULL;
    json_t *value = NULL;

    table = read_key(r, table, &name);
    if (!table)
        return -1;
    if (!takes(r, "="))
        return refuse(r, "'=' is missing behind a key");
    skip_blanks(r);
    if (read_value(r, &value) < 0)
        return -1;
    return json_object_set_new(table, name, value) < 0 ? refuse(r, "a key is no UTF-8") : 0;
}

/* Reads comma-separated items up to the closing bracket `end`. The opening bracket was read
 * already. */
static int read_items(struct reader *r, char end, json_t *into) {
    if (++r->depth > DEPTH_MAX)
        return refuse(r, "values are nested too deep");
    for (;;) {
        json_t *item = NULL;

        skip_lines(r);
        if (now(r) == end)
            break;
        if (end == '}' ? read_pair(r, into) < 0 : read_value(r, &item) < 0)
            return -1;
        if (item)
            json_array_append_new(into, item);
        skip_lines(r);
        if (now(r) != end && !takes(r, ","))
            return refuse(r, "',' or a closing bracket is missing");
    }
    r->at++;
    r->depth--;
    return 0;
}

static int read_value(struct reader *r, json_t **ret) {
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *made = NULL;
    const char *from = r->at;
    long long number;

    if (takes(r, "[") || takes(r, "{")) {
        made = *from == '[' ? json_array() : json_object();
        if (read_items(r, *from == '[' ? ']' : '}', made) < 0)
            return -1;
    } else if (now(r) == '"' || now(r) == '\'') {
        if (read_string(r, &text) < 0)
            return -1;
        made = json_string(text);
    } else {
        while (r->at < r->end && *r->at && !strchr(" \t\r\n#,]}", *r->at))
            r->at++;
        if (r->at == from)
            return refuse(r, "a value is missing");
        text = xstrndup(from, (size_t)(r->at - from));
        made = text_equal(text, "true") || text_equal(text, "false") ? json_boolean(*text == 't')
               : text_to_number(text, INT64_MIN, INT64_MAX, &number) == 0 ? json_integer(number)
                                                                          : json_string(text);
    }
    if (!made)
        return refuse(r, "a value is no UTF-8");
    *ret = take_ptr(made);
    return 0;
}

/* ---- lines ---- */

/* Reads a table header behind its '['. Returns the table that receives the following keys. */
static json_t *read_header(struct reader *r, json_t *document) {
    bool list = takes(r, "[");
    _cleanup_(freep) char *name = NULL;
    json_t *parent = read_key(r, document, &name);

    if (!parent)
        return NULL;
    if (!takes(r, list ? "]]" : "]")) {
        (void)refuse(r, "']' is missing");
        return NULL;
    }
    if (list) {
        json_t *tables = json_object_get(parent, name);

        if (!json_is_array(tables) && json_object_set_new(parent, name, json_array()) < 0) {
            (void)refuse(r, "a key is no UTF-8");
            return NULL;
        }
        json_array_append_new(json_object_get(parent, name), json_object());
    }
    return table_in(r, parent, name);
}

int toml_parse(const char *text, size_t len, const char *what, json_t **ret, struct error *err) {
    struct reader r = {.at = text, .end = text + len, .line = 1, .what = what, .err = err};
    _cleanup_json_ json_t *document = json_object();
    json_t *table = document;

    for (skip_lines(&r); r.at < r.end; skip_lines(&r)) {
        if (takes(&r, "[")) {
            table = read_header(&r, document);
            if (!table)
                return -1;
        } else if (read_pair(&r, table) < 0) {
            return -1;
        }
        skip_blanks(&r);
        if (r.at < r.end && !strchr("\r\n#", *r.at))
            return refuse(&r, "something stands behind the end of a value");
    }
    *ret = take_ptr(document);
    return 0;
}
