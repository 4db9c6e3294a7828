/* Has the commands of winjoin when called as kubeadm, and what it then does differently. */
#include "cmd/program.h"

#include "base/build_info.h"
#include "join/kubelet/kubelet_files.h"
#include "join/programs/programs.h"
#include "netsetup/nic/nic.h"
#include "services/version.h"

/* The version that winjoin, called as kubeadm, reports where no kubelet is installed. */
#define FOLLOWED "v1.37.1"
#define AT(field) offsetof(struct program_options, field)

const char kubeadm_mark[] = "kubeadm: winjoin in kubeadm's place, for Windows workers.\n";

void kubeadm_settle(struct join_options *o) {
    static const char *const later[] = {"pod-network", "ready", "verify"};

    if (!o->network_plugin && !o->network_mode) {
        o->network_plugin = xstrdup("external");
        for (size_t i = 0; i < ARRAY_SIZE(later); i++)
            text_list_add(&o->skip_phases, later[i]);
    }
    if (!o->kube_proxy)
        o->kube_proxy = xstrdup("none");
    if (!o->existing_services)
        o->existing_services = xstrdup("adopt");
    if (!o->verify)
        o->verify = xstrdup("none");
}

int kubeadm_exit_code(enum error_kind kind) {
    return kind == ERROR_NONE || kind == ERROR_INTERRUPTED ? error_exit_code(kind) : 1;
}

/* ---- the commands ---- */

/* Prints the version of this node's kubelet as kubeadm's version. winjoin itself has no Kubernetes
 * version of its own: a join takes it from the cluster. */
static int version(struct program *program, struct error *err) {
    _cleanup_(freep) char *installed =
        programs_version(program->host, true, service_kubelet.program);
    const char *git = installed ? installed : FOLLOWED;
    _cleanup_(freep) char *compiler = xasprintf("winjoin %s", build_version);
    _cleanup_(freep) char *digits = NULL, *text = NULL;
    unsigned minor;

    if (kubernetes_minor(git, "kubelet", &minor, err) < 0)
        return -1;
    digits = xasprintf("%u", minor);
    text = text_equal(program->options.output, "short")
               ? xasprintf("%s\n", git)
               : xasprintf("kubeadm version: &version.Info{Major:\"1\", Minor:\"%s\", "
                           "GitVersion:\"%s\", GitCommit:\"%s\", Compiler:\"%s\", "
                           "Platform:\"windows/amd64\"}\n",
                           digits, git, build_commit, compiler);
    output_text(program, text);
    output_result(program,
                  json_pack("{s:{s:s, s:s, s:s, s:s, s:s, s:s}}", "clientVersion", "major", "1",
                            "minor", digits, "gitVersion", git, "gitCommit", build_commit,
                            "compiler", compiler, "platform", "windows/amd64"));
    return 0;
}

static int reset(struct program *program, struct error *err) {
    static const char *const unused[] = {"cert-dir",   "cleanup-tmp-dir", "config",
                                         "cri-socket", "kubeconfig",      "ignore-preflight-errors",
                                         "skip-phases"};

    for (size_t i = 0; i < ARRAY_SIZE(unused); i++)
        if (text_list_has(&program->flags, unused[i]))
            output_warning("--%s is ignored: reset undoes what the join recorded", unused[i]);
    return verb_reset(program, err);
}

/* Refuses a kubeadm command that is not possible on a Windows worker. The text in the verb's row
 * says where to run it. */
static int refuse(struct program *program, struct error *err) {
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "kubeadm %s is not possible on this machine: it is a Windows worker, and this "
                    "kubeadm.exe is winjoin",
                    program->verb->name);
    return error_hint(err, "%s", program->verb->text);
}

static const struct option version_output[] = {
    {"output", 'o', OPTION_CHOICE, 0, AT(output), "short|json|yaml", "format of the result"},
    {0},
};
static const struct option reset_options[] = {
    {"force", 'f', OPTION_BOOL, 0, AT(yes), "", "do not ask for confirmation"},
    {"dry-run", 0, OPTION_BOOL, 0, AT(join.dry_run), "",
     "print what would be undone; change nothing"},
    {"cert-dir", 0, OPTION_TEXT, OPTION_HIDDEN, AT(to), "DIR", "ignored"},
    {"vmodule", 0, OPTION_TEXT, OPTION_HIDDEN, AT(join.vmodule), "PATTERN", "ignored"},
    {"cleanup-tmp-dir", 0, OPTION_BOOL, OPTION_HIDDEN, AT(show_all), "", "ignored"},
    {"config", 0, OPTION_TEXT, OPTION_HIDDEN, AT(join.config), "FILE", "ignored"},
    {"cri-socket", 0, OPTION_TEXT, OPTION_HIDDEN, AT(join.cri_socket), "SOCKET", "ignored"},
    {"kubeconfig", 0, OPTION_TEXT, OPTION_HIDDEN, AT(kubeconfig), "FILE", "ignored"},
    {"ignore-preflight-errors", 0, OPTION_LIST, OPTION_HIDDEN, AT(join.ignore_preflight_errors),
     "CHECK", "ignored"},
    {"skip-phases", 0, OPTION_LIST, OPTION_HIDDEN, AT(join.skip_phases), "PHASE", "ignored"},
    {0},
};
static const struct option_group reset_group = {"Reset", reset_options};

