/* Checks files, services and programs of another tool or an earlier node for preflight. */
#include "host/path.h"
#include "join/wanted/wanted.h"
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/preflight/preflight_checks.h"
#include "join/programs/programs.h"
#include "netsetup/netsetup.h"
#include "node/folders.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/catalog.h"
#include "services/artifacts/program_image.h"
#include "services/cri.h"
#include "services/service_table.h"
#include "services/version.h"

enum { CONTAINERD_MIN = 2 };

/* Refuses a file of an earlier join that winjoin did not make (kubeadm: FileAvailable). */
enum check_verdict check_file_available(const struct machine *machine,
                                        struct check_finding *finding) {
    bool is_ca = text_equal(finding->check->subject, KUBERNETES_CA_FILE);
    _cleanup_(freep) char *path =
        is_ca ? join_ca_file(&machine->found->options) /* caCertPath names the file. */
              : xstrdup(finding->check->subject);
    _cleanup_(freep) char *held = NULL;

    if (host_file_type(machine->host, path) == HOST_ABSENT ||
        journal_find(machine->journal, JOURNAL_FILE_ENTRY, path))
        return CHECK_FINE;
    held = is_ca ? ca_file_describe(machine->host, path) : NULL;
    return check_say(finding, CHECK_BAD, "%s already exists and was not made by winjoin%s%s", path,
                     held ? "; it contains " : "", held ? held : "");
}

/* Finds manifests of static Pods, which the kubelet would start at once. */
enum check_verdict check_manifests(const struct machine *machine, struct check_finding *finding) {
    _cleanup_(text_list_free) struct text_list names = {0};

    if (journal_find(machine->journal, JOURNAL_FOLDER_ENTRY, KUBERNETES_FOLDER))
        return CHECK_FINE;
    if (host_list(machine->host, finding->check->subject, &names, &finding->why) < 0)
        return finding->why.kind == ERROR_ABSENT ? CHECK_FINE : CHECK_UNKNOWN;
    return names.count ? check_say(finding, CHECK_BAD,
                                   "%s is not empty: the kubelet would start these pods",
                                   finding->check->subject)
                       : CHECK_FINE;
}

enum check_verdict check_cni_files(const struct machine *machine, struct check_finding *finding) {
    _cleanup_(text_list_free) struct text_list conflicts = {0};

    if (find_containerd(machine->host, machine->found, &finding->why) < 0 ||
        cni_conflicts(machine->host, machine->found->containerd.conf_dir, &conflicts,
                      &finding->why) < 0)
        return CHECK_UNKNOWN;
    return conflicts.count ? check_say(finding, CHECK_BAD, "%s would override the node's CNI file",
                                       conflicts.items[0])
                           : CHECK_FINE;
}

static bool is_left(const struct machine *machine, const char *path,
                    struct check_finding *finding) {
    enum host_file_type type = host_file_type(machine->host, path);

    if (type == HOST_ABSENT || journal_find(machine->journal, JOURNAL_FOLDER_ENTRY, path) ||
        journal_find(machine->journal, JOURNAL_FILE_ENTRY, path))
        return false;
    /* winjoin does not advise to remove a folder that an ordinary user made. */
    if (host_refuse_untrusted(machine->host, path, &finding->why) < 0)
        check_hint(finding, "%s", finding->why.hints[0]);
    else
        check_hint(finding, "%s %s", type == HOST_FOLDER ? "rmdir /s /q" : "del", path);
    (void)check_say(finding, CHECK_BAD, "%s is left from an earlier node", path);
    return true;
}

/* Finds a file in the place of a folder. Such a file would end the join later, when the virtual
 * switch exists already. */
