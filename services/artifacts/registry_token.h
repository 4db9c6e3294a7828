/* Anonymous tokens of container registries: what a registry that answers 401 asks for, and the
 * token got for it (Docker Registry v2, "Token Authentication Specification"; RFC 6750). No
 * credentials are sent to get one. */
#pragma once

#include "host/http.h"

/* Text is owned; NULL = not said. registry_challenge_free(). */
struct registry_challenge {
    char *realm, *service, *scope;
};
/* The first "Bearer" of WWW-Authenticate (RFC 9110, 11.6.1) that has a realm; false without one.
 * Pure. */
bool registry_challenge_read(const char *text, struct registry_challenge *ret);
void registry_challenge_free(struct registry_challenge *challenge);

/* A token to read the repository `name` ("pause"), from where `challenge`, a WWW-Authenticate,
 * says: by https alone, without following redirects. The caller frees *ret, a secret. Kinds:
 * ERROR_DENIED (no Bearer is asked for, or none is given without credentials), ERROR_UNTRUSTED (an
 * address that is not https, or has a user), ERROR_MALFORMED (no token in the answer, or one of
 * more than 16 KiB), those of http_perform(). */
int registry_token_fetch(struct http *http, const char *challenge, const char *name, char **ret,
                         struct error *err);
