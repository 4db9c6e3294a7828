/* Finds the node's programs, their versions and their arguments for a join. */
#include "join/programs/programs.h"

#include <limits.h>

#include "base/nearest.h"
#include "join/configuration/join_options.h"
#include "join/found/need.h"
#include "join/kubelet/kubelet_question.h"
#include "join/undo/journal.h"
#include "netsetup/agents/agent.h"
#include "netsetup/plugins/cni_plugin.h"
#include "services/artifacts/catalog.h"
#include "services/artifacts/program_image.h"
#include "services/program_flags.h"

#define ASIDE_FOLDER WINJOIN_FOLDER "\\tmp"
#define PROGRAMS_LOCK WINJOIN_FOLDER "\\" ARTIFACT_LOCK_NAME
enum { LOCK_MAX = 1024 * 1024 };

/* ---- where programs come from ---- */

static void tell_fetching(void *context, unsigned waited_ms, unsigned percent,
                          const char *message) {
    struct join_progress *progress = context;

    text_clear(&progress->waiting);
    text_add(&progress->waiting, message);
    join_tell(progress, (struct join_event){.state = JOIN_WAITING,
                                            .message = message,
                                            .hint = "",
                                            .waited_ms = waited_ms,
                                            .percent = percent});
}

static struct mirror mirror_at(struct join *join, const char *url) {
    const long long timeout = join->found.options.timeout;

    return (struct mirror){.host = join->host,
                           .http = join->http,
                           .url = url,
                           .parts = WINJOIN_FOLDER "\\downloads",
                           .limit_ms = timeout < INT_MAX ? (unsigned)timeout : 0,
                           .tell = tell_fetching,
                           .context = &join->progress};
}

static const char *published_version(const struct join_found *found) {
    if (found->options.kubernetes_version)
        return found->options.kubernetes_version;
    return found->cluster.server_version ? found->cluster.server_version
                                         : found->cluster.kubernetes_version;
}

/* Opens upstream's downloads, when neither a bundle nor a mirror was given, for the programs that
 * this machine lacks. */
static int open_upstream(struct join *join, struct error *err) {
    const struct join_options *o = &join->found.options;
    const struct mirror from = mirror_at(join, o->source_base);
    const char *version = published_version(&join->found);
    _cleanup_(text_list_free) struct text_list missing = {0};

    if (text_equal(o->source_base, JOIN_SOURCE_NONE) || !join->found.plan.mode || !version)
        return 0;
    if (!artifact_version_is_usable(version))
        return error_set(err, ERROR_MALFORMED, "the cluster's version is unusable: %.60s", version);
    if (join_kubernetes_version_check(version, err) < 0 ||
        programs_missing(join->upgrade ? NULL : join->host, &join->found, NULL, &missing, err) <
            0 ||
        programs_unlike(join, &missing, err) < 0)
        return -1;
    return missing.count
               ? bundle_open_upstream(&from, &missing,
                                      &(struct bundle_choice){version, o->catalog, o->lock},
                                      &join->found.bundle, err)
               : 0;
}

/* Returns the folders of programs. A containerd that was installed before winjoin stays, and runs
 * CNI's programs from the folder that it is configured for. */
static struct artifact_places places_of(const struct join_found *found) {
    return (struct artifact_places){.cni_folder = containerd_cni_programs(&found->containerd),
                                    .keeps_containerd = found->containerd.foreign};
}

int programs_bundle(struct join *join, struct bundle **ret, struct error *err) {
    const struct join_options *o = &join->found.options;
    const struct artifact_places places = places_of(&join->found);
    const struct mirror mirror = mirror_at(join, o->mirror);
    bool is_new = !join->found.bundle;
    int result = 0;

    if (is_new && o->bundle)
        result = bundle_open(join->host, o->bundle, o->lock, &join->found.bundle, err);
    else if (is_new && o->mirror)
        result = bundle_open_mirror(&mirror, o->lock, &join->found.bundle, err);
    else if (is_new)
        result = open_upstream(join, err);
    /* containerd's folders may be known only since the last call. */
    if (result == 0 && join->found.bundle)
        bundle_place(join->found.bundle, &places);
    if (result == 0)
        *ret = join->found.bundle;
    return result;
}

