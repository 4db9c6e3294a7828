/* Names whose values are secret, as documents, command lines and environments have them. */
#include <ctype.h>
#include <string.h>

#include "base/redact_rules.h"
#include "base/text.h"

enum { NAME_MAX_ = 128, PARTS_MAX = 24 }; /* of a longer one its end counts */

/* Anywhere in a name, also where nothing parts the words: PGPASSWORD, authtoken. */
static const char *const anywhere[] = {
    "secret",    "passw",     "passphrase", "passcode",         "token",     "credential",
    "apikey",    "accesskey", "privatekey", "accountkey",       "sharedkey", "storagekey",
    "masterkey", "signature", "cookie",     "connectionstring", "dockercfg", "dockerconfigjson",
};
/* A whole part. */
static const char *const parts[] = {
    "key", "keys", "pass", "pwd", "pw", "auth", "authorization", "cred", "creds", "psk",
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
    "groups",
};
/* With one of these a key opens nothing. */
static const char *const open_keys[] = {
    "public", "topology",   "label",   "annotation", "registry", "sort", "partition", "routing",
    "patch",  "merge",      "foreign", "cache",      "object",   "map",  "field",     "selector",
    "taint",  "toleration", "group",   "hot",        "match",    "hash",
};

static bool is_one_of(const char *word, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (text_equal(word, list[i]))
            return true;
    return false;
}
#define IS_ONE_OF(word, list) is_one_of(word, list, ARRAY_SIZE(list))

/* Does a part of "accessKey", "APIKey" begin here? */
static bool begins_part(const char *name, size_t len, size_t i) {
    bool upper = isupper((unsigned char)name[i]);
    bool before = isupper((unsigned char)name[i - 1]);

    return upper && (!before || (i + 1 < len && islower((unsigned char)name[i + 1])));
}

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

        if (open && (!letter || begins_part(name, len, i))) {
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
    if (!p.count || IS_ONE_OF(p.items[p.count - 1], about))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(anywhere); i++)
        if (strstr(p.whole, anywhere[i]))
            return true;
    for (size_t i = 0; i < p.count; i++) {
        secret = secret || IS_ONE_OF(p.items[i], parts) ||
                 (i + 1 == p.count && text_equal(p.items[i], "sig")); /* not "sig-windows" */
        open = open || IS_ONE_OF(p.items[i], open_keys);
    }
    /* "key: node-role.kubernetes.io/control-plane" is a taint */
    return secret && !open && !(p.count == 1 && text_starts_with(p.items[0], "key"));
}

bool redact_ends_in(const char *name, size_t len, const char *word) {
    size_t n = strlen(word);

    for (size_t i = 0; len >= n && i < n; i++)
        if (tolower((unsigned char)name[len - n + i]) != word[i])
            return false;
    return len >= n;
}
