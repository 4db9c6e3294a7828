/* The table of verbs, and the help that it prints. */
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "cmd/output.h"
#include "cmd/program.h"

#define AT(field) offsetof(struct program_options, field)

static const struct option reset_options[] = {
    {"force", 'f', OPTION_BOOL, AT(yes), "", "do not ask", 0},
    {"dry-run", 0, OPTION_BOOL, AT(join.dry_run), "", "tell what would be taken back", 0},
    {0},
};
static const struct option diag_options[] = {
    {"kubeconfig", 0, OPTION_TEXT, AT(kubeconfig), "FILE",
     "diagnose the cluster of this kubeconfig (not in this version)", 0},
    {"replay", 0, OPTION_TEXT, AT(replay), "FILE",
     "judge a saved report (diag -o json) again; measures nothing", 0},
    {"external-ip", 0, OPTION_TEXT, AT(external_ip), "IP:PORT", "target outside, by address", 0},
    {"external-name", 0, OPTION_TEXT, AT(external_name), "NAME:PORT", "target outside, by name", 0},
    {"external-dns", 0, OPTION_TEXT, AT(external_dns), "IP", "DNS server outside, for UDP", 0},
    {0},
};
static const struct option bundle_options[] = {
    {"versions", 0, OPTION_TEXT, AT(versions), "FILE",
     "bundle create: JSON object, artefact name to version", 0},
    {0},
};

static const struct option config_options[] = {
    {"config", 0, OPTION_TEXT, AT(join.config), "FILE",
     "validate: the file; cluster: take its NodeConfiguration", 0},
    {"old-config", 0, OPTION_TEXT, AT(old_config), "FILE", "migrate: the file to read", 0},
    {"new-config", 0, OPTION_TEXT, AT(new_config), "FILE",
     "migrate: the file to write (default: standard output)", 0},
    {"kubeconfig", 0, OPTION_TEXT, AT(kubeconfig), "FILE",
     "cluster: ask this cluster which network it has", 0},
    {"external-ip", 0, OPTION_TEXT, AT(join.external_ip), "IP:PORT",
     "cluster: what diag asks outside, by address", 0},
    {"external-name", 0, OPTION_TEXT, AT(join.external_name), "NAME:PORT",
     "cluster: what diag asks outside, by name", 0},
    {"external-dns", 0, OPTION_TEXT, AT(join.external_dns), "IP",
     "cluster: the DNS server outside that diag asks by UDP", 0},
    {0},
};

static const struct verb table[] = {
    {"join",
     "make this machine a Ready node whose pods can talk",
     "join [ENDPOINT] [flags]\n  winjoin join phase list\n  winjoin join phase NAME [ENDPOINT] "
     "[flags]",
     "Everything that stood before is written down first: a join that was stopped goes on when the "
     "same command runs again, and winjoin reset takes it back. A whole \"kubeadm join ...\" line "
     "may follow.",
     {join_kubeadm_options, join_node_options, join_own_options},
     verb_join,
     false,
     false},
    {"preflight",
     "check that this Windows is fit to be a node; change nothing",
     "preflight [ENDPOINT] [flags]",
     "",
     {join_kubeadm_options, join_node_options, join_own_options},
     verb_preflight,
     false,
     false},
    {"discover",
     "prove the cluster and print its kubeconfig; change nothing",
     "discover [ENDPOINT] [flags]",
     "With -o kubeconfig exactly the proven bytes are printed.",
     {join_kubeadm_options, join_node_options, join_own_options},
     verb_discover,
     false,
     false},
    {"diag",
     "which of the nine pod flows work, and why the others do not",
     "diag [flags]",
     "",
     {diag_options},
     verb_diag,
     false,
     false},
    {"status", "what this node is", "status [flags]", "", {0}, verb_status, false, false},
    {"reset",
     "take back what join did; the host as it was",
     "reset [flags]",
     "",
     {reset_options},
     verb_reset,
     false,
     false},
    {"upgrade",
     "newer programs on a joined node (not in this version)",
     "upgrade [flags]",
     "",
     {0},
     verb_upgrade,
     false,
     false},
    {"bundle",
     "artifacts for offline use",
     "bundle create DIR FILE.zip\n  winjoin bundle verify FILE\n  winjoin bundle show FILE",
     "",
     {bundle_options},
     verb_bundle,
     false,
     false},
    {"config",
     "check, renew and print configuration files; the cluster's defaults",
     "config validate --config FILE\n  winjoin config migrate --old-config FILE [--new-config "
     "FILE]\n  winjoin config print join-defaults\n  winjoin config cluster [flags] | kubectl "
     "apply -f -",
     "A file holds a JoinConfiguration (kubeadm.k8s.io/v1beta4 or v1beta3), a NodeConfiguration "
     "(winjoin.io/v1alpha1) or both. cluster prints what an administrator applies once: the "
     "defaults for every node, and the rights that kube-proxy and flanneld need when they run "
     "as services under the node's identity.",
     {config_options, join_node_options},
     verb_config,
     false,
     false},
    {"certs", "the node's certificates", "certs [flags]", "", {0}, verb_certs, false, false},
    {"capabilities",
     "what this Windows build and HNS can do",
     "capabilities [flags]",
     "",
     {0},
     verb_capabilities,
     false,
     false},
    {"probe", "used inside pods by diag", "probe KIND TARGET ...", "", {0}, verb_probe, true, true},
    {"service",
     "used by the SCM: hosts a console program as a service",
     "service run NAME",
     "",
     {0},
     verb_service,
     true,
     false},
    {"completion",
     "completion for a shell",
     "completion powershell|bash",
     "",
     {0},
     verb_completion,
     false,
     false},
    {"version",
     "winjoin's version and its libraries'",
     "version [-o json]",
     "",
     {0},
     verb_version,
     false,
     false},
    {"help", "help for a command", "help [COMMAND]", "", {0}, verb_help, false, false},
};

