/* Which flags a program knows, by itself. */
#pragma once

#include "host/host.h"

/* The names in a help text as Kubernetes' programs print it (spf13/pflag: a line for each flag,
 * "      --node-ip string   ..." or "  -v, --v Level   ..."), without dashes. *ret gets none when
 * the text is something else. */
void program_flags_parse(const char *help, struct text_list *ret);
/* Runs a program that looks at its arguments and ends, at most 20 s; `argv` ends with NULL. As an
 * administrator: so never what somebody else has put there, nor what has such a thing beside it,
 * which it might load. Kinds: those of host_run(), ERROR_DENIED (host/host.h). */
int program_ask(struct host *host, const char *const *argv, int *ret_code, char **ret,
                struct error *err);
/* Asks the program. Lines of at most 1 MiB, 20 s. 0 with an empty list when it printed no such
 * text. Kinds: those of program_ask(). */
int program_flags_read(struct host *host, const char *program, struct text_list *ret,
                       struct error *err);
/* Whether the program takes these arguments ("--name=value"), by running it with them and --help
 * behind: Kubernetes' programs refuse what they cannot parse before they print the help. */
int program_takes(struct host *host, const char *program, const struct text_list *arguments,
                  bool *ret, struct error *err);
