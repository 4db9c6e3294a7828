/* Finds what looks like a secret in the files and logs of a node: by its form alone, or by the name
 * before it, as documents, command lines and environments have them. What is no secret may be
 * hidden with it. */
#include <ctype.h>
#include <string.h>

#include "base/base64.h"
#include "base/nearest.h"
#include "base/redact.h"
#include "base/text.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define BASE64 LETTERS DIGITS "+/=-_"
#define BLANKS " \t"
enum { BEARER_MIN = 8 }; /* "bearer of" is not followed by a token */

/* ---- private keys ---- */

/* In a JSON document what is hidden stays in its string. */
static char *hide_until(const struct redact_text *text, char *from, char *end) {
    char *at = from;

    while (text->json && at < end && *at != '"')
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    end = text->json && at < end ? at : end;
    redact_hide(from, (size_t)(end - from));
    return end;
}

/* The end of a file has perhaps the end of a key alone. */
static void hide_keys(const struct redact_text *text) {
    static const char begin[] = "-----BEGIN ", end[] = "-----END ", key[] = "PRIVATE KEY";
    char *from = text->begin, *at = text->begin, *mark;

    while ((mark = strstr(at, key))) {
        char *line = mark;

        while (line > text->begin && line[-1] != '\n' && strncmp(line, "-----", 5) != 0)
            line--;
        at = mark + sizeof key - 1;
        if (strncmp(line, end, sizeof end - 1) == 0) {
            char *string = from; /* of JSON, in which the key's end stands */

            for (char *p = from; text->json && p < line; p++)
                if (*p == '"')
                    string = p + 1;
                else if (*p == '\\')
                    p++;
            if (line > from)
                (void)hide_until(text, string < line ? string : line, line);
            from = at;
        } else if (strncmp(line, begin, sizeof begin - 1) == 0) {
            char *last, *behind = strstr(at, "-----");

            at = behind && strcspn(at, "\n") > (size_t)(behind - at) ? behind + 5 : at;
            last = strstr(at, end);
            from = hide_until(text, at, last ? last : at + strlen(at));
            at = from;
        }
    }
}

/* ---- tokens by their beginnings ---- */

static void hide_known(const struct redact_text *text) {
    static const struct {
        const char *begin;
        size_t min; /* of what follows */
        const char *of;
    } known[] = {
        {"ghp_", 8, BASE64},
        {"gho_", 8, BASE64},
        {"ghu_", 8, BASE64},
        {"ghs_", 8, BASE64},
        {"ghr_", 8, BASE64},
        {"github_pat_", 8, BASE64},
        {"glpat-", 8, BASE64 "."},
        {"gldt-", 8, BASE64},
        {"xoxb-", 8, BASE64},
        {"xoxp-", 8, BASE64},
        {"xoxa-", 8, BASE64},
        {"xoxr-", 8, BASE64},
        {"xoxs-", 8, BASE64},
        {"xoxe", 8, BASE64 "."},
        {"xapp-", 8, BASE64},
        {"AKIA", 12, LETTERS DIGITS},
        {"ASIA", 12, LETTERS DIGITS},
        {"AIza", 30, BASE64},
        {"ya29.", 8, BASE64},
        {"npm_", 20, BASE64},
        {"dckr_pat_", 8, BASE64},
        {"hvs.", 16, BASE64},
        {"sk_live_", 8, BASE64},
        {"eyJ", 17, BASE64 ".*"},
        /* "-----BEGIN PRIVATE", "-----BEGIN RSA P", "-----BEGIN EC P" in base64 */
        {"LS0tLS1CRUdJTiBQUklWQVRF", 1, BASE64},
        {"LS0tLS1CRUdJTiBSU0EgU", 1, BASE64},
        {"LS0tLS1CRUdJTiBFQyBQ", 1, BASE64},
    };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        for (char *at = text->begin; (at = strstr(at, known[i].begin));) {
            /* Behind a letter or digit it is the middle of something else, but for that of "\n". */
            bool begins = at == text->begin || !strchr(BASE64, at[-1]) || strchr("=/-", at[-1]) ||
                          (strchr("nrt", at[-1]) && at - text->begin > 1 && at[-2] == '\\');
            size_t len;

            at += strlen(known[i].begin);
            len = strspn(at, known[i].of);
            if (begins && len >= known[i].min)
                redact_hide(at, len);
        }
}

/* ---- logins ---- */

static bool is_word(const char *at, const char *word) {
    size_t len = strlen(word);

    return redact_ends_in(at, strnlen(at, len), word) && at[len] &&
           !isalnum((unsigned char)at[len]);
}

