/* What bears winjoin's mark and is not in the journal: a restored snapshot or a fault of the disk
 * takes the journal's last lines away, and a reset would leave the rest behind without telling. */
#pragma once

#include "join/undo/journal.h"

/* A thing that was found: its kind and name. */
typedef void marks_told(void *context, enum journal_kind kind, const char *target);

/* Looks for services whose description says that winjoin made them, HNS networks with winjoin as
 * their owner, and firewall rules by name (`told`, in the order in which they would be undone last
 * to first). `record`: adds them to the journal as things that were not there before, so that a
 * reset undoes them. HNS that does not answer has nothing. Kinds: those of the host's calls and of
 * journal_record(). */
int marks_find(struct journal *journal, bool record, marks_told *told, void *context,
               struct error *err);
