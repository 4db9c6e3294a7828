/* Hides the values behind secret names: in quotes of any depth (JSON in JSON), without quotes, in
 * lists and in YAML blocks. */
#include <ctype.h>
#include <string.h>

#include "base/redact.h"
#include "base/text.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define BLANKS " \t"
#define SPACE " \t\r\n"

bool redact_ends_in(const char *name, size_t len, const char *word) {
    size_t n = strlen(word);

    for (size_t i = 0; len >= n && i < n; i++)
        if (tolower((unsigned char)name[len - n + i]) != word[i])
            return false;
    return len >= n;
}

void redact_hide(char *from, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (from[i] != '\n' && from[i] != '\r')
            from[i] = '*';
}

/* ---- quotes ---- */

/* A quotation mark ('"', "'" or an HTML entity) with the backslashes before it. */
struct quote {
    /* `slashes` counts the backslashes. `len` is the length of the mark with its backslashes; 0
     * when no quote begins here. */
    size_t slashes, len;
    const char *mark;
};

static struct quote quote_at(const char *at) {
    static const char *const marks[] = {"\"", "'", "&quot;", "&#34;", "&#39;", "&apos;"};
    size_t slashes = strspn(at, "\\");

    for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
        if (text_starts_with(at + slashes, marks[i]))
            return (struct quote){slashes, slashes + strlen(marks[i]), marks[i]};
    return (struct quote){0};
}

static bool is_double(const struct quote *q) {
    return q->len && *q->mark == '"';
}

/* Returns where the content of a quoted value ends. In a JSON document it ends at the latest where
 * the document's own string ends. */
static char *quoted_end(const struct redact_text *text, char *at, const struct quote *q) {
    size_t run = 0, depth = q->slashes;

    for (; *at && *at != '\n'; at++) {
        if (*at == '\\') {
            run++;
            continue;
        }
        if (*at == '"' && is_double(q)) {
            if (run < depth || (run - depth) % (depth + 1))
                return at - run;
            if ((run - depth) / (depth + 1) % 2 == 0)
                return at - depth;
        } else if (*at == '"' && text->json && run % 2 == 0) {
            return at - run;
        } else if (*q->mark == '\'' && at[0] == '\'' && at[1] == '\'') {
            at++; /* Two single quotes are YAML's escape for one. */
        } else if (*q->mark != '"' && text_starts_with(at, q->mark)) {
            return at - (run < depth ? run : depth);
        }
        run = 0;
    }
    return at - (text->json ? run : 0);
}

/* Hides the content behind an opening quote and returns a pointer behind the closing quote. */
static char *hide_quoted(const struct redact_text *text, char *at, const struct quote *q) {
    char *from = at + q->len, *end;
    struct quote closing;

    if (!q->slashes && q->mark[1] == '\0' && !text->json && from[0] == *q->mark &&
        from[1] == *q->mark) { /* TOML's multi-line strings have three quotes on each side. */
        const char three[] = {*q->mark, *q->mark, *q->mark, '\0'};

        from += 2;
        end = strstr(from, three);
        end = end ? end : from + strlen(from);
        redact_hide(from, (size_t)(end - from));
        return end + strspn(end, q->mark);
    }
    end = quoted_end(text, from, q);
    redact_hide(from, (size_t)(end - from));
    closing = quote_at(end);
    return end + closing.len;
}

/* Does this quote open a value? In a JSON document, the end of the document's own string looks the
 * same, so the depth of the name's quotes decides. */
static bool opens(const struct redact_text *text, const struct quote *q,
                  const struct quote *named) {
    if (!q->len)
        return false;
    if (!text->json || !is_double(q))
        return true;
    return is_double(named) ? q->slashes == named->slashes : q->slashes % 2 == 1;
}

/* ---- values without quotes ---- */

static bool is_newline_escape(const char *at) {
    return at[0] == '\\' && (at[1] == 'n' || at[1] == 'r');
}

/* Returns the length of a value that ends at one of `ends`. In a JSON document it also ends at the
 * end of the string or at an escaped line end. */
static size_t bare_length(const struct redact_text *text, const char *at, const char *ends) {
    size_t len = 0;

    while (at[len] && !strchr(ends, at[len])) {
        size_t run = strspn(at + len, "\\");

        if (run && at[len + run] == '"')
            break;
        if (run % 2 && text->json && at[len + run] && strchr("nrt", at[len + run]))
            return len + run - 1;
        len += run ? run : 1;
        if (run % 2 && text->json && at[len])
            len++;
    }
    return len;
}

/* Returns the length of the rest of a line. In JSON the end of the string ends it, too. */
static size_t line_length(const struct redact_text *text, const char *at) {
    size_t len = 0;

    while (at[len] && !strchr("\r\n", at[len]) && !text_starts_with(at + len, "</")) {
        if (text->json && (at[len] == '"' || is_newline_escape(at + len)))
            break;
        len += text->json && at[len] == '\\' && at[len + 1] ? 2 : 1;
    }
    return len;
}