#define JOIN_GROUPS                                                                                \
    {                                                                                              \
        &join_cluster_group, &join_node_group, &join_network_group, &join_programs_group,          \
            &join_checks_group, &join_run_group                                                    \
    }
static const struct verb join_subcommands[] = {
    {.name = "phase",
     .help = "list the phases of a join, or run one",
     .usage = "join phase list\n  kubeadm join phase NAME [ENDPOINT] [flags]",
     .words = "[PHASE] [ENDPOINT]",
     .groups = JOIN_GROUPS},
    {0},
};

#define ON_CONTROL_PLANE "run it on a control plane node (Linux)"
#define ELSEWHERE(command, where)                                                                  \
    { .name = (command), .text = (where), .run = refuse, .hidden = true, .raw = true }

static const struct verb table[] = {
    {.name = "join",
     .help = "join this machine to a cluster as a worker",
     .usage = "join [ENDPOINT] [flags]\n  kubeadm join phase NAME [ENDPOINT] [flags]",
     .text = "Pod network and kube-proxy are left to the cluster's DaemonSets unless the call says "
             "otherwise (--network-plugin, --kube-proxy).",
     .words = "[ENDPOINT]",
     .groups = JOIN_GROUPS,
     .subcommands = join_subcommands,
     .run = verb_join},
    {.name = "reset",
     .help = "undo the join and restore the host",
     .usage = "reset [flags]",
     .groups = {&reset_group},
     .run = reset},
    {.name = "version",
     .help = "show the version of Kubernetes on this machine",
     .usage = "version [-o short|json|yaml]",
     .output = version_output,
     .run = version},
    {.name = "help",
     .help = "help for a command",
     .usage = "help [COMMAND [SUBCOMMAND]]",
     .words = "[COMMAND] [SUBCOMMAND] [NAME]",
     .run = verb_help},
    ELSEWHERE("init", "a control plane does not run on Windows: run it on a Linux machine"),
    ELSEWHERE("token", ON_CONTROL_PLANE ": kubeadm token create --print-join-command"),
    ELSEWHERE("certs", ON_CONTROL_PLANE "; this node's own certificates: winjoin certs"),
    ELSEWHERE("upgrade", ON_CONTROL_PLANE "; this node's own programs: winjoin upgrade"),
    ELSEWHERE("config", ON_CONTROL_PLANE "; for files on this machine: winjoin config validate, "
                                         "winjoin config migrate"),
    ELSEWHERE("kubeconfig", ON_CONTROL_PLANE),
    ELSEWHERE("completion", "winjoin completion powershell"),
    ELSEWHERE("alpha", ON_CONTROL_PLANE),
};

const struct verb *kubeadm_verb(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        if (text_equal(table[i].name, name))
            return &table[i];
    /* A join starts its watchdog process by this verb. */
    return text_equal(name, NIC_WATCHDOG_VERB) ? verb_find(verbs, name) : NULL;
}

void kubeadm_overview(struct text *out) {
    text_addf(out, "%s\nCommands:\n", kubeadm_mark);
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        if (!table[i].hidden)
            text_addf(out, "  %-14s %s\n", table[i].name, table[i].help);
    text_add(out, "\nNot on a worker:");
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        if (table[i].hidden)
            text_addf(out, " %s", table[i].name);
    text_add(out, "\n\nExit codes: 0 done, 1 failed, 130 interrupted.\n"
                  "kubeadm COMMAND --help shows more; winjoin.exe has more commands.\n");
}

/* ---- kubeadm's phases: what it prints for each, and the phases of winjoin that they are ---- */

/* Copied from kubernetes/cmd/kubeadm/app/cmd/join.go. */
const char kubeadm_joined_text[] =
    "\nThis node has joined the cluster:\n"
    "* Certificate signing request was sent to apiserver and a response was received.\n"
    "* The Kubelet was informed of the new secure connection details.\n\n"
    "Run 'kubectl get nodes' on the control-plane to see this node join the cluster.\n\n";

static const struct kubeadm_phase phases[] = {
    {"preflight", "preflight", "[preflight] Running pre-flight checks\n"},
    {"discovery", "preflight", ""},
    {"configuration", "preflight",
     "[preflight] Reading configuration from the \"kubeadm-config\" ConfigMap in namespace "
     "\"kube-system\"...\n"},
    {"artifacts", "kubelet-start", ""},
    {"certificate", "kubelet-start", ""},
    {"vswitch", "kubelet-start", ""},
    {"files", "kubelet-start",
     "[kubelet-start] Writing kubelet configuration to file \"" KUBELET_CONFIG_FILE "\"\n"
     "[kubelet-start] Writing kubelet environment file with flags to file \"" KUBELET_FLAGS_FILE
     "\"\n"},
    {"containerd", "kubelet-start", ""},
    {"kubelet", "kubelet-start", "[kubelet-start] Starting the kubelet\n"},
    {"node", "kubelet-wait-bootstrap",
     "[kubelet-start] Waiting for the kubelet to perform the TLS Bootstrap\n"},
    {NULL, "kubelet-wait-bootstrap", ""}, /* The last row is for all later phases. */
};

const struct kubeadm_phase *kubeadm_phase(const struct join_phase *phase) {
    const struct kubeadm_phase *row = phases;

    while (row->id && !text_equal(row->id, phase->id))
        row++;
    return row;
}
