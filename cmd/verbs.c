/* Lists the verbs with their subcommands, flags and examples. */
#include "cmd/program.h"
#include "diag/reports/forms.h"
#include "netsetup/nic/nic.h"

#define AT(field) offsetof(struct program_options, field)
#define JOIN_ALL                                                                                   \
    &join_cluster_group, &join_node_group, &join_network_group, &join_programs_group,              \
        &join_checks_group
/* An example for the help: the command as kubeadm prints it, with a shortened hash. */
#define EXAMPLE_JOIN                                                                               \
    "10.0.0.10:6443 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash "               \
    "sha256:1234..cdef"

/* ---- flags of the verbs ---- */

/* The -o option with these formats, and --output-file. */
#define OUTPUT(formats)                                                                            \
    {                                                                                              \
        "output", 'o', OPTION_CHOICE, OPTION_WITH_CONFIG, AT(output), formats,                     \
            "format of the result"                                                                 \
    }
#define OUTPUT_FILE                                                                                \
    {                                                                                              \
        "output-file", 0, OPTION_TEXT, OPTION_WITH_CONFIG, AT(output_file), "FILE",                \
            "write the result to FILE instead of standard output, in UTF-8"                        \
    }
const struct option output_options[] = {OUTPUT("text|json|yaml"), OUTPUT_FILE, {0}};
static const struct option discover_output[] = {
    OUTPUT("text|json|yaml|kubeconfig"), OUTPUT_FILE, {0}};
static const struct option routes_output[] = {
    OUTPUT("text|az|aws|gcloud|json|yaml"), OUTPUT_FILE, {0}};
static const struct option diag_output[] = {OUTPUT(DIAG_FORM_CHOICES), OUTPUT_FILE, {0}};

static const struct option global_options[] = {
    {"v", 'v', OPTION_NUMBER, OPTION_WITH_CONFIG, AT(verbosity), "0-5",
     "log level: 0 warnings (default), 1 actions and why, 2 retries, 3 requests to servers, 4 "
     "calls of Windows, 5 their arguments; each level includes those below it"},
    {"log-file", 0, OPTION_TEXT, OPTION_WITH_CONFIG, AT(log_file), "FILE",
     "write the log to this file instead of standard error"},
    {"progress", 0, OPTION_CHOICE, OPTION_WITH_CONFIG, AT(progress), "auto|plain|json|none",
     "how progress is shown on standard error"},
    {"no-color", 0, OPTION_BOOL, OPTION_WITH_CONFIG, AT(no_color), "",
     "no color (NO_COLOR does the same)"},
    {"rootfs", 0, OPTION_TEXT, OPTION_WITH_CONFIG | OPTION_REHEARSAL, AT(rootfs), "DIR",
     "Linux: play a Windows host in this folder (rehearsal)"},
    {"help", 'h', OPTION_BOOL, OPTION_WITH_CONFIG, AT(help), "", "show this help"},
    {0},
};
const struct option_group global_group = {"Output and log", global_options};

static const struct option reset_options[] = {
    {"force", 'f', OPTION_BOOL, 0, AT(yes), "",
     "do not ask; also remove what is winjoin's, but not in the journal"},
    {"dry-run", 0, OPTION_BOOL, 0, AT(join.dry_run), "",
     "print what would be undone; change nothing"},
    {0},
};
static const struct option_group reset_group = {"Reset", reset_options};

static const struct option logs_options[] = {
    {"since", 0, OPTION_TEXT, 0, AT(since), "DURATION", "only lines of the last 30s, 10m, 2h, ..."},
    {"tail", 0, OPTION_NUMBER, OPTION_POSITIVE, AT(tail), "LINES", "only the last lines"},
    {"follow", 'f', OPTION_BOOL, 0, AT(follow), "", "keep showing new lines until Ctrl-C"},
    {0},
};
static const struct option_group logs_group = {"Logs", logs_options};

