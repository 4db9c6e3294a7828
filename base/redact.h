/* Hides bootstrap tokens and other secrets in texts that are shown to people. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Overwrites the secret of each bootstrap token in a text with '*', in place. A token is six
 * characters of [a-z0-9], a dot and sixteen more; further such characters may adjoin it. After the
 * id of a token that redact_learn() has seen, fewer than sixteen characters are hidden too. */
void redact_tokens(char *text);
/* Remembers the ids, not the secrets, of the tokens in a text, 16 ids at most. redact_tokens() uses
 * them to recognize tokens that were cut in the middle. redact_forget() drops the ids. */
void redact_learn(const char *text);
void redact_forget(void);
/* Does what redact_tokens() does and hides other things that look like secrets in files and logs of
 * a node: private keys (PEM), tokens with known prefixes, passwords in URLs and connection strings,
 * "Bearer x", "Basic x", and the values of names that contain "password", "token", "secret", "key",
 * "auth" and similar words, in JSON, YAML, TOML, XML, environments and command lines. The length of
 * the text does not change, and a JSON document remains valid. */
void redact_secrets(char *text);

/* The parts of redact_secrets(): they recognize names whose values are secret, and hide these
 * values. All of them work in place and keep the length of the text. */

/* A text in which secrets are searched. `json` is true when the text is one JSON document; then
 * each of its strings must keep its end. */
struct redact_text {
    char *begin;
    bool json;
};

/* Overwrites characters with '*' but keeps line ends. */
void redact_hide(char *from, size_t len);
/* Does this name belong to a secret value? Yes when one of its parts (between '_', '-', '.', or by
 * camelCase) is SECRET, KEY, PASS, PWD, TOKEN, CREDENTIAL, SIG, AUTH or similar. No when the last
 * part says that the value is something else: "tokenFile", "secretName", "authorization-mode". */
bool redact_is_secret_name(const char *name, size_t len);
/* Does the name end in this lower-case word? The name's letter case does not matter. */
bool redact_ends_in(const char *name, size_t len, const char *word);
/* Hides the value of a secret name, which ends at `end`: "name: x", "name=x", "--name x", the x of
 * {"name": "name", "value": "x"}, <name>x</name>, lists and blocks of YAML. */
void redact_value(const struct redact_text *text, char *name, char *end);