int programs_write_lock(struct join *join, const struct bundle *bundle, struct error *err) {
    const struct artifacts *all = bundle_artifacts(bundle);
    struct artifact items[ARTIFACTS_MAX]; /* The texts are borrowed from `all` and `earlier` */
    struct artifacts artifacts = {.items = items};
    _cleanup_(artifacts_free) struct artifacts earlier = {0};
    _cleanup_(freep) char *before = NULL, *text = NULL;
    size_t len;

    if (!bundle_is_upstream(bundle))
        return 0;
    /* The digest of a program that was not read in this run is taken from an earlier lock. */
    if (host_read(join->host, PROGRAMS_LOCK, LOCK_MAX, &before, &len, ERROR_IGNORED) == 0)
        (void)artifact_lock_parse(before, len, &earlier, NULL, ERROR_IGNORED);
    for (size_t i = 0; i < all->count; i++) {
        struct artifact item = all->items[i];

        for (size_t k = 0; !*item.sha256 && k < earlier.count; k++) {
            if (text_equal(earlier.items[k].name, item.name) &&
                text_equal(earlier.items[k].version, item.version)) {
                memcpy(item.sha256, earlier.items[k].sha256, sizeof item.sha256);
                item.size = earlier.items[k].size;
            }
        }
        if (*item.sha256)
            items[artifacts.count++] = item;
    }
    text = artifact_lock_make(&artifacts, NULL);
    return journal_write(&join->journal, PROGRAMS_LOCK, text, strlen(text), HOST_SECRET, err);
}

void programs_bundle_close(struct join *join) {
    bundle_freep(&join->found.bundle);
    join->found.bundle = NULL;
    artifacts_free(&join->found.known); /* The installed programs may be others from now on */
}

/* Notes an installed program, with the flags that name its source, as a user would type them. */
void programs_note(struct join *join, const char *target, const char *sha256) {
    const struct join_options *o = &join->found.options;
    const char *flag = o->bundle ? "bundle" : o->mirror ? "mirror" : "kubernetes-version";
    const char *value = o->bundle   ? o->bundle
                        : o->mirror ? o->mirror
                                    : published_version(&join->found);
    const char *quote = value && strchr(value, ' ') ? "\"" : "";
    _cleanup_(freep) char *source =
        xasprintf("--%s %s%s%s%s%s", flag, quote, value ? value : "", quote,
                  !o->bundle && !o->mirror && o->source_base ? " --source-base " : "",
                  !o->bundle && !o->mirror && o->source_base ? o->source_base : "");

    written_note(&join->journal, JOURNAL_FILE_ENTRY, target,
                 json_pack("{s:s, s:s}", "sha256", sha256, "source", source));
}

/* ---- which programs a node needs ---- */

static struct service_choice choice_of(const struct join_found *found) {
    /* NULL until the plan is made */
    const struct network_agent *agent = found->plan.agent;
    bool theirs = agent && agent->in_cluster;

    return (struct service_choice){.kube_proxy =
                                       !text_equal(found->options.kube_proxy, "none") && !theirs,
                                   .agent = agent ? agent->service : NULL};
}

bool programs_wanted(const struct join_found *found, const struct service *service) {
    const struct service_choice choice = choice_of(found);

    return service_is_chosen(service, &choice);
}

int programs_missing(struct host *host, const struct join_found *found,
                     const struct artifacts *lock, struct text_list *ret, struct error *err) {
    const struct service_choice choice = choice_of(found);
    const struct artifact_places places = places_of(found);

    return artifacts_missing(host, lock, &places, found->plan.cni_plugin,
                             cni_plugin_ipam(found->plan.cni_plugin, found->plan.agent), &choice,
                             ret, err);
}

int programs_check_complete(struct join *join, const struct artifacts *lock, struct error *err) {
    _cleanup_(text_list_free) struct text_list missing = {0};
    _cleanup_(freep) char *names = NULL;
    int result = programs_missing(join->host, &join->found, lock, &missing, err);

    if (result == 0 && missing.count) {
        names = text_list_join(&missing, ", ");
        result = error_set(err, ERROR_USAGE, "required programs are missing: %s", names);
        for (size_t i = 0; i < missing.count; i++)
            if (artifact_origin(missing.items[i]))
                (void)error_hint(err, "%s.exe: %s", missing.items[i],
                                 artifact_origin(missing.items[i]));
        (void)error_hint(err, "supply them with --bundle FILE or --mirror URL (made of a folder of "
                              "programs by: winjoin bundle create DIR FILE.zip)");
    }
    return result;
}

/* ---- versions ---- */

char *programs_version(struct host *host, bool may_run, const char *program) {
    _cleanup_(freep) char *version = NULL;

    return program_version_read(host, program, may_run, &version, ERROR_IGNORED) > 0 &&
                   *version == 'v'
               ? take_ptr(version)
               : NULL;
}

bool programs_same_version(const char *a, const char *b) {
    return a && b && text_equal(a + (*a == 'v'), b + (*b == 'v'));
}

