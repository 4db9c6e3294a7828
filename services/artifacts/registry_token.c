/* Nothing that a registry says of its tokens is believed but where they are, and that only by
 * https: what is got there is sent to the registry alone. */
#include "services/artifacts/image.h"

#include <ctype.h>

#include "base/json.h"

enum { REALM_MAX = 2048, ANSWER_MAX = 64 * 1024, TOKEN_MAX = 16 * 1024, TIMEOUT_MS = 30000 };

void registry_challenge_free(struct registry_challenge *challenge) {
    free_all(challenge->realm, challenge->service, challenge->scope);
    *challenge = (struct registry_challenge){0};
}

/* ---- what is asked for ---- */

static const char *skip(const char *at, const char *what) {
    return at + strspn(at, what);
}

/* RFC 9110, 5.6.2 */
static char *take_token(const char **at) {
    const char *begin = *at;

    while (isalnum((unsigned char)**at) || (**at && strchr("!#$%&'*+-.^_`|~", **at)))
        ++*at;
    return xstrndup(begin, (size_t)(*at - begin));
}

/* A quoted string or a token; NULL: the quotes have no end. */
static char *take_value(const char **at) {
    struct text out = {0};

    if (**at != '"')
        return take_token(at);
    for (++*at; **at && **at != '"'; ++*at) {
        if (**at == '\\' && (*at)[1])
            ++*at;
        text_add_char(&out, **at);
    }
    if (**at != '"') {
        text_free(&out);
        return NULL;
    }
    ++*at;
    return text_take(&out);
}

/* The first of each name counts. Takes over the value. */
static void put(struct registry_challenge *c, const char *name, char *value) {
    char **where = text_equal_nocase(name, "realm")     ? &c->realm
                   : text_equal_nocase(name, "service") ? &c->service
                   : text_equal_nocase(name, "scope")   ? &c->scope
                                                        : NULL;

    if (where && !*where)
        *where = take_ptr(value);
    free(value);
}

bool registry_challenge_read(const char *text, struct registry_challenge *ret) {
    struct registry_challenge found = {0};
    const char *at = skip(text, " \t,");
    bool bearer = false;

    while (*at) {
        _cleanup_(freep) char *name = take_token(&at);
        const char *after = skip(at, " \t");

        if (*name && *after == '=') {
            char *value;

            at = skip(after + 1, " \t");
            value = take_value(&at);
            if (!value)
                break;
            if (bearer)
                put(&found, name, value);
            else
                free(value);
        } else if (*name) {
            if (found.realm) /* the next scheme */
                break;
            registry_challenge_free(&found);
            bearer = text_equal_nocase(name, "Bearer");
        } else if (*at == '"') {
            break; /* a quoted text without a name */
        } else {
            at++;
        }
        at = skip(at, " \t,");
    }
    if (!found.realm)
        registry_challenge_free(&found);
    else
        *ret = found;
    return found.realm != NULL;
}

/* ---- the token ---- */

static int check_realm(const char *realm, struct error *err) {
    _cleanup_(freep) char *shown = http_shown_url(realm);
    size_t scheme = strlen("https://");

    if (!text_starts_with(realm, "https://"))
        return error_set(err, ERROR_UNTRUSTED,
                         "the registry wants a token that is not got by https: '%.200s'", shown);
    for (const char *p = realm; *p; p++)
        if (*p <= ' ' || *p > '~' || strchr("\"<>\\^`{|}#", *p) || p - realm > REALM_MAX)
            return error_set(err, ERROR_UNTRUSTED,
                             "the address of the registry's tokens is no URL");
    if (!strcspn(realm + scheme, "/?") ||
        memchr(realm + scheme, '@', strcspn(realm + scheme, "/?")))
        return error_set(err, ERROR_UNTRUSTED,
                         "the address of the registry's tokens has no host, or a user");
    return 0;
}

static void add_parameter(struct text *url, const char *name, const char *value) {
    text_addf(url, "%c%s=", strchr(text_str(url), '?') ? '&' : '?', name);
    text_add_url(url, value, "/:,");
}

static char *token_url(const struct registry_challenge *c, const char *name) {
    _cleanup_(freep) char *scope = xasprintf("repository:%s:pull", name);
    struct text url = {0};

    text_add(&url, c->realm);
    if (c->service)
        add_parameter(&url, "service", c->service);
    add_parameter(&url, "scope", c->scope ? c->scope : scope);
    return text_take(&url);
}

/* RFC 6750, 2.1: what may stand in a header. */
static bool is_token(const char *token) {
    size_t len = token ? strlen(token) : 0;

    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)token[i]) && !strchr("-._~+/=", token[i]))
            return false;
    return len && len <= TOKEN_MAX;
}

static int take_answer(const struct http_response *answer, char **ret, struct error *err) {
    _cleanup_json_ json_t *json = NULL;
    const char *token;

    if (answer->status == 401 || answer->status == 403)
        return error_set(err, ERROR_DENIED,
                         "the server answers %ld: it gives no token without credentials, and "
                         "winjoin sends none",
                         answer->status);
    if (answer->status != 200)
        return error_set(err, ERROR_NETWORK, "the server answers %ld", answer->status);
    if (json_read(answer->body, answer->body_len, "token", &json, err) < 0)
        return -1;
    token = json_text_at(json, "token");
    token = token ? token : json_text_at(json, "access_token");
    if (!is_token(token))
        return error_set(err, ERROR_MALFORMED, "the answer has no usable token");
    *ret = xstrdup(token);
    return 0;
}

static int fetch(struct http *http, const char *url, char **ret, struct error *err) {
    const struct http_request request = {
        .url = url, .timeout_ms = TIMEOUT_MS, .max_body = ANSWER_MAX};
    _cleanup_(freep) char *shown = http_shown_url(url);
    _cleanup_(http_response_free) struct http_response answer = {0};

    if (http_perform(http, &request, &answer, err) < 0)
        return -1;
    return take_answer(&answer, ret, err) < 0 ? error_prefix(err, "get a token from '%s'", shown)
                                              : 0;
}

int registry_token_fetch(struct http *http, const char *challenge, const char *name, char **ret,
                         struct error *err) {
    _cleanup_(registry_challenge_free) struct registry_challenge c = {0};
    _cleanup_(freep) char *url = NULL;

    if (!registry_challenge_read(challenge, &c))
        return error_set(err, ERROR_DENIED,
                         "the registry requires credentials, and winjoin sends none");
    if (check_realm(c.realm, err) < 0)
        return -1;
    url = token_url(&c, name);
    return fetch(http, url, ret, err);
}