const struct verb *verbs(size_t *ret_count) {
    *ret_count = ARRAY_SIZE(table);
    return table;
}

const struct verb *verb_find(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        if (text_equal(table[i].name, name))
            return &table[i];
    return NULL;
}

int verb_unknown(const char *name, struct error *err) {
    const char *names[ARRAY_SIZE(table)];

    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        names[i] = table[i].name;
    (void)error_set(err, ERROR_USAGE, "unknown command \"%.60s\"", name);
    (void)nearest_hint(err, "winjoin ", name, names, ARRAY_SIZE(table));
    return error_hint(err, "winjoin help lists the commands");
}

static void overview(struct text *out) {
    text_add(out,
             "winjoin: a bare Windows Server becomes a Ready Kubernetes node whose pod network "
             "has\nbeen proved to work, or is left exactly as it was found.\n\n"
             "  winjoin join <ip>:6443 --token T --discovery-token-ca-cert-hash sha256:H\n\n"
             "Commands:\n");
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        if (!table[i].hidden)
            text_addf(out, "  %-14s %s\n", table[i].name, table[i].help);
    text_add(out,
             "\nExit codes: 0 done, 1 failed, 2 preflight refused, 3 wrong call, 4 untrusted,\n"
             "5 joined but flows fail, 6 restart Windows first, 130 interrupted.\n"
             "winjoin COMMAND --help tells more.\n");
}

static void verb_text(const struct verb *verb, struct text *out) {
    text_addf(out, "%s\n\nUsage:\n  winjoin %s\n", verb->help, verb->usage);
    if (*verb->text) {
        text_add_char(out, '\n');
        options_wrap(out, verb->text, 0, 0);
    }
    for (size_t i = 0; i < ARRAY_SIZE(verb->tables) && verb->tables[i]; i++) {
        text_add(out, i == 0 ? "\nFlags:\n" : "");
        options_help(verb->tables[i], out);
    }
    text_add(out, "\nEverywhere:\n");
    options_help(global_options, out);
    text_add(out, "\nEach flag can also be given as WINJOIN_<FLAG> in the environment.\n");
}

int verb_help(struct program *program, struct error *err) {
    const char *name = program->words.count ? program->words.items[0] : NULL;
    const struct verb *verb = name && !text_equal(name, "help") ? verb_find(name) : NULL;
    struct text out = {0};

    if (name && !verb && !text_equal(name, "help"))
        return verb_unknown(name, err);
    if (verb)
        verb_text(verb, &out);
    else
        overview(&out);
    output_bytes(text_str(&out), out.len);
    text_free(&out);
    return 0;
}