enum check_verdict check_folders(const struct machine *machine, struct check_finding *finding) {
    const struct containerd_settings *containerd = &machine->found->containerd;
    const char *const folders[] = {PROGRAM_FOLDER,
                                   KUBERNETES_MANIFESTS_FOLDER,
                                   KUBELET_CERTIFICATE_FOLDER,
                                   HOST_OWN_FOLDER,
                                   CONTAINERD_FOLDER,
                                   containerd_cni_programs(containerd),
                                   containerd->conf_dir ? containerd->conf_dir : CNI_CONF_DIR,
                                   "C:\\var\\log"};

    for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
        _cleanup_(freep) char *path = xstrdup(folders[i]);

        while (path && host_file_type(machine->host, path) != HOST_FILE)
            text_set(&path, path_parent(path));
        if (path) {
            check_hint(finding, "move it away: %s", path);
            return check_say(finding, CHECK_BAD,
                             "%s is a file: the node needs a folder of that name", path);
        }
    }
    return CHECK_FINE;
}

/* Refuses folders and files of ordinary users. The host's functions refuse them later, too, so this
 * check cannot be ignored. */
enum check_verdict check_folder_owners(const struct machine *machine,
                                       struct check_finding *finding) {
    for (size_t i = 0; i < node_folder_count; i++) {
        _cleanup_(host_untrusted_free) struct host_untrusted untrusted = {0};
        _cleanup_(freep) char *repair = NULL, *text = NULL;

        if (node_folder_find_untrusted(machine->host, &node_folders[i], &untrusted, &finding->why) <
            0)
            return CHECK_UNKNOWN;
        if (!untrusted.path)
            continue;
        repair = host_untrusted_remedy(&untrusted);
        text = host_untrusted_text(&untrusted);
        check_hint(finding, "%s", repair);
        return check_say(finding, CHECK_BAD, "%s", text);
    }
    return CHECK_FINE;
}

/* Finds files that scripts and DaemonSets of an earlier node have left, because the scripts and
 * DaemonSets of a later node trust them. */
enum check_verdict check_leftovers(const struct machine *machine, struct check_finding *finding) {
    static const char *const paths[] = {"C:\\sourcevip", "C:\\k\\sourceVip.json", CNI_STATE_DIR};

    for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
        if (is_left(machine, paths[i], finding))
            return CHECK_BAD;
    for (size_t i = 0; network_agents[i]; i++) {
        for (const char *const *path = network_agents[i]->folders; path && *path; path++)
            if (is_left(machine, *path, finding))
                return CHECK_BAD;
    }
    return CHECK_FINE;
}

/* Refuses a service that kubeadm's guides or nssm registered: it would start another kubelet. A
 * service that a killed run of winjoin had not marked yet is repaired by the code that uses it. */
enum check_verdict check_service_free(const struct machine *machine,
                                      struct check_finding *finding) {
    struct host_service service = {0};
    bool foreign;

    if (host_service_query(machine->host, finding->check->subject, &service, &finding->why) < 0)
        return CHECK_UNKNOWN;
    foreign = service.state != HOST_SERVICE_ABSENT && !service_is_ours(&service) &&
              !journal_has_absent(machine->journal, JOURNAL_SERVICE, finding->check->subject);
    host_service_free(&service);
    if (foreign && text_equal(machine->found->options.existing_services, "adopt"))
        return check_say(finding, CHECK_NOT_RUN,
                         "the join goes on with the service \"%s\" that exists",
                         finding->check->subject);
    if (text_equal(finding->check->subject, service_containerd.name) ||
        /* Machine images can bring these two services, which a join can adopt. */
        text_equal(finding->check->subject, service_kubelet.name))
        check_hint(finding, "%s, or go on with it: --existing-services adopt",
                   finding->check->hint);
    return foreign
               ? check_say(finding, CHECK_BAD, "a service \"%s\" exists that winjoin did not make",
                           finding->check->subject)
               : CHECK_FINE;
}

/* Finds services of other tools and what they would do on a node that winjoin makes. This is only a
 * warning when the join adopts the services of an image or the cluster's agent makes the network,
 * because the services may belong to that image or agent. */
