/* The journal has the state of the host before each change; it is written first.
 *
 * The file is C:\ProgramData\winjoin\journal\journal.jsonl, one JSON object per line, the newest
 * last. Earlier contents of replaced files are in C:\ProgramData\winjoin\backup. Only the first
 * record of a thing counts and later ones do nothing, so a join that was killed and repeated still
 * knows the original state. A reset undoes the entries from the last to the first
 * (join/undo/reset.h). */
#pragma once

#include "host/host.h"
#include "netsetup/hns/hcn_network.h"
#include "services/service_table.h"

#define WINJOIN_FOLDER HOST_OWN_FOLDER
#define JOURNAL_FOLDER WINJOIN_FOLDER "\\journal"
/* The path of the journal file inside a folder such as WINJOIN_FOLDER. */
#define JOURNAL_NAME "\\journal\\journal.jsonl"
#define JOURNAL_FILE WINJOIN_FOLDER JOURNAL_NAME
/* Folder of an upgrade's own journal and backups, from which the state before it is restored. */
#define UPGRADE_FOLDER WINJOIN_FOLDER "\\upgrade"
/* File that exists when `winjoin prepare` has run (join/prepare/prepare.h). */
#define PREPARED_FILE WINJOIN_FOLDER "\\prepared.json"
/* Folder of the journal of a join on a prepared server, with which it returns to the
 * preparation. */
#define JOINING_FOLDER WINJOIN_FOLDER "\\joining"
/* A reset keeps the files that runs of winjoin leave in these folders. */
#define LOGS_FOLDER WINJOIN_FOLDER "\\logs"
#define REPORTS_FOLDER WINJOIN_FOLDER "\\reports"

/* Kind of the thing in an entry; journal_kind_names has its name in the file. "before" is the
 * entry's member. */
enum journal_kind {
    JOURNAL_FILE_ENTRY, /* A file that is written or removed; before: absent, or a backup */
    /* A folder whose content belongs to the node. If it was absent, a reset removes it with its
     * content; otherwise it gets its earlier access rights again. */
    JOURNAL_FOLDER_ENTRY,
    JOURNAL_SERVICE, /* A service of the SCM; before: absent, or configuration and state */
    JOURNAL_NETWORK, /* An HNS network of winjoin, by name */
    /* The base network and the adapter under it; before: the adapter's snapshot. */
    JOURNAL_SWITCH,
    JOURNAL_ROUTE,        /* A route that winjoin added */
    JOURNAL_FIREWALL,     /* An inbound firewall rule of winjoin, by name */
    JOURNAL_SOURCE_VIP,   /* The reservation in host-local's store, by network name */
    JOURNAL_EVENT_SOURCE, /* The source of event texts; before: its file, or none */
    /* A value under HKLM, "KEY\VALUE"; before: {"data"} (a number or a text), or absent. */
    JOURNAL_REGISTRY,
    JOURNAL_PATH, /* A folder that was added to the machine's Path */
    /* Forwarding of the interface with this address, in the address' family; before: on or off. */
    JOURNAL_FORWARDING,
    JOURNAL_KIND_COUNT
};
extern const char *const journal_kind_names[JOURNAL_KIND_COUNT];

struct journal_entry {
    enum journal_kind kind;
    char *target; /* Path, service name, network name, ... */
    char *phase;  /* Id of the phase that recorded it */
    /* State before: an object whose members depend on the kind. "absent" says that the thing did
     * not exist. In an empty object the state is unknown, so nothing is undone. */
    json_t *before;
    char *line; /* The whole line in the file */
};
struct journal {
    struct host *host;  /* Host of the journal; borrowed */
    const char *folder; /* Folder of the journal and its backups; borrowed */
    /* A second journal that also records each thing if it does not have it; borrowed, or NULL. */
    struct journal *also;
    bool prepared; /* `also` is the journal in JOINING_FOLDER */
    struct journal_entry *entries;
    size_t count;
    const char *phase;       /* Phase of the next entries; borrowed */
    bool has_folder;         /* This run has made the folder with its access rights */
    bool held;               /* Entries wait for journal_write_down() */
    size_t saved;            /* Number of entries on disk */
    struct text_list closed; /* Folders whose access this run has restricted; not repeated */
    json_t *written;         /* Content of WRITTEN_FILE; NULL until it is read */
    bool written_changed;
};

/* Opens the journal in this folder (WINJOIN_FOLDER, UPGRADE_FOLDER, JOINING_FOLDER; borrowed). An
 * absent journal is empty. A last line that was cut by a crash is dropped. Fails with
 * ERROR_MALFORMED for any other line that does not parse, or a first line of another version. Fails
 * with ERROR_DENIED if an ordinary user made the journal's folder or file, because that user could
 * make winjoin undo anything. The caller frees with journal_close(). */
int journal_open(struct host *host, const char *folder, struct journal *ret, struct error *err);
void journal_close(struct journal *journal);
/* Begins or continues the journal in JOINING_FOLDER and sets it as `journal->also` (ret, which the
 * caller closes). Its first entries are the file of the main journal and winjoin's folder. */
int journal_open_joining(struct journal *journal, struct journal *ret, struct error *err);
/* Returns the first entry of this kind for this thing (upper or lower case), or for any thing if
 * `target` is NULL. Borrowed until the next entry is recorded. NULL when no entry is one. */
const struct journal_entry *journal_find(const struct journal *journal, enum journal_kind kind,
                                         const char *target);
/* Records a thing and its state before (a reference that is taken over; NULL means that it did not
 * exist). The entry is on disk when this returns. Does nothing when the thing is recorded
 * already. */
int journal_record(struct journal *journal, enum journal_kind kind, const char *target,
                   json_t *before, struct error *err);