static bool is_word(const char *value, size_t len, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (len == strlen(words[i]) && redact_ends_in(value, len, words[i]))
            return true;
    return false;
}

/* Is the value a path such as "C:\etc" or "/etc/kubernetes"? */
static bool is_path(const char *at) {
    static const char *const roots[] = {"/etc/",  "/var/", "/run/", "/usr/", "/opt/",
                                        "/home/", "/root", "/tmp/", "/proc/"};

    if (isalpha((unsigned char)at[0]) && at[1] == ':' && (at[2] == '\\' || at[2] == '/'))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
        if (text_starts_with(at, roots[i]))
            return true;
    return false;
}

/* Values such as "true", a path or a number, which are not secret whatever their name says. */
static bool is_plain(const char *value, size_t len, bool number) {
    static const char *const words[] = {"true", "false", "null",    "nil",      "none", "~", "yes",
                                        "no",   "n/a",   "enabled", "disabled", "|",    ">"};

    return !len || is_path(value) || is_word(value, len, words, ARRAY_SIZE(words)) ||
           (number && strspn(value, DIGITS "+-.eE") >= len);
}

/* ---- lines of YAML ---- */

static char *line_begin(const struct redact_text *text, char *at) {
    while (at > text->begin && at[-1] != '\n' && !(text->json && at[-1] == '"') &&
           !(text->json && at - text->begin > 1 && is_newline_escape(at - 2)))
        at--;
    return at;
}

/* Is the name the first of its line? Blanks, the dash of a YAML list, "export" and a quote may come
 * before it. */
static bool is_first(const struct redact_text *text, char *name) {
    char *at = line_begin(text, name);

    at += strspn(at, BLANKS);
    at += at < name && at[0] == '-' && strchr(BLANKS, at[1]) ? 1 + strspn(at + 1, BLANKS) : 0;
    at += text_starts_with(at, "export ") ? strlen("export ") : 0;
    at += at < name ? quote_at(at).len : 0;
    return at == name;
}

/* Hides the lines below a name: the items of a list, a block, or deeper lines. `at` is the end of
 * the name's line. A line with a name of its own ends the value. */
static void hide_below(const struct redact_text *text, char *name, char *at, bool block) {
    char *own = line_begin(text, name), *line = at;
    size_t depth = strspn(own, BLANKS);

    /* In a JSON document, an escape (or two: a carriage return and a line feed) ends a line. */
    while (text->json ? is_newline_escape(line) : line[*line == '\r'] == '\n') {
        size_t in, len, from;
        const char *colon;
        bool item;

        line += text->json ? 2 + 2 * is_newline_escape(line + 2) : 1 + (*line == '\r');
        in = strspn(line, BLANKS);
        len = line_length(text, line);
        item = line[in] == '-' && line[in + 1] == ' ';
        from = item && !block ? in + 2 : in;
        colon = memchr(line, ':', len);
        if (len > in) {
            if (in < depth + !item || (block && in <= depth))
                return;
            if (!block && ((colon && (colon + 1 == line + len || colon[1] == ' ')) ||
                           strchr("[{&*#", line[from])))
                return;
            redact_hide(line + from, len - from);
        }
        line += len;
    }
}

/* ---- a value in any form ---- */

static void hide_bare(const struct redact_text *text, char *name, char *end, char *at,
                      const struct quote *named) {
    /* Words of kubelet and API server for authorization and authentication modes; no secrets. */
    static const char *const modes[] = {"webhook",     "rbac",       "node", "node,rbac", "abac",
                                        "alwaysallow", "alwaysdeny", "x509", "anonymous"};
    /* HTTP authentication schemes; the secret is the word after the scheme. */
    static const char *const schemes[] = {"bearer", "basic", "digest", "negotiate",
                                          "ntlm",   "token", "apikey", "aws4-hmac-sha256"};
    size_t name_len = (size_t)(end - name), word = strcspn(at, SPACE "\"'\\<,;"), len;
    bool has_scheme =
        at[word] && strchr(BLANKS, at[word]) && is_word(at, word, schemes, ARRAY_SIZE(schemes));
    bool authorization = redact_ends_in(name, name_len, "authorization");
    bool document = is_double(named), plural = name_len && strchr("sS", end[-1]);
    bool first = is_first(text, name);
    const char *ends = " \t\r\n,;&{}[]()\"'<";

    len = bare_length(text, at, ends);
    if (text->json && document && !named->slashes)
        return; /* A bare value in a JSON document is a number, true or null. It is not a secret. */
    if (is_plain(at, len, document || plural) ||
        (authorization && is_word(at, len, modes, ARRAY_SIZE(modes)))) {
        if (first && (!len || *at == '|' || *at == '>'))
            hide_below(text, name, at + line_length(text, at), len);
        return;
    }
    if (has_scheme) {
        bool whole = word == strlen("digest") && tolower((unsigned char)*at) == 'd';

        at += word + strspn(at + word, BLANKS);
        len = whole ? line_length(text, at) : bare_length(text, at, SPACE "\"'<");
    } else if (redact_ends_in(name, name_len, "connectionstring")) {
        len = bare_length(text, at, SPACE "\"'<");
    } else if (first && !named->len && strchr(BLANKS, at[-1]) && strchr(":", at[-2])) {
        len = line_length(text, at);
    } else if (first && !named->len && at[-1] == '=') {
        len = bare_length(text, at, SPACE ",\"'<");
    }
    redact_hide(at, len);
}

