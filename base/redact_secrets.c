/* Finds secrets in files and logs of a node: by the form of the value, or by the name before it in
 * documents, command lines and environments. Some harmless text may be hidden too. */
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
enum { BEARER_MIN = 8 }; /* Shorter words after "bearer", as in "bearer of", are not tokens. */

/* ---- private keys ---- */

/* Hides the text from `from` to `end` and returns where it stopped. In a JSON document it stops at
 * the end of the JSON string, so that the document remains valid. */
static char *hide_until(const struct redact_text *text, char *from, char *end) {
    char *at = from;

    while (text->json && at < end && *at != '"')
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    end = text->json && at < end ? at : end;
    redact_hide(from, (size_t)(end - from));
    return end;
}

/* Hides private keys in PEM form. A text may be the tail of a file: then it has the end of a key
 * without its beginning, and everything before that end is hidden. */
static void hide_keys(const struct redact_text *text) {
    static const char begin[] = "-----BEGIN ", end[] = "-----END ", key[] = "PRIVATE KEY";
    char *from = text->begin, *at = text->begin, *mark;

    while ((mark = strstr(at, key))) {
        char *line = mark;

        while (line > text->begin && line[-1] != '\n' && strncmp(line, "-----", 5) != 0)
            line--;
        at = mark + sizeof key - 1;
        if (strncmp(line, end, sizeof end - 1) == 0) {
            char *string = from; /* Beginning of the JSON string that holds the key's end. */

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

/* ---- tokens with known prefixes ---- */

static void hide_known(const struct redact_text *text) {
    static const struct {
        const char *begin;
        size_t min; /* Minimum number of characters behind the prefix. */
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
        /* The base64 forms of "-----BEGIN PRIVATE", "-----BEGIN RSA P" and "-----BEGIN EC P". */
        {"LS0tLS1CRUdJTiBQUklWQVRF", 1, BASE64},
        {"LS0tLS1CRUdJTiBSU0EgU", 1, BASE64},
        {"LS0tLS1CRUdJTiBFQyBQ", 1, BASE64},
    };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        for (char *at = text->begin; (at = strstr(at, known[i].begin));) {
            /* A prefix directly behind a letter or digit is the middle of another word. The letter
             * of an escape such as "\n" does not count. */
            bool begins = at == text->begin || !strchr(BASE64, at[-1]) || strchr("=/-", at[-1]) ||
                          (strchr("nrt", at[-1]) && at - text->begin > 1 && at[-2] == '\\');
            size_t len;

            at += strlen(known[i].begin);
            len = strspn(at, known[i].of);
            if (begins && len >= known[i].min)
                redact_hide(at, len);
        }
}

/* ---- user names and passwords ---- */

static bool is_word(const char *at, const char *word) {
    size_t len = strlen(word);

    return redact_ends_in(at, strnlen(at, len), word) && at[len] &&
           !isalnum((unsigned char)at[len]);
}

/* Is this base64 of "user:password"? The word after "Basic" can also be ordinary text, as in "Basic
 * authentication". */
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

/* Hides the password of a "user:password@host" within the `len` bytes from `at`. */
static void hide_login(char *at, size_t len) {
    char *colon;

    /* The last '@' ends the password, because the password may contain others. */
    while (len && at[len - 1] != '@')
        len--;
    colon = memchr(at, ':', len);
    if (colon && colon[1] != '/') /* A colon before '/' belongs to a URL's scheme; the loop over
                                     "://" handles that URL. */
        redact_hide(colon + 1, (size_t)(at + len - 1 - colon - 1));
}

/* ---- names whose values are secret ---- */

/* Only the last NAME_MAX_ - 1 bytes of a longer name are examined. */
enum { NAME_MAX_ = 128, PARTS_MAX = 24 };

/* Words that make a name secret anywhere in it, also without a separator: PGPASSWORD, authtoken. */
static const char *const anywhere[] = {
    "secret",    "passw",     "passphrase", "passcode",         "token",     "credential",
    "apikey",    "accesskey", "privatekey", "accountkey",       "sharedkey", "storagekey",
    "masterkey", "signature", "cookie",     "connectionstring", "dockercfg", "dockerconfigjson",
};
/* Words that make a name secret only as a whole part of it. */
static const char *const parts[] = {
    "key", "keys", "pass", "pwd", "pw", "auth", "authorization", "cred", "creds", "psk", NULL,
};
/* Words that make a name harmless as its last part: the value only describes a secret. */
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
/* Words that make a "key" harmless: such a key is an identifier and not a secret. */
static const char *const open_keys[] = {
    "public", "topology",   "label",   "annotation", "registry", "sort", "partition", "routing",
    "patch",  "merge",      "foreign", "cache",      "object",   "map",  "field",     "selector",
    "taint",  "toleration", "group",   "hot",        "match",    "hash", NULL,
};

/* A name in lower case, split into its parts. `words` holds the parts with a NUL behind each,
 * `items` points to them, and `whole` is all parts joined. */
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
        /* An upper-case letter begins a new part, as in "accessKey" and "APIKey". */
        bool begins = open && isupper((unsigned char)name[i]) &&
                      (!isupper((unsigned char)name[i - 1]) ||
                       (i + 1 < len && islower((unsigned char)name[i + 1])));

        if (open && (!letter || begins)) {
            ret->words[at++] = '\0';
            open = false;
        }
        if (!letter || (!open && isdigit((unsigned char)name[i])))
            /* Drops digits at the start or end of a part: "key1" and "1key" count as "key". */
            continue;
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
        secret =
            secret || name_find(parts, p.items[i]) ||
            (i + 1 == p.count && text_equal(p.items[i], "sig")); /* "sig-windows" is no secret. */
        open = open || name_find(open_keys, p.items[i]);
    }
    /* A name of one part is harmless: "key: node-role.kubernetes.io/control-plane" is a taint. */
    return secret && !open && !(p.count == 1 && text_starts_with(p.items[0], "key"));
}

/* ---- the whole text ---- */

#define NAME LETTERS DIGITS "_-."
#define HEX DIGITS "abcdefABCDEF"
#define SPACE " \t\r\n"

static void look(const struct redact_text *text, char *name, char *end) {
    size_t len = (size_t)(end - name), blanks = strspn(end, BLANKS);
    /* In JSON text, the "n" of an escape such as "\npassword" seems to be part of the name; in
     * "C:\npassword" it really is. Both readings are checked. */
    size_t escaped = name > text->begin && name[-1] == '\\' && strchr("nrt", *name) ? 1 : 0;

    if (redact_is_secret_name(name, len) || redact_is_secret_name(name + escaped, len - escaped)) {
        redact_value(text, name + escaped, end);
    } else if (redact_ends_in(
                   name, len,
                   /* A proxy value can have a login without a scheme: "user:password@host". */
                   "proxy")) {
        end += strspn(end, "\"'\\ \t:=");
        hide_login(end, strcspn(end, " \t\r\n\"'<"));
    } else if (blanks && ((len == 2 && strncmp(name, "-u", 2) == 0) ||
                          (name[0] == '-' && redact_ends_in(name, len, "-user")))) {
        char *at = end + blanks, *colon; /* The value behind -u or --user: "user:password". */

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
    static const char begin[] = "://", web_token[] = "eyJ"; /* "eyJ" is {" in base64. */

    while (behind > first && strchr(SPACE, text[behind - 1]))
        behind--;
    whole.json = behind > first + 1 && ((text[first] == '{' && text[behind - 1] == '}') ||
                                        (text[first] == '[' && text[behind - 1] == ']'));
    redact_tokens(text);
    hide_keys(&whole);
    /* Hide JSON Web Tokens, also when other characters adjoin them. */
    for (char *at = text; (at = strstr(at, web_token)); at += sizeof web_token - 1) {
        size_t len = strspn(at, LETTERS DIGITS "-_.*");

        if (memchr(at, '.', len))
            redact_hide(at + sizeof web_token - 1, len - (sizeof web_token - 1));
    }
    hide_known(&whole);
    /* Hide the values of "Bearer x" and "Basic x". */
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
    /* Hide the password in scheme://user:password@host. The password may contain characters that
     * are not allowed in a URL. */
    for (char *at = whole.begin; (at = strstr(at, begin));) {
        at += sizeof begin - 1;
        hide_login(at, strcspn(at, "/?# \t\r\n\"'<>"));
    }
    for (char *at = text; *at;) {
        size_t len = strspn(at, NAME);

        /* Skip an escape such as \u0026 in "\u0026sig=x", since it is not part of the name. */
        if (at[0] == '\\' && at[1] == 'u' && strspn(at + 2, HEX) >= 4) {
            at += 6;
            continue;
        }
        if (len)
            look(&whole, at, at + len);
        at += len ? len : 1;
    }
}
