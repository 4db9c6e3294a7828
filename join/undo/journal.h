/* The journal: what stood on the host before each change, written down before the change is made.
 *
 * C:\ProgramData\winjoin\journal\journal.jsonl, one JSON object a line, the newest last; earlier
 * contents of replaced files lie in C:\ProgramData\winjoin\backup. Only the first look at a thing
 * counts: recording it again is a no-op, so a join that was killed and run again still knows the
 * host as it was found. reset plays it backwards (join/undo/reset.h). */
#pragma once

#include "host/host.h"
#include "netsetup/hns/hcn_network.h"
#include "services/service_table.h"

#define WINJOIN_FOLDER HOST_OWN_FOLDER
#define JOURNAL_FOLDER WINJOIN_FOLDER "\\journal"
#define JOURNAL_NAME "\\journal\\journal.jsonl" /* behind a journal's folder */
#define JOURNAL_FILE WINJOIN_FOLDER JOURNAL_NAME
/* An upgrade's own journal, which goes back to what stood before the upgrade, with its backups. */
#define UPGRADE_FOLDER WINJOIN_FOLDER "\\upgrade"
/* There where `winjoin prepare` has run (join/prepare/prepare.h). */
#define PREPARED_FILE WINJOIN_FOLDER "\\prepared.json"
/* The journal of a join on a prepared server, which goes back to the preparation. */
#define JOINING_FOLDER WINJOIN_FOLDER "\\joining"
/* What winjoin's runs leave there is kept by a reset. */
#define LOGS_FOLDER WINJOIN_FOLDER "\\logs"
#define REPORTS_FOLDER WINJOIN_FOLDER "\\reports"

/* What a line speaks of; its name in the file is in journal_kind_names. */
enum journal_kind {
    JOURNAL_FILE_ENTRY,   /* a file that is written or removed; before: absent, or a backup */
    JOURNAL_FOLDER_ENTRY, /* a folder whose content belongs to the node: removed whole if it was
                             absent; else gets the access back that it had */
    JOURNAL_SERVICE,      /* a service of the SCM; before: absent, or its configuration and state */
    JOURNAL_NETWORK,      /* an HNS network of ours, by name */
    JOURNAL_SWITCH, /* the base network and the adapter under it; before: the adapter's snapshot */
    JOURNAL_ROUTE,  /* a route of ours */
    JOURNAL_FIREWALL,     /* an inbound rule of ours, by name */
    JOURNAL_SOURCE_VIP,   /* the reservation in host-local's store, by network name */
    JOURNAL_EVENT_SOURCE, /* the event log's source; before: the file of its texts, or none */
    JOURNAL_REGISTRY,     /* a value under HKLM, "KEY\VALUE"; before: {"data"} (a number or a text),
                             or absent */
    JOURNAL_PATH,         /* a folder that is added to the machine's Path */
    JOURNAL_FORWARDING,   /* of the interface with this address, in its family; before: on or off */
    JOURNAL_KIND_COUNT
};
extern const char *const journal_kind_names[JOURNAL_KIND_COUNT];

struct journal_entry {
    enum journal_kind kind;
    char *target; /* path, service name, network name, ... */
    char *phase;  /* id of the phase that recorded it */
    /* object; what is in it depends on the kind; "absent": nothing stood there; empty: unknown,
     * so that nothing is undone */
    json_t *before;
    char *line; /* all of it as it is in the file */
};
struct journal {
    struct host *host;    /* borrowed */
    const char *folder;   /* that it and its backups lie in; borrowed */
    struct journal *also; /* records the same things, by its own first look; borrowed, or NULL */
    bool prepared;        /* `also` is JOINING_FOLDER's */
    struct journal_entry *entries;
    size_t count;
    const char *phase;       /* recorded with the next entries; borrowed */
    bool has_folder;         /* with its rights, by this run */
    bool held;               /* what is recorded waits for journal_write_down() */
    size_t saved;            /* entries that are on disk */
    struct text_list closed; /* folders, by this run: they stay so */
    json_t *written;         /* what was written (join/undo/journal.h); NULL: not read yet */
    bool written_changed;
};

/* Reads the journal in this folder (WINJOIN_FOLDER, UPGRADE_FOLDER, JOINING_FOLDER; borrowed). One
 * that is absent is empty. A last line that was cut by a crash is dropped; any other line that does
 * not parse, or another version's first line, is ERROR_MALFORMED. A folder or file of the journal
 * that an ordinary user made is ERROR_DENIED: such a user could have it undo anything.
 * journal_close(). */