static const struct option bundle_options[] = {
    {"versions", 0, OPTION_TEXT, 0, AT(versions), "FILE",
     "JSON object, artifact name to version, used instead of the versions that the programs "
     "report"},
    {"kubernetes-version", 0, OPTION_TEXT, 0, AT(join.kubernetes_version), "VERSION",
     "instead of DIR: fetch the programs from upstream's releases"},
    {"source-base", 0, OPTION_TEXT, 0, AT(join.source_base), "URL",
     "proxy of upstream's hosts, URL/dl.k8s.io/..."},
    {"catalog", 0, OPTION_TEXT, 0, AT(join.catalog), "FILE",
     "where programs are published, as \"config print catalog\" prints it"},
    {"tools", 0, OPTION_BOOL, 0, AT(tools), "",
     "with --kubernetes-version: also the programs that a person uses (kubectl, crictl, ctr)"},
    {"images", 0, OPTION_BOOL, 0, AT(images), "",
     "with --kubernetes-version: also the sandbox image, and ctr, which imports it at the join"},
    {"image", 0, OPTION_LIST, 0, AT(join.images), "IMAGE", "also this image; may be repeated"},
    {0},
};
static const struct option bundle_nodes_options[] = {
    {"network-mode", 0, OPTION_CHOICE, 0, AT(join.network_mode), "@mode",
     "only nodes of this mode"},
    {"network-plugin", 0, OPTION_CHOICE, 0, AT(join.network_plugin), "@plugin",
     "only nodes with this plugin"},
    {"kube-proxy", 0, OPTION_CHOICE, 0, AT(join.kube_proxy), "service|none",
     "none: nodes that need no kube-proxy.exe"},
    {0},
};
static const struct option bundle_windows_options[] = {
    {"windows-build", 0, OPTION_NUMBER, 0, AT(windows_build), "BUILD",
     "the nodes' Windows (17763, 20348, 26100), which decides what goes together"},
    {0},
};
static const struct option install_options[] = {
    {"as-kubeadm", 0, OPTION_BOOL, 0, AT(as_kubeadm), "",
     "also as kubeadm.exe, under which name it does what kubeadm does on a worker"},
    {"to", 0, OPTION_TEXT, 0, AT(to), "DIR", "the folder (default C:\\k)"},
    {"force", 'f', OPTION_BOOL, 0, AT(yes), "",
     "with --as-kubeadm: also where another kubeadm.exe is, which is kept as kubeadm.exe.kept"},
    {"remove", 0, OPTION_BOOL, 0, AT(remove), "",
     "with --as-kubeadm: remove it, and give the kept kubeadm.exe back"},
    {0},
};
static const struct option_group install_group = {"Install", install_options};
static const struct option_group bundle_group = {"Bundle", bundle_options},
                                 bundle_nodes_group = {"Programs to require", bundle_nodes_options},
                                 bundle_windows_group = {"Windows", bundle_windows_options};

static const struct option validate_options[] = {
    {"config", 0, OPTION_TEXT, 0, AT(join.config), "FILE", "the file to check"},
    {0},
};
static const struct option migrate_options[] = {
    {"old-config", 0, OPTION_TEXT, 0, AT(old_config), "FILE", "the file to read"},
    {"new-config", 0, OPTION_TEXT, 0, AT(new_config), "FILE",
     "the file to write (default: standard output)"},
    {0},
};
#define CONTEXT                                                                                    \
    { "context", 0, OPTION_TEXT, 0, AT(context), "NAME", "context of the kubeconfig" }
static const struct option defaults_options[] = {
    {"config", 0, OPTION_TEXT, 0, AT(join.config), "FILE",
     "use the NodeConfiguration of this file"},
    {"kubeconfig", 0, OPTION_TEXT, 0, AT(kubeconfig), "FILE",
     "read the network's settings from this cluster"},
    CONTEXT,
    JOIN_TARGET_OPTIONS(JOIN_FLAG){0},
};
static const struct option routes_options[] = {
    {"kubeconfig", 0, OPTION_TEXT, 0, AT(kubeconfig), "FILE",
     "the cluster to read (default: this node's own)"},
    CONTEXT,
    {"resource-group", 0, OPTION_TEXT, 0, AT(resource_group), "NAME",
     "az: the resource group of the route table"},
    {"route-table", 0, OPTION_TEXT, 0, AT(route_table), "NAME",
     "az: the name of the route table; aws: its id"},
    {"network", 0, OPTION_TEXT, 0, AT(network), "NAME", "gcloud: the VPC network"},
    {0},
};
static const struct option_group validate_group = {"File", validate_options},
                                 migrate_group = {"Files", migrate_options},
                                 defaults_group = {"Cluster's defaults", defaults_options},
                                 routes_group = {"Cluster and cloud", routes_options};

