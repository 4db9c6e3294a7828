/* Fetches anonymous tokens of registries. The only thing trusted in a registry's answer is the
 * https address of its tokens, and a token is sent only to that registry. */
#include "services/artifacts/image.h"

#include <ctype.h>

#include "base/json.h"

enum { REALM_MAX = 2048, ANSWER_MAX = 64 * 1024, TOKEN_MAX = 16 * 1024, TIMEOUT_MS = 30000 };

void registry_challenge_free(struct registry_challenge *challenge) {
    free_all(challenge->realm, challenge->service, challenge->scope);
    *challenge = (struct registry_challenge){0};
}

/* ---- the challenge ---- */

/* Takes a token as in RFC 9110, 5.6.2. */
static char *take_token(const char **at) {
    const char *begin = *at;

    while (isalnum((unsigned char)**at) || (**at && strchr("!#$%&'*+-.^_`|~", **at)))
        ++*at;
    return xstrndup(begin, (size_t)(*at - begin));
}

/* Takes a quoted string or a token; NULL when the quotes have no end. */
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

bool registry_challenge_read(const char *text, struct registry_challenge *ret) {
    struct registry_challenge found = {0};
    const char *at = text + strspn(text, " \t,");
    bool bearer = false;

    while (*at) {
        _cleanup_(freep) char *name = take_token(&at);
        const char *after = at + strspn(at, " \t");

        if (*name && *after == '=') {
            char *value, **where;

            at = after + 1 + strspn(after + 1, " \t");
            value = take_value(&at);
            if (!value)
                break;
            /* The first value of each name in a challenge counts. */
            where = text_equal_nocase(name, "realm")     ? &found.realm
                    : text_equal_nocase(name, "service") ? &found.service
                    : text_equal_nocase(name, "scope")   ? &found.scope
                                                         : NULL;
            if (bearer && where && !*where)
                *where = take_ptr(value);
            free(value);
        } else if (*name) {
            if (found.realm) /* The next scheme of the challenge begins here. */
                break;
            registry_challenge_free(&found);
            bearer = text_equal_nocase(name, "Bearer");
        } else if (*at == '"') {
            break; /* A quoted text without a name is not valid. */
        } else {
            at++;
        }
        at += strspn(at, " \t,");
    }
    if (!found.realm)
        registry_challenge_free(&found);
    else
        *ret = found;
    return found.realm != NULL;
}

/* ---- fetching the token ---- */

static int take_answer(const struct http_response *answer, char **ret, struct error *err) {
    _cleanup_json_ json_t *json = NULL;
    const char *token;
    size_t len = 0;

    if (answer->status == 401 || answer->status == 403)
        return error_set(err, ERROR_DENIED,
                         "the server answers %ld: it gives no token without credentials, and "
                         "winjoin sends none",
                         answer->status);
    if (answer->status != 200)
        return error_set(err, ERROR_NETWORK, "the server answers %ld", answer->status);
    if (json_read(answer->body, answer->body_len, "token", &json, err) < 0)
        return -1;
    token = json_text_or(json, "token", json_text_or(json, "access_token", ""));
    while (isalnum((unsigned char)token[len]) ||
           /* Characters of a token by RFC 6750, 2.1. */
           (token[len] && strchr("-._~+/=", token[len])))
        len++;
    if (!len || token[len] || len > TOKEN_MAX)
        return error_set(err, ERROR_MALFORMED, "the answer has no usable token");
    *ret = xstrdup(token);
    return 0;
}

int registry_token_fetch(struct http *http, const char *challenge, const char *name, char **ret,
                         struct error *err) {
    static const char https[] = "https://";
    _cleanup_(registry_challenge_free) struct registry_challenge c = {0};
    _cleanup_(freep) char *scope = xasprintf("repository:%s:pull", name);
    _cleanup_(freep) char *realm = NULL, *shown = NULL;
    _cleanup_(http_response_free) struct http_response answer = {0};
    _cleanup_(text_free) struct text url = {0};
    struct http_request request = {.timeout_ms = TIMEOUT_MS, .max_body = ANSWER_MAX};
    const char *host;

    if (!registry_challenge_read(challenge, &c))
        return error_set(err, ERROR_DENIED,
                         "the registry requires credentials, and winjoin sends none");
    realm = http_shown_url(c.realm);
    if (!text_starts_with(c.realm, https))
        return error_set(err, ERROR_UNTRUSTED,
                         "the registry wants a token that is not got by https: '%.200s'", realm);
    for (const char *p = c.realm; *p; p++)
        if (*p <= ' ' || *p > '~' || strchr("\"<>\\^`{|}#", *p) || p - c.realm > REALM_MAX)
            return error_set(err, ERROR_UNTRUSTED,
                             "the address of the registry's tokens is no URL");
    host = c.realm + strlen(https);
    if (!strcspn(host, "/?") || memchr(host, '@', strcspn(host, "/?")))
        return error_set(err, ERROR_UNTRUSTED,
                         "the address of the registry's tokens has no host, or a user");

    text_addf(&url, "%s%c", c.realm, strchr(c.realm, '?') ? '&' : '?');
    if (c.service) {
        text_add(&url, "service=");
        text_add_url(&url, c.service, "/:,");
        text_add_char(&url, '&');
    }
    text_add(&url, "scope=");
    text_add_url(&url, c.scope ? c.scope : scope, "/:,");
    request.url = text_str(&url);
    shown = http_shown_url(request.url);
    if (http_perform(http, &request, &answer, err) < 0)
        return -1;
    return take_answer(&answer, ret, err) < 0 ? error_prefix(err, "get a token from '%s'", shown)
                                              : 0;
}