int journal_open(struct host *host, const char *folder, struct journal *ret, struct error *err);
void journal_close(struct journal *journal);
/* Begins JOINING_FOLDER's, or goes on with it, as `journal->also` (ret, which the caller closes):
 * its first entries are the journal itself and winjoin's folder. */
int journal_open_joining(struct journal *journal, struct journal *ret, struct error *err);
/* The first entry of this kind for this thing, in any case of letters, or (target NULL) for any
 * thing. Borrowed, until the next entry is recorded; NULL: nothing is recorded. */
const struct journal_entry *journal_find(const struct journal *journal, enum journal_kind kind,
                                         const char *target);
/* Records a thing and what stood before (new reference is taken over, NULL: nothing did); written
 * to disk before it returns. Recorded already: nothing happens. */
int journal_record(struct journal *journal, enum journal_kind kind, const char *target,
                   json_t *before, struct error *err);
/* For things that are recorded together before the first of them is changed: with journal->held set
 * they are not written to disk one by one, but all at once, by this, which must follow, also when
 * one of them failed. When it fails itself, all of them count as not recorded. */
int journal_write_down(struct journal *journal, struct error *err);
/* Takes the last entry off, on disk too: it has been undone. */
int journal_pop(struct journal *journal, struct error *err);

/* Looks at the thing as it is now and records that. A file's content goes to the backup folder (at
 * most 64 MiB, else ERROR_HOST). */
int journal_file(struct journal *journal, const char *path, struct error *err);
/* A folder that the node will fill, with its absent parents, which go when they are empty:
 * recorded, then made and closed (node/folders.h), each row above it, too. Kinds: those of
 * node_folder_close(). */
int journal_own_folder(struct journal *journal, const char *path, struct error *err);
int journal_own_folders(struct journal *journal, const char *const *paths, size_t count,
                        struct error *err);
/* Looks at a service and records it. Where it is recorded already as absent before, and a killed
 * run had created and not marked it yet, it is deleted: nobody's mark is on it. Its making may end
 * after the run that asked for it. */
int journal_service(struct journal *journal, const char *name, struct error *err);
/* What is recorded of a service that is there, but for whether it runs. New reference. */
json_t *journal_service_json(const struct host_service *service);
/* Is the thing recorded, and as one that was not there before? */
bool journal_has_absent(const struct journal *journal, enum journal_kind kind, const char *target);
/* Writes a file: journal_file, then host_write when the content differs. */
int journal_write(struct journal *journal, const char *path, const void *data, size_t len,
                  enum host_access access, struct error *err);

/* ---- what bears winjoin's mark and is not in the journal ---- */

/* A thing that was found: its kind and name. */
typedef void marks_told(void *context, enum journal_kind kind, const char *target);

/* Looks for services whose description says that winjoin made them, HNS networks with winjoin as
 * their owner, and firewall rules by name (`told`, in the order in which they would be undone last
 * to first). `record`: adds them to the journal as things that were not there before, so that a
 * reset undoes them. HNS that does not answer has nothing. Kinds: those of the host's calls and of
 * journal_record(). */
int marks_find(struct journal *journal, bool record, marks_told *told, void *context,
               struct error *err);

/* ---- one entry of the journal undone ---- */

enum { UNDO_STOP_MS = 60000 }; /* of a service */

/* Makes what the entry names as it was before the join; what is gone already is undone. *ret_how
 * says in a word or two what was done: "removed"; borrowed. Fails as the host's calls do, and with
 * ERROR_MALFORMED where the entry is damaged. */
int undo_entry(struct host *host, const struct journal_entry *entry, const char **ret_how,
               struct error *err);

/* What was written on the node, so that `winjoin status` can tell what has changed since.
 *
 * C:\ProgramData\winjoin\journal\written.json, {KIND: {TARGET: {"phase", and what it was}}}, by the
 * kinds of the journal beside it: of a file its SHA-256, of a program its source, too, of a service
 * what the SCM was told, of a network what HNS says of it, of a firewall rule its name alone.
 * Where it is absent there is nothing to compare with. */

#define WRITTEN_FILE JOURNAL_FOLDER "\\written.json"

/* Notes in memory that the journal's phase has written a thing, and as what: an object that is
 * taken over. Of a program that is {"sha256", "source"?}, in lower-case hex, and the flags that
 * name its source again; of a firewall rule {}. An upgrade's phases, which `winjoin join phase`
 * does not know, leave the join's phase beside it. */
void written_note(struct journal *journal, enum journal_kind kind, const char *target,
                  json_t *as_written);
/* The same of a file with this content. */
void written_file(struct journal *journal, const char *path, const void *data, size_t len);
/* The same of a network, as HNS tells it. */
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