/* Writes entries to disk that were recorded together before the first of the things is changed:
 * while journal->held is set, they are not written one by one. Must be called afterwards even when
 * recording one of them failed. When it fails itself, all of them count as not recorded. */
int journal_write_down(struct journal *journal, struct error *err);
/* Removes the last entry, also on disk, after it was undone. */
int journal_pop(struct journal *journal, struct error *err);

/* Records the current state of a file. Its content is copied to the backup folder (ERROR_MALFORMED
 * above 512 MiB). */
int journal_file(struct journal *journal, const char *path, struct error *err);
/* Records a folder that the node will fill, makes it and restricts its access (node/folders.h),
 * also that of each folder above it that is in that table. Absent parents are recorded, too; a
 * reset removes them if they are empty. Fails as node_folder_close(). */
int journal_own_folder(struct journal *journal, const char *path, struct error *err);
int journal_own_folders(struct journal *journal, const char *const *paths, size_t count,
                        struct error *err);
/* Queries a service and records it. If the service is recorded as absent before, but now exists
 * without winjoin's mark, a killed run had created it; then it is deleted. Windows may finish
 * creating a service after the run that asked for it has ended. */
int journal_service(struct journal *journal, const char *name, struct error *err);
/* Returns what the journal records about an existing service, except whether it runs. New
 * reference. */
json_t *journal_service_json(const struct host_service *service);
/* Is the thing recorded as one that did not exist before? */
bool journal_has_absent(const struct journal *journal, enum journal_kind kind, const char *target);
/* Records a file, then writes it if its content differs. */
int journal_write(struct journal *journal, const char *path, const void *data, size_t len,
                  enum host_access access, struct error *err);

/* ---- things with winjoin's mark that are not in the journal ---- */

/* Called with the kind and name of a thing that was found. */
typedef void unrecorded_found(void *context, enum journal_kind kind, const char *target);

/* Looks for services whose description says that winjoin made them, HNS networks with winjoin as
 * their owner, and firewall rules by name. Calls `found` for each; a reset would undo them in
 * reverse order. `record`: adds them to the journal as things that did not exist before, so that a
 * reset undoes them. When HNS does not answer, it counts as empty. Error kinds: those of the host's
 * calls and of journal_record(). */
int unrecorded_find(struct journal *journal, bool record, unrecorded_found *found, void *context,
                    struct error *err);

/* ---- undoing one entry of the journal ---- */

enum { UNDO_STOP_MS = 60000 }; /* Time limit for stopping or starting a service */

struct undone {
    const char *how; /* In a word or two, such as "removed"; borrowed */
    enum {
        UNDONE_REMOVED,  /* The thing did not exist before, and is gone */
        UNDONE_RESTORED, /* The thing is as it was before */
        UNDONE_KEPT,     /* The thing is left: it may not be winjoin's */
    } as;
};
/* Restores the thing in the entry to its state before the join; *ret says what was done. A thing
 * that is gone already counts as removed. Fails as the host's calls do, and with ERROR_MALFORMED
 * when the entry is damaged. */
int undo_entry(struct host *host, const struct journal_entry *entry, struct undone *ret,
               struct error *err);

/* ---- notes of what was written on the node, so that `winjoin status` can find later changes ----
 *
 * The file is C:\ProgramData\winjoin\journal\written.json: {KIND: {TARGET: {"phase", and the
 * state}}}, with the journal's kinds. The state of a file is its SHA-256, of a program also its
 * source, of a service what the SCM was told, of a network what HNS says about it; a firewall rule
 * has only its name. Without this file nothing is compared. "options" are those of the last run, by
 * name, with which `join phase` and upgrade write; "completedOptions" those of the last join that
 * was completed (join/found/options.c). */

#define WRITTEN_FILE JOURNAL_FOLDER "\\written.json"

/* Notes in memory what the journal's phase has written, and in which state: `as_written`, an object
 * of which it takes ownership. For a program this is {"sha256", "source"?}, with the digest in
 * lower-case hex and the flags that name its source again; for a firewall rule {}. During an
 * upgrade, the phase of the join stays noted, because `winjoin join phase` does not know the phases
 * of an upgrade. */
void written_note(struct journal *journal, enum journal_kind kind, const char *target,
                  json_t *as_written);
/* Calls written_note() for a file with this content. */
void written_file(struct journal *journal, const char *path, const void *data, size_t len);
/* Calls written_note() for a network as HNS describes it. */
void written_network(struct journal *journal, const struct hcn_network *network);
/* Notes a service as the SCM has it now, and what its host starts (its settings file). Fails as
 * host_service_query() and host_read(). */
int written_service(struct journal *journal, const struct service *service, struct error *err);
/* Notes the options of the join in memory; `options` is borrowed. */
void written_options(struct journal *journal, const json_t *options);
/* Notes in memory that the noted options are now those of a completed join. */
void written_options_completed(struct journal *journal);
/* Reads the noted options from the file: those of the last run, which may have failed, and those of
 * the last join that was completed. Each is a new reference, NULL when nothing was noted. Fails as
 * host_read_json(), but succeeds when the file is absent. */
int written_options_read(struct host *host, json_t **ret_last, json_t **ret_completed,
                         struct error *err);
/* Has a noted file changed, or is it missing? */
bool written_file_differs(struct journal *journal, const char *path);
/* Writes the notes to the file if they have changed. Fails as host_write(). */
int written_save(struct journal *journal, struct error *err);

/* Compares the node with the notes: [{kind: "file"|"service"|"network"|"firewall", target,
 * difference, missing, command}] for each difference, with the command that repairs it; "missing"
 * says that the thing does not exist. Returns NULL when nothing was noted. `networks` says that HNS
 * can be asked. Things that cannot be read are not compared. New reference. */
json_t *written_compare(struct host *host, bool networks);