/* ---- subcommands of the verbs ---- */

static const struct verb join_subcommands[] = {
    {.name = "phase",
     .help = "list the phases of a join, or run one",
     .usage = "join phase list\n  winjoin join phase NAME [ENDPOINT] [flags]",
     .text =
         "On a node, a phase uses the options of its join (labels, taints, patches and others) "
         "where the command does not give them; an empty value, as in --node-labels=, ends one.",
     .examples = {{"list the phases in their order", "join phase list"},
                  {"write the network and the CNI file again on a node", "join phase pod-network"}},
     .words = "[PHASE] [ENDPOINT]",
     .groups = {JOIN_ALL, &join_run_group}},
    {0},
};
static const struct verb bundle_subcommands[] = {
    {.name = "create",
     .help = "pack a folder of programs, or upstream's releases",
     .usage = "bundle create DIR FILE.zip [flags]\n"
              "  winjoin bundle create --kubernetes-version VERSION FILE.zip [flags]\n"
              "  winjoin bundle create --kubernetes-version VERSION --image IMAGE DIR [flags]",
     .text =
         "Packs the node's programs in the folder (kubelet.exe, containerd.exe, ...), reads their "
         "versions and lists what nodes also need. With --kubernetes-version it downloads them "
         "from upstream's releases instead and compares each with its published SHA-256.",
     .examples =
         {{"pack the programs in D:\\programs",
           "bundle create D:\\programs D:\\winjoin-bundle.zip"},
          {"the same, and list what nodes with flannel also need",
           "bundle create D:\\programs D:\\bundle.zip --network-plugin flannel"},
          {"fetch and pack what a node with flannel needs",
           "bundle create --kubernetes-version v1.37.1 --network-plugin flannel D:\\bundle.zip"},
          {"also an image for Windows Server 2022",
           "bundle create --kubernetes-version v1.37.1 --windows-build 20348 --image "
           "mcr.microsoft.com/windows/nanoserver:ltsc2022 D:\\bundle"}},
     .words = "DIR [FILE]",
     .groups = {&bundle_group, &bundle_nodes_group, &bundle_windows_group}},
    {.name = "verify",
     .help = "check each program of a bundle against its lock",
     .usage = "bundle verify FILE [flags]",
     .examples = {{"check a bundle", "bundle verify D:\\winjoin-bundle.zip"}},
     .words = "FILE",
     .groups = {&bundle_windows_group}},
    {.name = "show",
     .help = "list what a bundle holds and what nodes also need",
     .usage = "bundle show FILE [flags]",
     .examples = {{"list a bundle", "bundle show D:\\winjoin-bundle.zip"}},
     .words = "FILE",
     .groups = {&bundle_nodes_group, &bundle_windows_group}},
    {.name = "diff",
     .help = "compare the programs of two bundles",
     .usage = "bundle diff FILE FILE",
     .text = "It compares names, versions, SHA-256 and places as the locks have them. Exit code 0: "
             "they are the same, 1: they differ.",
     .examples = {{"show what a newer bundle changes", "bundle diff D:\\old.zip D:\\new.zip"}},
     .words = "FILE FILE"},
    {0},
};
static const struct verb config_subcommands[] = {
    {.name = "validate",
     .help = "check a configuration file",
     .usage = "config validate --config FILE",
     .examples = {{"check a file", "config validate --config winjoin.yaml"}},
     .groups = {&validate_group}},
    {.name = "migrate",
     .help = "convert an old configuration file to the current version",
     .usage = "config migrate --old-config FILE [--new-config FILE]",
     .examples = {{"print the file in the current version", "config migrate --old-config old.yaml"},
                  {"write it to a file",
                   "config migrate --old-config old.yaml --new-config new.yaml"}},
     .groups = {&migrate_group}},
    {.name = "print",
     .help = "print defaults, the catalog, kubeadm's objects or JSON Schemas",
     .usage = "config print join-defaults|catalog|kubeadm-objects\n"
              "  winjoin config print schema [DOCUMENT]",
     .text = "The schemas are those of the documents that winjoin prints with -o json, publishes "
             "or reads; without DOCUMENT it lists them.",
     .examples = {{"start your own file from the defaults",
                   "config print join-defaults --output-file winjoin.yaml"},
                  {"print where programs are published", "config print catalog"},
                  {"print what joins read in a cluster, for one that kubeadm did not make",
                   "config print kubeadm-objects --output-file objects.yaml"},
                  {"print what a NodeStatus has", "config print schema NodeStatus"}},
     .words = "join-defaults|catalog|kubeadm-objects|schema [DOCUMENT]"},
    {.name = "cluster",
     .help = "print what an administrator applies once: defaults and rights",
     .usage = "config cluster [flags] | kubectl apply -f -",
     .text = "It holds the defaults for every node, and the rights that kube-proxy and flanneld "
             "need when they run as services under the node's identity.",
     .examples = {{"with the settings of the cluster's network",
                   "config cluster --kubeconfig admin.conf | kubectl apply -f -"},
                  {"with settings for flannel",
                   "config cluster --network-plugin flannel | kubectl apply -f -"}},
     .groups = {&defaults_group, &join_network_group, &join_programs_group}},
    {.name = "routes",
     .help = "print the routes to pods that the network needs",
     .usage = "config routes [flags]",
     .text = "For nodes that joined with --routes print or none: a line for each node and family, "
             "as text or as a command. A word in capitals is to be replaced. The machines must be "
             "allowed to forward (Azure: IP forwarding of the network interface, AWS: source/dest "
             "check off, Google Cloud: canIpForward).",
     .examples = {{"print the routes of this node's cluster", "config routes"},
                  {"print commands for Azure",
                   "config routes -o az --resource-group k8s --route-table pods"},
                  {"print commands for Google Cloud, on another machine",
                   "config routes --kubeconfig admin.conf -o gcloud"}},
     .output = routes_output,
     .groups = {&routes_group}},
    {0},
};

