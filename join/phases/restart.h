/* A join that goes on by itself after a restart of Windows (--restart).
 *
 * A service that starts with Windows needs nobody who logs on; the service host starts the same
 * join with its settings (services/service_host.h), in a file that only SYSTEM and Administrators
 * read: there the token is, and nowhere else. */
#pragma once

#include "join/join.h"
#include "services/service_host.h"

#define RESTART_SERVICE "winjoin-join"

/* What continues: the words behind the program, and secrets as NAME=value. */
struct restart_words {
    struct text_list arguments;
    struct text_list environment;
};
void restart_words_free(struct restart_words *words);

/* Copies winjoin.exe to its place, registers the service and restarts Windows, all recorded in the
 * journal first. Kinds: those of the host. */
int restart_begin(struct join *join, const struct restart_words *words, struct error *err);
/* It is done: removes the settings, with them the secrets, and the service. Absent is success. */
int restart_end(struct host *host, struct error *err);
/* It is registered and does not run: whoever asks is not what it started. */
bool restart_is_left(struct host *host);
/* It runs: whoever asks is the join that it started. */
bool restart_continues(struct host *host);
/* The join that it started with these settings has had them written again, for another restart. */
bool restart_is_next(struct host *host, const struct service_host_settings *started);