enum check_verdict check_other_nodes(const struct machine *machine, struct check_finding *finding) {
    static const struct {
        const char *name, *does;
    } others[] = {
        {"rke2", "RKE2 starts a kubelet, containerd and kube-proxy of its own"},
        {"rancher-wins", "Rancher's agent starts RKE2"},
        {"CalicoNode", "Calico deletes HNS networks when Windows starts"},
        {"CalicoFelix", "Calico changes HNS networks"},
        {"CalicoConfd", "Calico changes HNS networks"},
        {"antrea-agent", "Antrea makes an HNS network of its own"},
        {"kubeproxy", "a second kube-proxy changes Services' load balancers"},
        {"windows-instance-config-daemon", "OpenShift's operator sets up this machine"},
    };
    const struct join_options *o = &machine->found->options;
    const struct network_agent *agent =
        o->network_plugin ? network_agent_by_plugin(o->network_plugin) : NULL;
    _cleanup_(text_free) struct text names = {0}, removal = {0};
    const char *does = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        _cleanup_(host_service_free) struct host_service service = {0};

        if (host_service_query(machine->host, others[i].name, &service, &finding->why) < 0)
            return CHECK_UNKNOWN;
        if (service.state == HOST_SERVICE_ABSENT)
            continue;
        text_addf(&names, "%s%s", does ? "," : "", others[i].name);
        text_addf(&removal, "; sc.exe delete %s", others[i].name);
        does = does ? does : others[i].does;
    }
    if (!does)
        return CHECK_FINE;
    check_hint(finding, "powershell \"Stop-Service %s -Force%s\"", text_str(&names),
               text_str(&removal));
    return text_equal(o->existing_services, "adopt") || (agent && agent->in_cluster)
               ? check_say(finding, CHECK_WARN, "services of another node's set-up: %s (%s)",
                           text_str(&names), does)
               : check_say(finding, CHECK_BAD, "services of another node's set-up: %s (%s)",
                           text_str(&names), does);
}

/* Refuses the folder and all that is in it when an ordinary user made it. */
static int refuse_untrusted_in(const struct machine *machine, const char *folder,
                               struct error *err) {
    const struct node_folder row = {.path = folder, .deep = true};
    _cleanup_(host_untrusted_free) struct host_untrusted untrusted = {0};

    return node_folder_find_untrusted(machine->host, &row, &untrusted, err) < 0
               ? -1
               : host_untrusted_refuse(&untrusted, err);
}

/* Warns of settings of an existing config.toml that winjoin's own file will not keep. */
static enum check_verdict check_replaced(const struct machine *machine,
                                         struct check_finding *finding) {
    _cleanup_(containerd_settings_free) struct containerd_settings here = {0}, all = {0};
    _cleanup_(freep) char *names = NULL, *image = NULL, *registries = NULL;

    check_hint(finding, "what you need of it goes into a file " CONTAINERD_DROP_INS
                        ", registries into " CONTAINERD_REGISTRIES);
    if (containerd_settings_read(machine->host, CONTAINERD_CONFIG_PATH, false, &here,
                                 &finding->why) < 0)
        return check_say(finding, CHECK_WARN, "a join replaces %s, and keeps nothing of it: %s",
                         CONTAINERD_CONFIG_PATH, finding->why.message);
    if (containerd_settings_read(machine->host, CONTAINERD_CONFIG_PATH, true, &all, &finding->why) <
        0)
        return check_say(finding, CHECK_WARN, "a join replaces %s, and leaves out its imports: %s",
                         CONTAINERD_CONFIG_PATH, finding->why.message);
    if (here.registries && path_normalize(here.registries, &registries, NULL) == 0 &&
        refuse_untrusted_in(machine, registries, &finding->why) < 0)
        return finding->why.kind == ERROR_DENIED ? CHECK_FAILED_HERE : CHECK_UNKNOWN;
    if (here.sandbox_image &&
        !journal_find(machine->journal, JOURNAL_FILE_ENTRY, CONTAINERD_CONFIG_PATH))
        image = programs_sandbox_image(machine->host, machine->found);
    if (image && !text_equal(here.sandbox_image, image))
        text_list_add_owned(&here.others, xasprintf("sandbox image '%s'", here.sandbox_image));
    names = text_list_join(&here.others, ", ");
    return *names ? check_say(finding, CHECK_WARN,
                              "a join replaces %s, which has settings of its own: %s",
                              CONTAINERD_CONFIG_PATH, names)
                  : CHECK_FINE;
}

