/* Bootstrap tokens: "abcdef.0123456789abcdef", an id that is not a secret and a secret that is. */
#include "pki/token.h"

#include <string.h>

#include "base/log.h"

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";

static bool is_run(const char *s, size_t len) {
    return strspn(s, alphabet) >= len;
}

/* Says what is wrong without showing the text: it may be a token with one slip. */
static int refuse(const char *text, struct error *err) {
    const char *dot = strchr(text, '.');
    const char *form = "it must be 6 characters, a dot and 16 characters of [a-z0-9]";

    if (!*text)
        return error_set(err, ERROR_USAGE, "check the bootstrap token: it is empty; %s", form);
    if (strpbrk(text, " \t\r\n"))
        return error_set(err, ERROR_USAGE, "check the bootstrap token: it contains a space; %s",
                         form);
    if (strpbrk(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        return error_set(err, ERROR_USAGE,
                         "check the bootstrap token: it contains upper-case letters; %s", form);
    if (!dot)
        return error_set(err, ERROR_USAGE, "check the bootstrap token: it has no dot; %s", form);
    if (dot - text != TOKEN_ID_LEN || strlen(dot + 1) != TOKEN_SECRET_LEN)
        return error_set(
            err, ERROR_USAGE,
            "check the bootstrap token: it has %zu and %zu characters around the dot; %s",
            (size_t)(dot - text), strlen(dot + 1), form);
    return error_set(err, ERROR_USAGE,
                     "check the bootstrap token: it contains a character that is not allowed; %s",
                     form);
}

int token_parse(const char *text, struct token *ret, struct error *err) {
    if (strlen(text) != TOKEN_TEXT_LEN || !is_run(text, TOKEN_ID_LEN) ||
        text[TOKEN_ID_LEN] != '.' || !is_run(text + TOKEN_ID_LEN + 1, TOKEN_SECRET_LEN))
        return refuse(text, err);
    memcpy(ret->id, text, TOKEN_ID_LEN);
    ret->id[TOKEN_ID_LEN] = '\0';
    memcpy(ret->secret, text + TOKEN_ID_LEN + 1, TOKEN_SECRET_LEN + 1);
    log_hide_secret(ret->secret);
    return 0;
}

void token_clear(struct token *token) {
    volatile char *p = (volatile char *)token;

    for (size_t i = 0; i < sizeof *token; i++)
        p[i] = 0;
}

bool token_id_is_valid(const char *id) {
    return strlen(id) == TOKEN_ID_LEN && is_run(id, TOKEN_ID_LEN);
}