/* Returns the version that the program will have: the version in the lock, else that of the
 * installed program. NULL when unknown. The caller frees it. */
static char *coming_version(const struct join *join, const struct artifacts *lock,
                            const char *artifact, const char *program) {
    const struct artifact *coming = artifact_find(lock, artifact);

    if (!coming)
        return programs_version(join->host, !join->found.runs_no_programs, program);
    return text_equal(coming->version, "unknown") ? NULL : xstrdup(coming->version);
}

const char *programs_node_version(struct host *host, struct join_found *found,
                                  const struct service *service) {
    char **kept =
        service == &service_kubelet ? &found->kubelet_version : &found->kube_proxy_version;

    if (!*kept)
        *kept = programs_version(host, !found->runs_no_programs, service->program);
    return *kept ? *kept : found->cluster.kubernetes_version;
}

static int check_skew(struct join *join, const struct service *service, const char *version,
                      struct error *err) {
    struct version_skew skew = {.program = service->name,
                                .kubelet = version,
                                .cluster = join->found.cluster.kubernetes_version,
                                .server = join->found.cluster.server_version};

    if (!version || version_skew_check(&skew, err) == 0)
        return 0;
    if (!ignored_checks_have(&join->found.options.ignore_preflight_errors, "KubeletVersion"))
        return -1;
    join_warn(&join->progress, "%s", err->message);
    error_clear(err);
    return 0;
}

bool programs_versions_are_known(const struct artifacts *lock) {
    for (size_t i = 0; i < lock->count; i++) {
        const struct artifact *a = &lock->items[i];

        for (const struct service *const *row = service_table; *row; row++)
            if ((*row)->kubernetes && text_equal(a->name, (*row)->artifact) &&
                text_equal(a->version, "unknown"))
                return false;
    }
    return true;
}

static void kubelet_arguments(const struct join_options *options, struct text_list *ret) {
    for (size_t i = 0; i < options->kubelet_extra_args.count; i++)
        text_list_add_owned(ret, xasprintf("--%s", options->kubelet_extra_args.items[i]));
    for (size_t i = 0; i < options->kubelet_service_args.count; i++)
        text_list_add(ret, options->kubelet_service_args.items[i]);
}

void programs_service_settings(struct host *host, struct join_found *found,
                               struct service_settings *ret) {
    const struct network_agent *agent = found->plan.agent;

    if (!found->kubelet_arguments.count)
        kubelet_arguments(&found->options, &found->kubelet_arguments);
    *ret = (struct service_settings){
        .kubelet_version = programs_node_version(host, found, &service_kubelet),
        .kube_proxy_version = programs_node_version(host, found, &service_kube_proxy),
        .node_name = found->node_name,
        .node_ip = found->node_ips,
        .network_name = found->plan.name,
        .node_labels = found->options.node_labels,
        .register_with_taints = found->options.register_with_taints,
        .flannel_interface = found->node_ip,
        .agent = agent && agent->makes_network ? agent->service : NULL,
        .agent_key_folder = agent ? agent->key_folder : NULL,
        .api_server = found->client.server,
        .ca_file = found->options.ca_cert_path ? found->options.ca_cert_path : KUBERNETES_CA_FILE,
        .vxlan_port = found->plan.vxlan_port,
        .proxy = service_proxy(host, found),
        .adopt = text_equal(found->options.existing_services, "adopt"),
        .kubelet_extra_args = found->kubelet_arguments,
    };
}

int programs_check_versions(struct join *join, const struct artifacts *lock, struct error *err) {
    struct join_found *found = &join->found;
    const struct {
        const struct service *service;
        char **version;
    } programs[] = {{&service_kubelet, &found->kubelet_version},
                    {&service_kube_proxy, &found->kube_proxy_version}};
    const char *wanted = found->options.kubernetes_version;
    const struct network_plan *plan = &found->plan;
    const struct cni_plugin *cni = plan->mode ? cni_plugin_by_name(plan->cni_plugin) : NULL;
    const struct artifact_places places = places_of(found);
    struct artifact_target target;
    struct service_settings settings;
    _cleanup_(text_list_free) struct text_list arguments = {0};

    for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
        const struct service *row = programs[i].service;
        char *version = coming_version(join, lock, row->artifact, row->program);

        text_set(programs[i].version, version);
        if (!programs_wanted(found, row))
            continue;
        if (wanted && version && !programs_same_version(wanted, version))
            return error_set(err, ERROR_USAGE,
                             "--kubernetes-version %s: the %s to be started is %s", wanted,
                             row->name, version);
        if (check_skew(join, row, version ? version : wanted, err) < 0)
            return -1;
    }
    if (cni && cni->check_version && artifact_target_find(cni->name, &target)) {
        _cleanup_(freep) char *place = artifact_place(&places, target.target);
        _cleanup_(freep) char *version = coming_version(join, lock, target.name, place);

        if (version && cni->check_version(plan, version, err) < 0)
            return -1;
    }
    /* Versions that were not tested together may work, so this is a warning. */
    for (size_t i = 0; lock && i < lock->count; i++) {
        const struct artifact *a = &lock->items[i];
        const struct compatible *row =
            compatible_breach(a->name, a->version, found->kubelet_version, found->facts.build);
        _cleanup_(freep) char *message = row ? compatible_message(row, a->version) : NULL;

        if (message)
            join_warn(&join->progress, "%s", message);
    }
    /* Make the arguments only to check that they can be made. */
    programs_service_settings(join->host, found, &settings);
    return service_arguments(&service_kubelet, &settings, &arguments, NULL, err);
}