/* Checks containerd's configuration. For a containerd that the join adopts, winjoin must understand
 * its pipe and where it looks for CNI. */
enum check_verdict check_containerd(const struct machine *machine, struct check_finding *finding) {
    const struct containerd_settings *found = &machine->found->containerd;
    const char *socket = machine->found->options.cri_socket, *image, *tag;
    const char *kubernetes = machine->found->options.kubernetes_version;
    _cleanup_(freep) char *pipe = NULL, *version = NULL, *why = NULL, *wanted = NULL;
    const struct compatible *row;

    if (find_containerd(machine->host, machine->found, &finding->why) < 0) {
        check_hint(finding, "correct that file, or delete the service: " SERVICE_REMOVAL("%s"),
                   service_containerd.name, service_containerd.name);
        return CHECK_FAILED_HERE;
    }
    if (!found->foreign)
        return check_replaced(machine, finding);
    if (!text_equal(machine->found->options.existing_services, "adopt"))
        return check_say(finding, CHECK_NOT_RUN,
                         "the service \"containerd\" that exists is another's: see "
                         "Service-containerd");
    pipe = cri_pipe_path(socket ? socket : KUBELET_CRI_SOCKET);
    if (!text_equal_nocase(pipe, found->pipe)) {
        check_hint(finding, "leave --cri-socket (criSocket) out, and the join takes containerd's");
        return check_say(finding, CHECK_BAD,
                         "the containerd that exists opens %s, and --cri-socket names %s",
                         found->pipe, pipe);
    }
    if (found->without_cri) {
        check_hint(finding,
                   "take it out of disabled_plugins, then: powershell \"Restart-Service %s\"",
                   service_containerd.name);
        return check_say(finding, CHECK_BAD,
                         "%s disables containerd's CRI plugin, by which the kubelet speaks to it",
                         found->config);
    }
    if (refuse_untrusted_in(machine, found->conf_dir, &finding->why) < 0 ||
        refuse_untrusted_in(machine, containerd_cni_programs(found), &finding->why) < 0)
        return finding->why.kind == ERROR_DENIED ? CHECK_FAILED_HERE : CHECK_UNKNOWN;

    /* Nothing is known about a sandbox image whose name is not that of Kubernetes' own image. */
    image = found->sandbox_image;
    tag = image ? strrchr(image, ':') : NULL;
    if (!tag || !strstr(image, "/pause:"))
        return CHECK_FINE;
    version = xasprintf("%s%s", tag + 1, strchr(tag, '.') == strrchr(tag, '.') ? ".0" : "");
    row = compatible_breach(ARTIFACT_IMAGE, version, kubernetes, machine->found->facts.build);
    if (!row)
        return CHECK_FINE;
    why = compatible_message(row, tag + 1);
    wanted = sandbox_image(NULL, kubernetes, machine->found->facts.build);
    check_hint(finding, "in %s set %s, then: powershell Restart-Service containerd -Force",
               found->config, wanted);
    return check_say(finding, CHECK_WARN,
                     "the sandbox image of the containerd that exists, '%s', is too old: %s", image,
                     why);
}

/* Checks that the container runtime runs. winjoin starts containerd itself, but a runtime that the
 * user names must be running already. */
