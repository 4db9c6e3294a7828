/* Has the phases of an upgrade, ends it, and makes its documents. */
#include "join/upgrade/upgrade.h"

#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/run.h"
#include "join/undo/reset.h"
#include "services/artifacts/artifacts.h"
#include "services/service_table.h"

/* Ends a successful upgrade: the old programs and the journal are not needed any more. Without its
 * journal an upgrade has ended; files of its folder that cannot be removed now are removed by the
 * next upgrade. */
static int finish(struct join *join, struct error *err) {
    struct upgrade *u = join->upgrade;
    _cleanup_(text_free) struct text event = {0};

    upgrade_uncordon(join);
    for (size_t i = 0; i < u->journal.count;
         /* New programs of a killed run whose targets were replaced already. */
         i++)
        if (text_ends_with(u->journal.entries[i].target, UPGRADE_BESIDE) &&
            host_remove(join->host, u->journal.entries[i].target, err) < 0)
            return -1;
    if (host_remove(join->host, UPGRADE_FOLDER JOURNAL_NAME, err) < 0)
        return -1;
    (void)host_remove_tree(join->host, UPGRADE_FOLDER, NULL);
    text_add(&event, "winjoin upgraded this node:");
    for (size_t i = 0; i < u->program_count; i++) {
        const struct upgrade_program *program = &u->programs[i];

        program_remove_old(join->host, program->target);
        text_addf(&event, "%s %s %s -> %s", i ? "," : "", program->name,
                  program->from ? program->from : "unknown", program->to ? program->to : "unknown");
    }
    if (!u->program_count)
        text_add(&event, " its configuration");
    text_add(&join->progress.detail, "the old programs are removed");
    join_tell_event(join, NODE_UPGRADED, text_str(&event));
    return 0;
}

static const struct join_phase phases[] = {
    {"discovery", "cluster", "find the cluster as this node", phase_discovery, NEED_NODE_CLIENT,
     true},
    {"configuration", "configuration", "read the cluster's ConfigMaps", phase_configuration,
     NEED_NODE_CLIENT | NEED_CLUSTER, true},
    {"compare", "compare", "find which programs, files and services differ", upgrade_compare,
     NEED_NODE_CLIENT | NEED_CLUSTER | NEED_NODE | NEED_PLAN | NEED_KUBELET_CONFIG, true},
    {"programs", "programs", "verify the new programs and write them beside the old ones",
     .run = upgrade_stage},
    {"drain", "drain", "cordon the node and evict its pods", .run = upgrade_cordon},
    {"plugins", "plugins", "replace the programs that no service runs", .run = upgrade_plugins},
    {"winjoin", "winjoin", "replace winjoin.exe, which hosts the services", .run = upgrade_winjoin},
    {"containerd", "containerd", "switch containerd", .run = upgrade_replace},
    {"kubelet", "kubelet", "switch the kubelet; wait until it is healthy", .run = upgrade_replace},
    {"flanneld", "flanneld", "switch flanneld, where it runs", .run = upgrade_replace},
    {"hybrid-overlay-node", "hybrid overlay", "switch hybrid-overlay-node, where it runs",
     .run = upgrade_replace},
    {"kube-proxy", "kube-proxy", "switch kube-proxy; wait for its Services",
     .run = upgrade_replace},
    {"ready", "node Ready", "wait until the new kubelet has reported Ready", .run = upgrade_ready},
    {"verify", "verify", "test the pod network: nine flows, TCP and UDP", .run = phase_verify},
    {"finish", "finish", "allow pods again, remove what going back would need", .run = finish},
    {0},
};

/* ---- a failed upgrade ---- */

static void on_entry(void *context, const char *what, const char *how, const struct error *why) {
    struct join *join = context;

    if (why)
        join_warn(&join->progress, "go back: %s: %s", what, why->message);
    else
        join_tell_waiting(&join->progress, 0, 0, "", "going back: %s %s", what, how);
}

/* Returns to the state before the upgrade. An interrupted upgrade is left as it is, like one that
 * was killed: the next run continues it. */
static void failed(struct join *join, struct error *err) {
    const struct reset_options options = {.progress = on_entry, .progress_context = join};
    struct upgrade *u = join->upgrade;
    struct error why = {0};

    if (!u->journal.count) {
        upgrade_uncordon(join);
        (void)error_hint(err, "nothing on this machine was changed");
        return;
    }
    if (err->kind == ERROR_INTERRUPTED) {
        (void)error_hint(err, "the same command continues; if it fails, it goes back to what ran");
        return;
    }
    u->went_back = true;
    journal_close(&u->journal);
    u->journal = (struct journal){.host = join->host, .folder = UPGRADE_FOLDER};
    if (reset_upgrade(join->host, &options, &u->back, &why) < 0 && !u->back.failed++)
        join_warn(&join->progress, "go back: %s", why.message);
    upgrade_uncordon(join);
    if (u->back.failed)
        (void)error_hint(err, "%zu things could not be put back: run winjoin upgrade again",
                         u->back.failed);
    else
        (void)error_hint(err, "the node is back in the state before the upgrade, with its earlier "
                              "programs and configuration");
}

