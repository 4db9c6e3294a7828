/* Texts for people must not show bootstrap tokens, wherever the words came from. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Overwrites the secret half of whatever looks like a bootstrap token (six of [a-z0-9], a dot and
 * sixteen, also with more of them glued to either end) with '*', in place. After the id of a token
 * that redact_learn() has seen, fewer than sixteen count too. */
void redact_tokens(char *text);
/* Keeps the ids (not the secrets) of the tokens in a text, the first 16 of all texts: one that is
 * shown later may be cut in the middle of a token. */
void redact_learn(const char *text);
void redact_forget(void);
/* redact_tokens(), and whatever else looks like a secret in the files and logs of a node: private
 * keys (PEM), tokens with known beginnings, passwords in URLs and connection strings, "Bearer x",
 * "Basic x", and the values of names that have "password", "token", "secret", "key", "auth" and the
 * like as a part (JSON, YAML, TOML, XML, environments, command lines; below). The
 * length stays; a JSON document stays one. */
void redact_secrets(char *text);

/* What redact_secrets() is made of: names that promise a secret, and values behind them. All work
 * in place and keep the length. */

/* A text that is looked through. Of a JSON document each string stays one. */
struct redact_text {
    char *begin;
    bool json;
};

/* Letters become '*'; ends of lines stay. */
void redact_hide(char *from, size_t len);
/* Does this name promise a secret? It does where SECRET, KEY, PASS, PWD, TOKEN, CREDENTIAL, SIG,
 * AUTH or the like is a part of it (between '_', '-', '.', or by camelCase). It does not where the
 * last part says that the value is something else: "tokenFile", "secretName", "authorization-mode".
 */
bool redact_is_secret_name(const char *name, size_t len);
/* Does the name end in this word (lower case), in any case? */
bool redact_ends_in(const char *name, size_t len, const char *word);
/* Hides what such a name (`end`: behind it) is given: "name: x", "name=x", "--name x", the x of
 * {"name": "name", "value": "x"}, <name>x</name>, lists and blocks of YAML. */
void redact_value(const struct redact_text *text, char *name, char *end);