/* "user:password" in base64, and not the words "Basic authentication". */
static bool is_basic(const char *at, size_t len) {
    unsigned char *plain = NULL;
    size_t plain_len = 0;
    bool basic;

    if (base64_decode(at, len, &plain, &plain_len, NULL) < 0)
        return at[len - 1] == '=';
    basic = memchr(plain, ':', plain_len) != NULL;
    secret_free((char *)plain, plain_len);
    return basic;
}

/* Hides the password of the "user:password@host" that `len` bytes from `at` on hold. */
static void hide_login(char *at, size_t len) {
    char *colon;

    while (len && at[len - 1] != '@') /* the last one: a password may have others */
        len--;
    colon = memchr(at, ':', len);
    if (colon && colon[1] != '/') /* of a scheme it is another password's */
        redact_hide(colon + 1, (size_t)(at + len - 1 - colon - 1));
}

/* ---- names whose values are secret ---- */

enum { NAME_MAX_ = 128, PARTS_MAX = 24 }; /* of a longer one its end counts */

/* Anywhere in a name, also where nothing parts the words: PGPASSWORD, authtoken. */
static const char *const anywhere[] = {
    "secret",    "passw",     "passphrase", "passcode",         "token",     "credential",
    "apikey",    "accesskey", "privatekey", "accountkey",       "sharedkey", "storagekey",
    "masterkey", "signature", "cookie",     "connectionstring", "dockercfg", "dockerconfigjson",
};
/* A whole part. */
static const char *const parts[] = {
    "key", "keys", "pass", "pwd", "pw", "auth", "authorization", "cred", "creds", "psk", NULL,
};
/* The last part: what is named is no secret but a thing about one. */
static const char *const about[] = {
    "file",      "files",      "filename", "path",     "paths",     "dir",      "directory",
    "folder",    "url",        "uri",      "endpoint", "name",      "names",    "namespace",
    "type",      "mode",       "modes",    "kind",     "ttl",       "timeout",  "duration",
    "period",    "interval",   "seconds",  "minutes",  "hours",     "expiry",   "expiration",
    "size",      "length",     "count",    "limit",    "version",   "method",   "methods",
    "algorithm", "algorithms", "usage",    "usages",   "format",    "provider", "policy",
    "enabled",   "disabled",   "required", "audience", "audiences", "issuer",   "webhook",
    "ref",       "reference",  "sock",     "socket",   "info",      "status",   "reason",
    "requests",  "projection", "review",   "reviews",  "hash",      "sha256",   "digest",
    "groups",    NULL,
};
/* With one of these a key opens nothing. */
static const char *const open_keys[] = {
    "public", "topology",   "label",   "annotation", "registry", "sort", "partition", "routing",
    "patch",  "merge",      "foreign", "cache",      "object",   "map",  "field",     "selector",
    "taint",  "toleration", "group",   "hot",        "match",    "hash", NULL,
};

/* A name in lower case: its parts, each with its end, and all of them as one word. */
struct parts {
    char words[NAME_MAX_ * 2], whole[NAME_MAX_];
    const char *items[PARTS_MAX];
    size_t count;
};

static void split(const char *name, size_t len, struct parts *ret) {
    size_t at = 0, whole = 0;
    bool open = false;

    ret->count = 0;
    for (size_t i = 0; i < len; i++) {
        bool letter = isalnum((unsigned char)name[i]);
        /* a part of "accessKey", "APIKey" */
        bool begins = open && isupper((unsigned char)name[i]) &&
                      (!isupper((unsigned char)name[i - 1]) ||
                       (i + 1 < len && islower((unsigned char)name[i + 1])));

        if (open && (!letter || begins)) {
            ret->words[at++] = '\0';
            open = false;
        }
        if (!letter || (!open && isdigit((unsigned char)name[i])))
            continue; /* "key1" is a key, and so is "1key" */
        if (!open && ret->count == PARTS_MAX)
            break;
        if (!open)
            ret->items[ret->count++] = ret->words + at;
        open = true;
        ret->words[at++] = ret->whole[whole++] = (char)tolower((unsigned char)name[i]);
    }
    ret->words[at] = ret->whole[whole] = '\0';
    for (size_t i = 0; i < ret->count; i++) {
        char *word = (char *)ret->items[i];

        for (size_t n = strlen(word);
             n > 1 && isdigit((unsigned char)word[n - 1]) && !text_equal(word, "sha256"); n--)
            word[n - 1] = '\0';
    }
}

