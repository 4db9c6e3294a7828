/* Handles the end of a failed join. */
#include "join/undo/failure.h"

#include "join/phases/phases.h"

static void on_entry(void *context, const char *what, const char *how, const struct error *why) {
    struct join *join = context;

    if (why)
        join_warn(&join->progress, "undo %s: %s", what, why->message);
    else
        join_tell_waiting(&join->progress, 0, 0, "", "undo: %s %s", what, how);
}

static void on_begin(void *context, const char *what) {
    struct join *join = context;

    join_tell_waiting(&join->progress, 0, 0, "", "undo: %s", what);
}

/* Undoes the changes. The journal is opened again afterwards, because what could not be undone
 * stays in it. */
static void roll_back(struct join *join) {
    const struct reset_options options = {.joining = join->journal.prepared,
                                          .progress = on_entry,
                                          .begins = on_begin,
                                          .progress_context = join};
    struct error why = {0};

    join->rolled_back = true;
    journal_close(&join->journal);
    journal_close(&join->joining);
    if (reset_run(join->host, &options, &join->undone, &why) < 0 && !join->undone.failed++)
        join_warn(&join->progress, "undo: %s", why.message);
    if (journal_open(join->host, &join->journal, &why) < 0)
        join->journal = (struct journal){.host = join->host, .folder = WINJOIN_FOLDER};
}

int failure_begin(struct join *join, struct error *err) {
    if (join->was_node || join->upgrade || join->phases != join_phases ||
        host_file_type(join->host, PREPARED_FILE) == HOST_ABSENT)
        return 0;
    return journal_open_joining(&join->journal, &join->joining, err);
}

void failure_not(struct join *join) {
    if (host_file_type(join->host, JOINING_FOLDER) != HOST_ABSENT)
        (void)host_remove_tree(join->host, JOINING_FOLDER, NULL);
}

void failure_end(struct join *join, struct error *err) {
    size_t services = 0, networks = 0, count;

    host_set_deadline(join->host, 0);
    if (join->journal.count && text_equal(join->found.options.on_failure, "rollback") &&
        !join->was_node && err->kind != ERROR_INTERRUPTED && err->kind != ERROR_RESTART)
        roll_back(join);
    count = join->journal.count;
    for (size_t i = 0; i < count; i++) {
        enum journal_kind kind = join->journal.entries[i].kind;

        services += kind == JOURNAL_SERVICE;
        networks += kind == JOURNAL_NETWORK || kind == JOURNAL_SWITCH;
    }
    if (join->rolled_back && !join->undone.failed)
        (void)error_hint(err,
                         "everything was undone%s (--on-failure rollback): %zu removed, %zu "
                         "restored; a Node object that was made stays: kubectl delete node %s",
                         count ? " but the preparation" : "", join->undone.removed,
                         join->undone.restored, join->found.node_name);
    else if (join->rolled_back)
        (void)error_hint(err, "%zu change%s could not be undone: run winjoin reset",
                         join->undone.failed, PLURAL(join->undone.failed));
    else if (count)
        (void)error_hint(err,
                         "kept on this machine: %zu change%s (%zu service%s, %zu network%s); the "
                         "same command continues at %s; to undo them: winjoin reset",
                         count, PLURAL(count), services, PLURAL(services), networks,
                         PLURAL(networks),
                         join->progress.phase ? join->progress.phase->title : "the beginning");
    else if (!join->changed)
        (void)error_hint(err, "nothing on this machine was changed");
}

json_t *failure_json(const struct join *join) {
    return json_pack("{s:s, s:I, s:I, s:I}", "outcome",
                     !join->rolled_back    ? "kept"
                     : join->undone.failed ? "failed"
                                           : "done",
                     "changes", (json_int_t)join->journal.count, "restored",
                     (json_int_t)join->undone.restored, "removed",
                     (json_int_t)join->undone.removed);
}
