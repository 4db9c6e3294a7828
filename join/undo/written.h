/* What was written on the node, so that `winjoin status` can tell what has changed since.
 *
 * C:\ProgramData\winjoin\journal\written.json, {KIND: {TARGET: {"phase", and what it was}}}, by the
 * kinds of the journal beside it: of a file its SHA-256, of a program its source, too, of a service
 * what the SCM was told, of a network what HNS says of it, of a firewall rule its name alone.
 * Where it is absent there is nothing to compare with. */
#pragma once

#include "join/undo/journal.h"
#include "netsetup/hns/hcn_lookup.h"
#include "services/service_table.h"

#define WRITTEN_FILE JOURNAL_FOLDER "\\written.json"

/* Each notes a thing that the journal's phase has written, in memory. An upgrade's phases, which
 * `winjoin join phase` does not know, leave the join's phase beside it. */
void written_file(struct journal *journal, const char *path, const void *data, size_t len);
/* A program, by its digest (lower-case hex), and the flags that name its source again. */
void written_program(struct journal *journal, const char *path, const char *sha256,
                     const char *source);
void written_firewall(struct journal *journal, const char *rule);
/* As HNS tells it. */
void written_network(struct journal *journal, const struct hcn_network *network);
/* As the SCM has it now, and what its host starts (its settings file). Kinds: those of
 * host_service_query() and host_read(). */
int written_service(struct journal *journal, const struct service *service, struct error *err);
/* true when a file is not as it was noted. */
bool written_file_differs(struct journal *journal, const char *path);
/* Writes the file where a note has changed it. Kinds: those of host_write(). */
int written_save(struct journal *journal, struct error *err);

/* What differs now: [{kind: "file"|"service"|"network"|"firewall", target, difference, missing,
 * command}], each with the one command that repairs it; "missing": it is not there at all. NULL:
 * nothing was noted. `networks`: HNS can be asked. What cannot be read is not judged. New
 * reference. */
json_t *written_compare(struct host *host, bool networks);