bool redact_is_secret_name(const char *name, size_t len) {
    size_t cut = len > NAME_MAX_ - 1 ? len - (NAME_MAX_ - 1) : 0;
    struct parts p;
    bool secret = false, open = false;

    split(name + cut, len - cut, &p);
    if (!p.count || name_find(about, p.items[p.count - 1]))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(anywhere); i++)
        if (strstr(p.whole, anywhere[i]))
            return true;
    for (size_t i = 0; i < p.count; i++) {
        secret = secret || name_find(parts, p.items[i]) ||
                 (i + 1 == p.count && text_equal(p.items[i], "sig")); /* not "sig-windows" */
        open = open || name_find(open_keys, p.items[i]);
    }
    /* "key: node-role.kubernetes.io/control-plane" is a taint */
    return secret && !open && !(p.count == 1 && text_starts_with(p.items[0], "key"));
}

/* ---- the whole text ---- */

#define NAME LETTERS DIGITS "_-."
#define HEX DIGITS "abcdefABCDEF"
#define SPACE " \t\r\n"

static void look(const struct redact_text *text, char *name, char *end) {
    size_t len = (size_t)(end - name), blanks = strspn(end, BLANKS);
    /* of "\npassword" in a text of JSON, or of "C:\npassword" */
    size_t escaped = name > text->begin && name[-1] == '\\' && strchr("nrt", *name) ? 1 : 0;

    if (redact_is_secret_name(name, len) || redact_is_secret_name(name + escaped, len - escaped)) {
        redact_value(text, name + escaped, end);
    } else if (redact_ends_in(name, len,
                              "proxy")) { /* also without a scheme: "user:password@host" */
        end += strspn(end, "\"'\\ \t:=");
        hide_login(end, strcspn(end, " \t\r\n\"'<"));
    } else if (blanks && ((len == 2 && strncmp(name, "-u", 2) == 0) ||
                          (name[0] == '-' && redact_ends_in(name, len, "-user")))) {
        char *at = end + blanks, *colon; /* "user:password" behind a flag */

        at += *at == '"' || *at == '\'';
        len = strcspn(at, SPACE "\"'\\<");
        colon = memchr(at, ':', len);
        if (colon && colon[1] != '/' && strspn(at, DIGITS ":") < len)
            redact_hide(colon + 1, (size_t)(at + len - colon - 1));
    }
}

void redact_secrets(char *text) {
    size_t first = strspn(text, SPACE), behind = strlen(text);
    struct redact_text whole = {.begin = text};
    static const char begin[] = "://", web_token[] = "eyJ"; /* {" in base64 */

    while (behind > first && strchr(SPACE, text[behind - 1]))
        behind--;
    whole.json = behind > first + 1 && ((text[first] == '{' && text[behind - 1] == '}') ||
                                        (text[first] == '[' && text[behind - 1] == ']'));
    redact_tokens(text);
    hide_keys(&whole);
    /* JSON Web Tokens, also glued to something. */
    for (char *at = text; (at = strstr(at, web_token)); at += sizeof web_token - 1) {
        size_t len = strspn(at, LETTERS DIGITS "-_.*");

        if (memchr(at, '.', len))
            redact_hide(at + sizeof web_token - 1, len - (sizeof web_token - 1));
    }
    hide_known(&whole);
    /* "Bearer x", "Basic x" */
    for (char *at = whole.begin; *at; at++) {
        bool bearer = is_word(at, "bearer"), basic = !bearer && is_word(at, "basic");
        size_t blanks, len;
        char *value;

        if (!bearer && !basic)
            continue;
        value = at + (bearer ? strlen("bearer") : strlen("basic"));
        blanks = strspn(value, BLANKS);
        if (strncmp(value, "%20", 3) == 0)
            blanks = 3;
        value += blanks;
        len = bearer ? strcspn(value, " \t\r\n\"'\\<,;") : strspn(value, BASE64);
        if (blanks && len >= BEARER_MIN && !is_word(value, "authentication") &&
            !is_word(value, "authorization") && (bearer || is_basic(value, len)))
            redact_hide(value, len);
    }
    /* scheme://user:password@host; the password may have signs that it should not have. */
    for (char *at = whole.begin; (at = strstr(at, begin));) {
        at += sizeof begin - 1;
        hide_login(at, strcspn(at, "/?# \t\r\n\"'<>"));
    }
    for (char *at = text; *at;) {
        size_t len = strspn(at, NAME);

        if (at[0] == '\\' && at[1] == 'u' && strspn(at + 2, HEX) >= 4) { /* "\u0026sig=x" */
            at += 6;
            continue;
        }
        if (len)
            look(&whole, at, at + len);
        at += len ? len : 1;
    }
}
