/* Texts for people must not show bootstrap tokens, wherever the words came from. */
#pragma once

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
 * like as a part (JSON, YAML, TOML, XML, environments, command lines; base/redact_rules.h). The
 * length stays; a JSON document stays one. */
void redact_secrets(char *text);