static const struct verb certs_subcommands[] = {
    {.name = "renew",
     .help = "get other certificates for this node now",
     .usage = "certs renew [flags]",
     .text = "It asks for another client certificate with the one that the node has, as the "
             "kubelet does by itself after some 80 % of its life, tests it at the API server, and "
             "stores it beside the old one. Where the cluster signs the kubelet's serving "
             "certificate, it asks for another one of these, too. Then it restarts the kubelet, "
             "which reads them at its start; pods keep running. Until a request is approved and "
             "signed the old one stays in use.",
     .examples = {{"renew the certificates now", "certs renew"}},
     .groups = {&certs_group}},
    {0},
};

/* ---- the verbs ---- */

const struct verb verbs[] = {
    {.name = "join",
     .help = "make this machine a Ready node with a working pod network",
     .usage = "join [ENDPOINT] [flags]\n  winjoin join phase list\n  winjoin join phase NAME "
              "[ENDPOINT] [flags]",
     .text = "The previous state is recorded before each change: a join that was interrupted "
             "continues when the same command runs again, and winjoin reset undoes it. A whole "
             "\"kubeadm join ...\" line may follow.",
     .examples = {{"join a cluster", "join " EXAMPLE_JOIN " --bundle D:\\winjoin-bundle.zip"},
                  {"show what would be done; change nothing", "join " EXAMPLE_JOIN " --dry-run"},
                  {"join with a configuration file", "join --config winjoin.yaml"}},
     .words = "[ENDPOINT]",
     .groups = {JOIN_ALL, &join_run_group},
     .subcommands = join_subcommands,
     .run = verb_join},
    {.name = "preflight",
     .help = "check that this machine can become a node; changes nothing",
     .usage = "preflight [ENDPOINT] [flags]",
     .text = "With an endpoint it also checks what a join would find in that cluster.",
     .examples = {{"check only this machine", "preflight"},
                  {"check this machine for a cluster", "preflight " EXAMPLE_JOIN}},
     .words = "[ENDPOINT]",
     .groups = {JOIN_ALL},
     .taken = {&join_run_group},
     .run = verb_preflight},
    {.name = "discover",
     .help = "verify the cluster and print its kubeconfig; changes nothing",
     .anywhere = true,
     .usage = "discover [ENDPOINT] [flags]",
     .text = "With -o kubeconfig exactly the verified bytes are printed.",
     .examples = {{"check that the cluster has this CA", "discover " EXAMPLE_JOIN},
                  {"write a kubeconfig for it",
                   "discover " EXAMPLE_JOIN " -o kubeconfig --output-file cluster.conf"}},
     .words = "[ENDPOINT]",
     .output = discover_output,
     .groups = {&join_cluster_group},
     .taken = {&join_node_group, &join_network_group, &join_programs_group, &join_checks_group,
               &join_run_group},
     .run = verb_discover,
     .secret = true},
    {.name = "diag",
     .help = "test the nine pod flows and explain those that fail",
     .anywhere = true,
     .usage = "diag [flags]",
     .examples = {{"test this node (kubectl winjoin diag: the cluster of the context)", "diag"},
                  {"test a whole cluster, from any machine", "diag --kubeconfig cluster.conf"},
                  {"collect all evidence in one file", "diag --collect diag.zip"},
                  {"evaluate that file on another machine", "diag --replay diag.zip"}},
     .output = diag_output,
     .groups = {&diag_group, &diag_cluster_group},
     .run = verb_diag},
    {.name = "status",
     .help = "show the state of this node",
     .usage = "status [flags]",
     .text = "Exit code 0: joined and well; 1: not, and the last lines say why.",
     .examples = {{"show the state", "status"},
                  {"show it as JSON, for a script", "status -o json"}},
     .run = verb_status},
    {.name = "logs",
     .help = "show winjoin's and the services' logs in one stream",
     .usage = "logs [SERVICE] [flags]",
     .text = "Lines are ordered by time; each begins with its service's name. Without SERVICE all "
             "are shown, winjoin's own too. Ctrl-C ends --follow with exit code 0.",
     .examples = {{"show the last ten minutes", "logs --since 10m"},
                  {"follow the kubelet's log", "logs kubelet --follow"}},
     .words = "[SERVICE]",
     .groups = {&logs_group},
     .run = verb_logs},
    {.name = "reset",
     .help = "undo the join and restore the host",
     .usage = "reset [flags]",
     .examples = {{"show what would be undone; change nothing", "reset --dry-run"},
                  {"undo without a question", "reset --force"}},
     .groups = {&reset_group},
     .run = verb_reset},
    {.name = "install",
     .help = "copy winjoin.exe to its place, also as kubeadm.exe",
     .usage = "install [--as-kubeadm] [flags]",
     .text = "For images: what calls kubeadm join on such a machine, as Cluster API does, calls "
             "winjoin.",
     .examples = {{"prepare an image for Cluster API", "install --as-kubeadm"},
                  {"replace the kubeadm.exe that the image has", "install --as-kubeadm --force"},
                  {"remove it and restore that kubeadm.exe", "install --as-kubeadm --remove"}},
     .groups = {&install_group},
     .run = verb_install},
    {.name = "prepare",
     .help = "install what needs no cluster, for an image of this server",
     .usage = "prepare [flags]",
     .text =
         "Programs, containerd, images and folders are there when a clone of this server "
         "joins. Nothing of it names this machine. A join that fails with --on-failure rollback "
         "leaves it as it was; winjoin reset undoes it.",
     .examples = {{"prepare for one version, with one image",
                   "prepare --kubernetes-version v1.37.1 --images "
                   "mcr.microsoft.com/windows/nanoserver:ltsc2022"},
                  {"prepare from a bundle", "prepare --bundle D:\\winjoin-bundle.zip"}},
     .groups = {&prepare_programs_group, &prepare_group},
     .run = verb_prepare},
    {.name = "upgrade",
     .help = "replace this node's programs with newer ones",
     .usage = "upgrade [flags]",
     .text = "The new programs are written beside the old ones, services are switched one after "
             "the other, and the node is tested; if a step fails, the upgrade goes back to what "
             "ran before. An upgrade that was stopped continues when the same command runs again. "
             "Without a version it takes that of the cluster.",
     .examples = {{"show what would be done; change nothing", "upgrade --dry-run"},
                  {"evict the pods, then upgrade to the cluster's version", "upgrade --drain"},
                  {"upgrade from a bundle", "upgrade --bundle D:\\winjoin-bundle.zip"}},
     .groups = {&join_programs_group, &upgrade_group},
     .run = verb_upgrade},
    {.name = "bundle",
     .help = "a node's programs in one file, for offline use",
     .anywhere = true,
     .subcommands = bundle_subcommands,
     .run = verb_bundle},
    {.name = "config",
     .help = "check, convert and print configuration files and defaults",
     .anywhere = true,
     .text = "A file holds a JoinConfiguration (kubeadm.k8s.io/v1beta4 or v1beta3), a "
             "NodeConfiguration (winjoin.io/v1alpha1) or both.",
     .subcommands = config_subcommands,
     .run = verb_config,
     .secret = true},
    {.name = "certs",
     .help = "show or renew the node's certificates",
     .usage = "certs [flags]\n  winjoin certs renew [flags]",
     .examples = {{"show how long the certificates are valid", "certs"}},
     .subcommands = certs_subcommands,
     .run = verb_certs},
    {.name = "capabilities",
     .help = "show what this Windows build and HNS support",
     .usage = "capabilities [flags]",
     .examples = {{"show them", "capabilities"},
                  {"show them as JSON, for a script", "capabilities -o json"}},
     .run = verb_capabilities},
    {.name = "probe",
     .help = "used inside pods by diag",
     .usage = "probe KIND TARGET ...",
     .run = verb_probe,
     .hidden = true,
     .raw = true},
    {.name = "service",
     .help = "used by the SCM: hosts a console program as a service",
     .usage = "service run NAME",
     .words = "run NAME",
     .run = verb_service,
     .hidden = true},
    {.name = NIC_WATCHDOG_VERB,
     .help = "started by join and reset: restores the network adapter when they die",
     .usage = NIC_WATCHDOG_VERB,
     .run = verb_watchdog,
     .hidden = true},
    {.name = "completion",
     .help = "print the completion script of a shell",
     .usage = "completion powershell|bash|zsh|fish",
     .text = "The first lines of its output say how to load it in every session.",
     .examples = {{"load it into this PowerShell session",
                   "completion powershell | Out-String | Invoke-Expression"}},
     .words = "powershell|bash|zsh|fish",
     .run = verb_completion},
    {.name = "__complete",
     .help = "asked by the shells' completion: what may come next",
     .usage = "__complete WORD ... =BEGINNING",
     .run = verb_complete,
     .hidden = true,
     .raw = true},
    {.name = "version",
     .help = "show the version of winjoin and its libraries",
     .anywhere = true,
     .usage = "version [-o json]",
     .examples = {{"show the libraries too, as JSON", "version -o json"}},
     .run = verb_version},
    {.name = "help",
     .help = "help for a command",
     .anywhere = true,
     .usage = "help [COMMAND [SUBCOMMAND]]",
     .examples = {{"help for a subcommand", "help config cluster"},
                  {"help for a phase of the join", "help join phase kubelet"}},
     .words = "[COMMAND] [SUBCOMMAND] [NAME]",
     .run = verb_help},
    {0},
};

