/* Collects the options of a run: those of the command and those of the node's join, so that the
 * node stays as the join made it. */
#include "join/found/need.h"
#include "join/phases/phases.h"
#include "join/undo/journal.h"
#include "node/chosen.h"

int error_damaged(const char *what, const struct error *why, struct error *err) {
    (void)error_pass(err, why);
    (void)error_prefix(err, "read %s", what);
    return why->kind == ERROR_MALFORMED
               ? error_hint(err, "winjoin join, with the flags of the first join, writes that file "
                                 "again")
               : -1;
}

/* Adds the options of the command to `kept`, and those of `kept` to the command's. An empty text
 * ("--node-labels ''") removes the join's value. */
static void merge(struct join_options *options, json_t *kept) {
    join_each_option(o) {
        json_t *value = o->kept ? join_option_json(options, o) : NULL;
        const char *const *text = join_option_field(options, o);

        if (value)
            json_object_set_new(kept, o->name, value);
        else if (o->kept && join_option_yaml(o) == YAML_FIELD_TEXT && *text)
            (void)json_object_del(kept, o->name);
        else if (o->kept)
            join_option_take(options, o, json_object_get(kept, o->name));
    }
}

static void take(char **option, const char *chosen) {
    if (!*option && chosen)
        *option = xstrdup(chosen);
}

/* An upgrade also keeps the node's address, kube-proxy, DSR and Pod prefixes that the join found
 * itself; a phase alone finds these again. The network that the join chose stays for both
 * (join/found/network.c). */
static int keep_choices_of_join(struct join *join, struct error *err) {
    struct join_options *options = &join->found.options;
    _cleanup_(chosen_free) struct chosen chosen = {0};
    _cleanup_(freep) char *node_ip = NULL;
    struct error why = {0};

    if (chosen_load(join->host, &chosen, &why) < 0)
        return why.kind == ERROR_ABSENT
                   ? 0
                   : error_damaged("what the join of this node chose", &why, err);
    node_ip = xstrndup(chosen.network.management, strcspn(chosen.network.management, "/"));
    take(&options->node_ip, node_ip);
    take(&options->kube_proxy, chosen.kube_proxy);
    take(&options->dsr, chosen.network.dsr);
    /* The recorded Pod prefixes are the same as those of the Node. */
    if (!options->pod_cidrs.count && chosen.network.pod_cidr) {
        text_list_add(&options->pod_cidrs, chosen.network.pod_cidr);
        if (chosen.network.pod_cidr6)
            text_list_add(&options->pod_cidrs, chosen.network.pod_cidr6);
    }
    return 0;
}

static bool is_given(const struct join_options *asked, const struct join_option *o) {
    const char *const *text = join_option_field(asked, o);
    _cleanup_json_ json_t *value = join_option_json(asked, o);

    return value || (join_option_yaml(o) == YAML_FIELD_TEXT && *text);
}

/* Decides what a whole join does with the options of the node's last one. A command that gives none
 * but the name keeps them all, as the line of `kubeadm token create` does; any other command is all
 * that the node gets, and a warning names what it leaves out. */
static void keep_or_leave_out(struct join *join) {
    _cleanup_(text_list_free) struct text_list left_out = {0};
    _cleanup_(freep) char *names = NULL;
    bool chooses = join->asked->patches;

    join_each_option(o) {
        if (!o->kept) /* The token is not even copied. */
            continue;
        if (is_given(join->asked, o))
            chooses |= o != &join_option_table[JOIN_OPTION_node_name];
        else if (json_object_get(join->kept, o->name))
            text_list_add_owned(&left_out, o->flag   ? xasprintf("--%s", o->flag)
                                           : o->node ? xstrdup(o->node)
                                           : o->join ? xstrdup(o->join)
                                                     : xstrdup("kubeletExtraArgs"));
    }
    if (!join->asked->patches && json_object_get(join->kept, "patches"))
        text_list_add(&left_out, "--patches");
    if (!chooses) {
        join->keeps_options = left_out.count;
        return;
    }
    json_object_clear(join->kept);
    names = text_list_join(&left_out, ", ");
    if (left_out.count)
        join_warn(&join->progress,
                  "this command does not give what the last join of this node gave: %s; the node "
                  "loses it",
                  names);
}

int find_options(struct join *join, struct error *err) {
    bool alone = join->phase_alone || join->upgrade;
    bool whole = !alone && join->phases == join_phases;
    _cleanup_json_ json_t *last = NULL, *completed = NULL;
    struct error why = {0};

    join_options_copy(join->asked, &join->found.options);
    if ((alone || whole) && written_options_read(join->host, &last, &completed, &why) < 0) {
        /* Without the rights of an administrator, preflight says so better. */
        if (alone || (why.kind != ERROR_MALFORMED && why.kind != ERROR_DENIED))
            return error_damaged("the options of the join", &why, err);
        join_warn(&join->progress, "%s; only the options of this command are used", why.message);
    }
    join->kept = take_ptr(*(alone ? &last : &completed));
    if (!join->kept)
        join->kept = json_object();
    /* A phase alone that continues a failed join does not complete it. */
    join->completes = whole || json_equal(join->kept, completed);
    if (whole)
        keep_or_leave_out(join);
    merge(&join->found.options, join->kept);
    return join->upgrade ? keep_choices_of_join(join, err) : 0;
}

/* The patches' texts are kept, because the folder may be removed or change its owner later. */
int find_patches(struct join *join, struct error *err) {
    struct patches *patches = &join->found.patches;
    json_t *kept = join->kept;
    const char *folder = join->found.options.patches;

    if (!folder)
        return patches_recall(json_object_get(kept, "patches"), patches, err);
    (void)json_object_del(kept, "patches");
    if (patches_read(join->host, folder, patches, err) < 0)
        return -1;
    if (patches->texts)
        json_object_set(kept, "patches", patches->texts);
    return 0;
}
