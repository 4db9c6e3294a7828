/* Finds what is secret in the files and logs of a node. What is no secret may be hidden with it. */
#include "base/redact.h"

#include "base/text.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define BLANKS " \t"
enum { BEARER_MIN = 8 }; /* "bearer of" is not followed by a token */

static void hide(char *from, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (from[i] != '\n' && from[i] != '\r')
            from[i] = '*';
}

/* The end of a file has perhaps the end of a key alone. */
static void hide_keys(char *text) {
    static const char begin[] = "-----BEGIN ", end[] = "-----END ", key[] = "PRIVATE KEY-----";
    char *from = text, *at = text, *mark;

    while ((mark = strstr(at, key))) {
        char *line = mark;

        while (line > text && line[-1] != '\n' && strncmp(line, "-----", 5) != 0)
            line--;
        at = mark + sizeof key - 1;
        if (strncmp(line, end, sizeof end - 1) == 0) {
            hide(from, (size_t)(line - from));
            from = at;
        } else if (strncmp(line, begin, sizeof begin - 1) == 0) {
            char *last = strstr(at, end);

            from = last ? last : at + strlen(at);
            hide(at, (size_t)(from - at));
            at = from;
        }
    }
}

static void hide_web_tokens(char *text) {
    static const char begin[] = "eyJ"; /* {" in base64 */

    for (char *at = text; (at = strstr(at, begin)); at += sizeof begin - 1) {
        size_t len = strspn(at, LETTERS DIGITS "-_.*");

        if (memchr(at, '.', len))
            hide(at + sizeof begin - 1, len - (sizeof begin - 1));
    }
}

/* scheme://user:password@host */
static void hide_url_passwords(char *text) {
    static const char begin[] = "://";

    for (char *at = text; (at = strstr(at, begin));) {
        size_t len;
        char *colon;

        at += sizeof begin - 1;
        len = strcspn(at, "@/ \t\r\n\"'");
        colon = memchr(at, ':', len);
        if (at[len] == '@' && colon)
            hide(colon + 1, (size_t)(at + len - colon - 1));
    }
}

static bool is_word(const char *value, size_t len, const char *word) {
    return len == strlen(word) && strncmp(value, word, len) == 0;
}

/* What may stand for no secret in a document. */
static bool is_plain(const char *value, size_t len, bool document) {
    return !len || is_word(value, len, "true") || is_word(value, len, "false") ||
           is_word(value, len, "null") || (document && strspn(value, DIGITS) >= len);
}

/* Behind the name of a field: its value, in quotes or up to a blank. */
static void hide_value(char *at) {
    bool document = *at == '"';
    size_t len = 0;
    char quote;

    at += strspn(at, "\"'\\");
    at += strspn(at, BLANKS);
    if (*at != ':' && *at != '=')
        return;
    at += 1 + strspn(at + 1, BLANKS);
    quote = *at;
    if (quote == '\\' || quote == '"' || quote == '\'') {
        at += 1 + (quote == '\\' && at[1]);
        while (at[len] && at[len] != quote && at[len] != '\n')
            len += at[len] == '\\' && quote == '"' && at[len + 1] ? 2 : 1;
        hide(at, len);
        return;
    }
    len = strcspn(at, " \t\r\n,;&{}[]()\"'");
    if (!is_plain(at, len, document))
        hide(at, len);
}

/* "Authorization: Bearer abc" */
static void hide_bearer(char *at) {
    size_t blanks = strspn(at, BLANKS), len = strcspn(at + blanks, " \t\r\n\"'\\");

    if (blanks && len >= BEARER_MIN)
        hide(at + blanks, len);
}

/* Does the name (lower case) end a word here, in any case? */
static bool ends_word(const char *at, const char *name) {
    for (; *name; at++, name++)
        if (*at != *name && *at != *name - 'a' + 'A')
            return false;
    return *at && !strchr(LETTERS DIGITS "_-", *at);
}

void redact_secrets(char *text) {
    static const char *const names[] = {"password",  "passwd",  "passphrase", "token",
                                        "secret",    "auth",    "apikey",     "api-key",
                                        "accesskey", "key-data"};

    redact_tokens(text);
    hide_keys(text);
    hide_web_tokens(text);
    hide_url_passwords(text);
    for (char *at = text; *at; at++) {
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
            if (ends_word(at, names[i]))
                hide_value(at + strlen(names[i]));
        if (ends_word(at, "bearer"))
            hide_bearer(at + strlen("bearer"));
    }
}
