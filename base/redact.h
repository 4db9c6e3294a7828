/* Texts for people must not show bootstrap tokens, wherever the words came from. */
#ifndef BASE_REDACT_H
#define BASE_REDACT_H

/* Overwrites the secret half of each word that looks like a bootstrap token (six and sixteen of
 * [a-z0-9] with a dot between, nothing of the kind around) with '*', in place. */
void redact_tokens(char *text);

#endif