const struct verb *verb_find(const struct verb *table, const char *name) {
    for (const struct verb *verb = table; verb && verb->name; verb++)
        if (text_equal(verb->name, name))
            return verb;
    return NULL;
}

static void add_groups(const struct option_group *const *groups, size_t max,
                       const struct option **ret, size_t *n) {
    for (size_t i = 0; i < max && groups[i]; i++) {
        bool there = false;

        for (size_t k = 0; k < *n; k++)
            there = there || ret[k] == groups[i]->options;
        if (!there)
            ret[(*n)++] = groups[i]->options;
    }
}

void verb_tables(const struct verb *verb, const struct option *ret[VERB_TABLES_MAX]) {
    size_t n = 0;

    ret[n] = verb->output;
    for (const struct verb *sub = verb->subcommands; !ret[n] && sub && sub->name; sub++)
        ret[n] = sub->output;
    if (!ret[n])
        ret[n] = output_options;
    n++;
    ret[n++] = global_group.options;
    add_groups(verb->groups, ARRAY_SIZE(verb->groups), ret, &n);
    add_groups(verb->taken, ARRAY_SIZE(verb->taken), ret, &n);
    for (const struct verb *sub = verb->subcommands; sub && sub->name; sub++)
        add_groups(sub->groups, ARRAY_SIZE(sub->groups), ret, &n);
    ret[n] = NULL;
}