/* ---- start and end of an upgrade ---- */

int upgrade_open(struct join *join, struct upgrade *upgrade, struct error *err) {
    if (host_file_type(join->host, KUBELET_KUBECONFIG_FILE) == HOST_ABSENT) {
        (void)error_set(err, ERROR_USAGE, "upgrade this machine: it has not joined a cluster");
        return error_hint(err, "winjoin join makes it a node");
    }
    join->upgrade = upgrade;
    join->phases = phases;
    join->failed = failed;
    upgrade->files = json_array();
    if (journal_open(join->host, UPGRADE_FOLDER, &upgrade->journal, err) < 0)
        return -1;
    upgrade->resumed = upgrade->journal.count > 0;
    if (!upgrade->resumed && !join->asked->dry_run &&
        host_file_type(join->host, UPGRADE_FOLDER) != HOST_ABSENT)
        (void)host_remove_tree(join->host, UPGRADE_FOLDER, NULL);
    if (join_open(join, err) < 0) {
        if (upgrade->resumed && !join->asked->dry_run)
            /* An upgrade that was killed is undone when it cannot be opened again, for example
             * because its bundle is gone. */
            failed(join, err);
        return -1;
    }
    join->journal.also = &upgrade->journal;
    return 0;
}

void upgrade_close(struct join *join) {
    struct upgrade *u = join->upgrade;

    join_close(join);
    if (!u)
        return;
    for (size_t i = 0; i < u->program_count; i++) {
        free_all(u->programs[i].name, u->programs[i].target, u->programs[i].from,
                 u->programs[i].to);
    }
    free(u->programs);
    json_decref(u->files);
    text_list_free(&u->services);
    journal_close(&u->journal);
}

/* ---- documents ---- */

static json_t *programs_json(const struct upgrade *u) {
    json_t *rows = json_array();

    for (size_t i = 0; i < u->program_count; i++)
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s*, s:s*}", "name", u->programs[i].name,
                                              "path", u->programs[i].target, "from",
                                              u->programs[i].from, "to", u->programs[i].to));
    return rows;
}

static bool has_work(const struct upgrade *u) {
    return u->resumed || u->program_count || json_array_size(u->files) || u->services.count;
}

json_t *upgrade_plan(const struct join *join) {
    const struct upgrade *u = join->upgrade;

    return json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:o, s:O, s:o, s:o}",
                     JSON_DOCUMENT("UpgradePlan"), "node", join->found.node_name, "changed",
                     has_work(u), "resumed", u->resumed, "drain", u->drain, "programs",
                     programs_json(u), "files", u->files, "services", json_texts(&u->services),
                     "warnings", json_texts(&join->progress.warnings));
}

char *upgrade_plan_text(const struct join *join) {
    const struct upgrade *u = join->upgrade;
    _cleanup_(freep) char *services = text_list_join(&u->services, ", ");
    struct text out = {0};

    if (!has_work(u)) {
        text_add(&out, "nothing to do: programs and configuration are up to date\n");
        return text_take(&out);
    }
    if (u->resumed)
        text_add(&out, "an earlier upgrade did not end: this one continues it\n");
    for (size_t i = 0; i < u->program_count; i++)
        text_addf(&out, "%s  %-44s %s -> %s\n", i ? "" : "programs\n", u->programs[i].target,
                  u->programs[i].from ? u->programs[i].from : "unknown",
                  u->programs[i].to ? u->programs[i].to : "unknown");
    json_each(u->files, i, file) {
        text_addf(&out, "%s  %s\n", i ? "" : "\nfiles\n", json_text_at(file, "path"));
        json_each(json_object_get(file, "differences"), k, difference)
            text_addf(&out, "      %s\n", json_string_value(difference));
    }
    if (*services)
        text_addf(&out, "\nservices stopped and started again: %s\n", services);
    return text_take(&out);
}

json_t *upgrade_result(const struct join *join) {
    const struct upgrade *u = join->upgrade;
    json_t *result = join_result_json(join);

    json_object_set_new(result, "kind", json_string("UpgradeResult"));
    (void)json_object_del(result, "rollback");
    if (u->went_back && !u->back.failed)
        json_object_set_new(result, "changed", json_false());
    json_object_set_new(result, "programs", programs_json(u));
    json_object_set(result, "files", u->files);
    json_object_set_new(result, "services", json_texts(&u->services));
    json_object_set_new(result, "wentBack", json_boolean(u->went_back));
    return result;
}