/* ---- the kubelet's arguments ---- */

/* Asks the program whether it accepts its arguments. All of them are tried at once first, because
 * normally it accepts them all and one start is enough. */
static int ask_program(struct host *host, const char *program, const struct text_list *arguments,
                       struct error *err) {
    _cleanup_(text_list_free) struct text_list known = {0};
    struct error why = {0};
    bool takes;

    if (program_takes(host, program, arguments, &takes, &why) < 0 || takes ||
        program_flags_read(host, program, &known, &why) < 0 || !known.count)
        return 0;
    for (size_t i = 0; i < arguments->count; i++) {
        const char *argument = arguments->items[i], *plain;
        struct text_list one = {.items = &arguments->items[i], .count = 1};
        _cleanup_(freep) char *name = NULL;

        if (program_takes(host, program, &one, &takes, &why) < 0 || takes)
            continue;
        plain = argument + strspn(argument, "-");
        name = xstrndup(plain, strcspn(plain, "="));
        if (text_list_has(&known, name))
            return error_set(err, ERROR_USAGE,
                             "kubelet argument '%s': '%s' does not accept that value", argument,
                             program);
        (void)error_set(err, ERROR_USAGE, "kubelet argument '%s': '%s' has no such flag", argument,
                        program);
        return nearest_hint(err, "--", name, (const char *const *)known.items, known.count);
    }
    return 0;
}

int programs_check_kubelet(struct join *join, struct bundle *bundle, struct error *err) {
    const struct artifact *kubelet =
        bundle ? artifact_find(bundle_artifacts(bundle), "kubelet") : NULL;
    const char *program = service_kubelet.program;
    _cleanup_(text_list_free) struct text_list arguments = {0};
    struct service_settings settings;
    _cleanup_(freep) char *data = NULL;
    bool was_there, is_written = false;
    size_t len;
    int result = 0;

    if (!kubelet && host_file_type(join->host, program) == HOST_ABSENT)
        return 0;
    if (join->found.cluster.kubelet && join_need(join, NEED_KUBELET_CONFIG, err) < 0)
        return -1;
    kubelet_arguments(&join->found.options, &arguments);
    was_there = host_file_type(join->host, WINJOIN_FOLDER) != HOST_ABSENT;
    programs_service_settings(join->host, &join->found, &settings);
    if (!kubelet && host_refuse_untrusted(join->host, program, err) < 0)
        return -1;
    if (kubelet && artifact_is_installed(join->host, kubelet, &is_written, err) < 0)
        return -1;

    /* To ask a program before it is installed, write it to another folder. It is removed
     * afterwards, with the files that were written for it. */
    if (kubelet && !is_written) {
        program = ASIDE_FOLDER "\\kubelet.exe";
        if (bundle_read(bundle, kubelet, &data, &len, err) < 0)
            return -1;
        result = host_write(join->host, program, data, len, HOST_SECRET, err);
    }
    if (result == 0 && arguments.count)
        result = ask_program(join->host, program, &arguments, err);
    /* Without the cluster's configuration a single phase runs, which writes no config.yaml. */
    if (result == 0 && join->found.cluster.kubelet)
        result = kubelet_question_ask(join->host, &join->progress, join->found.kubelet_config,
                                      &settings, program, ASIDE_FOLDER, err);
    /* A file that a virus scanner keeps open is removed by the next run; this is no failure. */
    (void)host_remove_tree(join->host, ASIDE_FOLDER, NULL);
    if (!was_there)
        (void)host_remove(join->host, WINJOIN_FOLDER, NULL);
    return result;
}