enum check_verdict check_cri(const struct machine *machine, struct check_finding *finding) {
    const char *socket = machine->found->options.cri_socket;
    _cleanup_(freep) char *pipe = NULL;

    pipe = cri_pipe_path(socket ? socket : KUBELET_CRI_SOCKET);
    if (!socket || text_equal_nocase(socket, KUBELET_CRI_SOCKET) ||
        (machine->found->containerd.foreign &&
         text_equal_nocase(pipe, machine->found->containerd.pipe)))
        return check_say(finding, CHECK_NOT_RUN, "winjoin join starts containerd itself");
    return host_pipe_exists(machine->host, pipe)
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD,
                           "container runtime is not running: nothing opened %s", pipe);
}

/* Returns the verdict for a program whose file does not contain its version. preflight does not run
 * a program of a node's folder to learn its version. */
static enum check_verdict no_version(const struct machine *machine, const char *program,
                                     struct check_finding *finding) {
    return check_say(finding, CHECK_NOT_RUN,
                     host_file_type(machine->host, program) == HOST_ABSENT
                         ? "%s does not exist yet"
                         : "the file %s does not tell its version; the join asks the program",
                     program);
}

/* Checks containerd's version. kubeadm warns of a containerd before 2.0, which does not tell the
 * kubelet its cgroup driver. */
enum check_verdict check_runtime_version(const struct machine *machine,
                                         struct check_finding *finding) {
    const char *asked = machine->found->options.kubernetes_version;
    _cleanup_(freep) char *version = NULL, *kubelet = NULL, *message = NULL;
    const struct compatible *row;
    int found = program_version_read(machine->host, service_containerd.program, false, &version,
                                     &finding->why);
    unsigned major = found > 0 ? containerd_major(version) : 0;

    if (found < 0)
        return CHECK_UNKNOWN;
    if (!found)
        return no_version(machine, service_containerd.program, finding);
    if (!major)
        return check_say(finding, CHECK_UNKNOWN, "containerd's version is \"%.60s\"", version);
    if (major < CONTAINERD_MIN)
        return check_say(finding, CHECK_BAD,
                         "containerd %u does not support RuntimeConfig, which kubelets newer than "
                         "1.37 require",
                         major);
    /* Was this containerd tested with the kubelet that will run? That kubelet has the requested
     * version, otherwise that of the installed kubelet, otherwise the cluster's. */
    if (!asked && program_version_read(machine->host, service_kubelet.program, false, &kubelet,
                                       &finding->why) < 0)
        return CHECK_UNKNOWN;
    row = compatible_breach(service_containerd.artifact, version,
                            asked     ? asked
                            : kubelet ? kubelet
                                      : machine->found->cluster.kubernetes_version,
                            machine->found->facts.build);
    message = row ? compatible_message(row, version) : NULL;
    return row ? check_say(finding, CHECK_BAD, "%s", message) : CHECK_FINE;
}

enum check_verdict check_kubelet_version(const struct machine *machine,
                                         struct check_finding *finding) {
    _cleanup_(freep) char *version = NULL;
    int found = program_version_read(machine->host, service_kubelet.program, false, &version,
                                     &finding->why);
    unsigned minor;

    if (!found)
        return no_version(machine, service_kubelet.program, finding);
    if (found < 0 && finding->why.kind == ERROR_DENIED)
        /* The check FolderOwners reports this. */
        return check_say(finding, CHECK_NOT_RUN, "%s", finding->why.message);
    if (found < 0 && (machine->found->options.bundle || machine->found->options.mirror))
        return check_say(finding, CHECK_NOT_RUN, "the bundle has another kubelet");
    if (found < 0 || kubernetes_minor(version, "kubelet.exe", &minor, &finding->why) < 0)
        return check_say(finding, CHECK_BAD, "couldn't get kubelet version: %s",
                         finding->why.message);
    return CHECK_FINE;
}