static void hide_at(const struct redact_text *text, char *name, char *end, char *at,
                    const struct quote *named) {
    struct quote q = quote_at(at);

    if (q.len && opens(text, &q, named)) {
        if (!is_path(at + q.len))
            (void)hide_quoted(text, at, &q);
    } else if (*at == '[') { /* A list such as ["x", "y"]. */
        for (at++;; at = hide_quoted(text, at, &q)) {
            at += strspn(at, text->json || !named->len ? SPACE "," : BLANKS ",");
            q = quote_at(at);
            if (!opens(text, &q, named->len ? named : &q))
                break;
        }
        if (!text->json)
            redact_hide(at, strcspn(at, "[]{}\r\n\"'&<"));
    } else if (!is_double(&q)) {
        hide_bare(text, name, end, at, named);
    }
}

/* Returns the length of the separator between name and value: ":", "=", ":=", "=>" or "%3D"; 0 if
 * the text does not begin with one. */
static size_t separator_length(const char *at) {
    size_t len = strspn(at, ":=");

    if (len && at[len] == '>')
        len++;
    return len ? len : redact_ends_in(at, strnlen(at, 3), "%3d") ? 3 : 0;
}

/* Hides the word after a flag: --password hunter2, also as two items of a list: "--password",
 * "hunter2". */
static void hide_next_word(const struct redact_text *text, char *name, char *end,
                           const struct quote *named) {
    /* Words that are not values: after one of these, the flag is mentioned in ordinary text. */
    static const char *const prose[] = {
        "is",    "was",    "are",  "has",  "and",    "or",   "not",     "for",  "of",
        "in",    "the",    "to",   "with", "from",   "must", "needs",   "flag", "file",
        "value", "cannot", "will", "when", "option", "on",   "without", "if",
    };
    char *at = end + named->len;
    bool list = false;
    struct quote q;
    size_t word;

    if (named->len || *at == '\n' || *at == '\r') {
        list = *at == ',' || strspn(at, SPACE);
        at += strspn(at, SPACE ",");
        if (list && at[0] == '-' && at[1] == ' ')
            at += 1 + strspn(at + 1, BLANKS);
    } else {
        at += strspn(at, BLANKS);
    }
    q = quote_at(at);
    word = strspn(at, LETTERS);
    if (at == end + named->len || at[q.len] == '-' || at[q.len] == '/' ||
        (is_word(at, word, prose, ARRAY_SIZE(prose)) && strchr(SPACE ".,:;", at[word])))
        return;
    if (q.len && opens(text, &q, named)) {
        const char *behind = quoted_end(text, at + q.len, &q);

        behind += quote_at(behind).len;
        if (behind[strspn(behind, SPACE)] != ':')
            hide_at(text, name, end, at, named);
    } else if (!q.len && (!text->json || !named->len)) {
        size_t len = bare_length(text, at, " \t\r\n\"'<)");

        if (!is_plain(at, len, false) && !(len && at[len - 1] == ':'))
            redact_hide(at, len);
    }
}

/* Hides the value in {"name": "PASSWORD", "value": "x"} and in the same form of YAML and XML.
 * Returns true when the text has this form. */
static bool hide_pair(const struct redact_text *text, char *end, const struct quote *named) {
    char *at = end + named->len, *word;
    struct quote q, closing;

    while (*at && (strchr(SPACE ",", *at) || (text->json && is_newline_escape(at))))
        at += *at == '\\' ? 2 : 1;
    if (at == end + named->len)
        return false;
    q = quote_at(at);
    word = at + q.len;
    if (strspn(word, LETTERS) != strlen("value") || !redact_ends_in(word, strlen("value"), "value"))
        return false;
    closing = quote_at(word + strlen("value"));
    at = word + strlen("value") + closing.len;
    at += strspn(at, BLANKS);
    if (!separator_length(at))
        return false;
    at += separator_length(at) + strspn(at + separator_length(at), BLANKS);
    hide_at(text, word, word + strlen("value"), at, &closing);
    return true;
}

void redact_value(const struct redact_text *text, char *name, char *end) {
    struct quote named = quote_at(end);
    char *at = end + named.len;
    size_t separator;

    at += *at == ']';
    at += strspn(at, BLANKS);
    separator = separator_length(at);
    if (separator) {
        at += separator;
        at += strspn(at, text->json && is_double(&named) ? SPACE : BLANKS);
        hide_at(text, name, end, at, &named);
    } else if (*at == '>' && name > text->begin && name[-1] == '<') {
        redact_hide(at + 1, strcspn(at + 1, text->json ? "<\"\\" : "<"));
    } else if (!hide_pair(text, end, &named) && name[0] == '-') {
        hide_next_word(text, name, end, &named);
    }
}
