/* Finds out which flags a program has by asking the program. */
#pragma once

#include "host/host.h"

/* Reads the flag names, without dashes, from a help text of Kubernetes' programs (spf13/pflag: a
 * line for each flag, "      --node-ip string   ..." or "  -v, --v Level   ..."). *ret gets none
 * when the text is something else. */
void program_flags_parse(const char *help, struct text_list *ret);
/* Runs a program that prints something and ends, for at most 20 s; `argv` ends with NULL. It runs
 * with an administrator's rights, so ERROR_DENIED refuses a program in whose folder an untrusted
 * user may have put a file, the program itself or one that it could load (host/host.h). Otherwise
 * fails as host_run(). */
int program_ask(struct host *host, const char *const *argv, int *ret_code, char **ret,
                struct error *err);
/* Runs `program --help` and reads the flag names; at most 1 MiB and 20 s. Returns 0 with an empty
 * list when it printed no such text. Fails as program_ask(). */
int program_flags_read(struct host *host, const char *program, struct text_list *ret,
                       struct error *err);
/* Does the program accept these arguments ("--name=value")? It is run with them and --help:
 * Kubernetes' programs refuse arguments that they cannot parse before they print the help. */
int program_takes(struct host *host, const char *program, const struct text_list *arguments,
                  bool *ret, struct error *err);
