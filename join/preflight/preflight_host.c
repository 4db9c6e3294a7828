/* Checks Windows itself for preflight: rights, version, features, names, disk, policies. */
#include "join/configuration/join_configuration.h"
#include "join/found/need.h"
#include "join/preflight/preflight_checks.h"
#include "netsetup/windows_builds.h"
#include "services/service_table.h"

#define VERSION_KEY "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion"
#define FIREWALL_POLICY_KEY "SOFTWARE\\Policies\\Microsoft\\WindowsFirewall\\"
#define DEFENDER_KEY "SOFTWARE\\Microsoft\\Windows Defender\\Exclusions\\"
#define DEFENDER_POLICY_KEY "SOFTWARE\\Policies\\Microsoft\\Windows Defender\\Exclusions\\Paths"
enum { DISK_MIN = 30, GIGABYTE = 1000 * 1000 * 1000, NETBIOS_MAX = 15 };

enum check_verdict check_elevated(const struct machine *machine, struct check_finding *finding) {
    return machine->found->facts.elevated
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD,
                           "this process must be run by a user with elevated privileges");
}

enum check_verdict check_architecture(const struct machine *machine,
                                      struct check_finding *finding) {
    const char *found = machine->found->facts.architecture;

    if (text_equal(found, "amd64"))
        return CHECK_FINE;
    if (!*found || text_equal(found, "unknown"))
        return check_say(finding, CHECK_UNKNOWN, "Windows does not report the processor type");
    return check_say(finding, CHECK_BAD, "the processor is %s; Windows nodes are amd64", found);
}

enum check_verdict check_server(const struct machine *machine, struct check_finding *finding) {
    if (text_starts_with(machine->found->facts.installation_type, "Server"))
        return CHECK_FINE;
    if (!*machine->found->facts.installation_type)
        return check_say(finding, CHECK_UNKNOWN, "the registry has no InstallationType");
    return check_say(finding, CHECK_BAD, "this is Windows %s (%s), not a Server",
                     machine->found->facts.installation_type, machine->found->facts.product);
}

enum check_verdict check_build(const struct machine *machine, struct check_finding *finding) {
    if (!machine->found->facts.build)
        return check_say(finding, CHECK_UNKNOWN, "the registry has no CurrentBuildNumber");
    return windows_build_name(machine->found->facts.build)
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD,
                           "build %u is not one of 17763 (2019), 20348 (2022), 26100 (2025); "
                           "images of another build do not start (0xc0370101)",
                           machine->found->facts.build);
}

enum check_verdict check_patch(const struct machine *machine, struct check_finding *finding) {
    const struct host_facts *facts = &machine->found->facts;
    _cleanup_json_ json_t *problems = windows_problems_json(machine->host, facts, &finding->why);
    _cleanup_(text_free) struct text ids = {0};

    if (!windows_build_name(facts->build))
        return check_say(finding, CHECK_NOT_RUN, "the updates of build %u are not known to winjoin",
                         facts->build);
    if (!facts->revision)
        return check_say(finding, CHECK_UNKNOWN, "the registry has no UBR");
    if (!problems)
        return CHECK_UNKNOWN;
    json_each(problems, i, problem) {
        if (machine->found->options.apply_host_fixes && json_text_at(problem, "override"))
            continue;
        if (!ids.len)
            check_hint(finding, "%s", json_text_at(problem, "fix"));
        text_addf(&ids, "%s%s: %s", ids.len ? "; " : "", json_text_at(problem, "id"),
                  json_text_at(problem, "breaks"));
    }
    return ids.len ? check_say(finding, CHECK_BAD, "10.0.%u.%u has a known fault: %s", facts->build,
                               facts->revision, text_str(&ids))
                   : CHECK_FINE;
}

/* Checks registry values that upstream's own images have on this build and other servers lack.
 * Values that end a known fault are left to check WindowsPatch; values for every build are listed
 * by `winjoin capabilities`. */
enum check_verdict check_host_fixes(const struct machine *machine, struct check_finding *finding) {
    _cleanup_json_ json_t *missing =
        host_fixes_missing_json(machine->host, &machine->found->facts, &finding->why);
    _cleanup_(text_free) struct text names = {0};

    if (!missing)
        return CHECK_UNKNOWN;
    json_each(missing, i, fix) {
        if (!json_text_at(fix, "problem") && !json_bool_at(fix, "everyBuild", false))
            text_addf(&names, "%s%s (%s)", names.len ? ", " : "", json_text_at(fix, "value"),
                      json_text_at(fix, "why"));
    }
    if (!names.len)
        return CHECK_FINE;
    if (machine->found->options.apply_host_fixes)
        return check_say(finding, CHECK_NOT_RUN, "the join sets %s", text_str(&names));
    return check_say(finding, CHECK_BAD, "not in the registry: %s", text_str(&names));
}

enum check_verdict check_containers_feature(const struct machine *machine,
                                            struct check_finding *finding) {
    const struct join_options *o = &machine->found->options;

    if (o->install_features && o->dry_run && !machine->found->facts.containers_feature)
        return check_say(finding, CHECK_NOT_RUN,
                         "the join installs the Windows feature Containers");
    if (machine->found->facts.containers_feature < 0)
        return check_say(finding, CHECK_UNKNOWN,
                         "DISM does not report whether Containers is installed");
    return machine->found->facts.containers_feature
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD, "the Windows feature Containers is not installed");
}

enum check_verdict check_restart(const struct machine *machine, struct check_finding *finding) {
    if (machine->found->facts.restart_pending < 0)
        return check_say(finding, CHECK_UNKNOWN,
                         "the registry does not show whether a restart is pending");
    return machine->found->facts.restart_pending
               ? check_say(finding, CHECK_BAD, "a restart is pending")
               : CHECK_FINE;
}

enum check_verdict check_page_file(const struct machine *machine, struct check_finding *finding) {
    if (!machine->found->facts.memory_bytes)
        return check_say(finding, CHECK_UNKNOWN, "Windows does not report the amount of memory");
    return machine->found->facts.page_file_bytes
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD,
                           "no page file: Windows has no OOM killer, so running out of "
                           "memory stops the node");
}

/* Returns the folder in which containerd keeps images in *ret, which the caller frees. */
static int data_folder(const struct machine *machine, char **ret, struct check_finding *finding) {
    return find_containerd(machine->host, machine->found, &finding->why) < 0
               ? -1
               : containerd_data_folder(machine->host, &machine->found->containerd, ret,
                                        &finding->why);
}

static enum check_verdict judge_space(const struct machine *machine, const char *what,
                                      const char *folder, struct check_finding *finding) {
    char drive[] = "C:\\";
    uint64_t bytes;

    *drive = *folder;
    if (host_free_space(machine->host, drive, &bytes, &finding->why) < 0)
        return finding->why.kind != ERROR_ABSENT
                   ? CHECK_UNKNOWN
                   : check_say(finding, CHECK_BAD, "%s is %s, on a drive that is not there", what,
                               folder);
    return bytes >= (uint64_t)DISK_MIN * GIGABYTE
               ? CHECK_FINE
               : check_say(finding, CHECK_WARN, "%.2s has %.1f GB free; images and logs need %d GB",
                           drive, (double)bytes / GIGABYTE, DISK_MIN);
}

/* Checks the space for images. The kubelet's root may be on another drive. */
enum check_verdict check_disk(const struct machine *machine, struct check_finding *finding) {
    static const char root[] = "root-dir=";
    const struct text_list *arguments = &machine->found->options.kubelet_extra_args;
    _cleanup_(freep) char *folder = NULL;
    enum check_verdict verdict;

    if (data_folder(machine, &folder, finding) < 0)
        return CHECK_UNKNOWN;
    if (*folder != 'C')
        check_hint(finding, "correct root in containerd's configuration, or make room on %.2s",
                   folder);
    verdict = judge_space(machine, "containerd's root", folder, finding);
    for (size_t i = 0; i < arguments->count && verdict == CHECK_FINE; i++) {
        const char *at = arguments->items[i] + strlen(root);

        if (!text_starts_with(arguments->items[i], root) || !*at || at[1] != ':')
            continue;
        check_hint(finding, "correct root-dir among the kubelet's arguments, or make room on %.2s",
                   at);
        verdict = judge_space(machine, "the kubelet's root-dir", at, finding);
    }
    return verdict;
}

/* The kubelet also puts the name into the label kubernetes.io/hostname. With a longer value the API
 * server refuses the Node. */
enum { LABEL_VALUE_MAX = 63 };

enum check_verdict check_node_name_of_host(const struct machine *machine,
                                           struct check_finding *finding) {
    const char *name = machine->found->node_name;
    bool near = !text_equal(name, "unnamed");

    if (name && strlen(name) > LABEL_VALUE_MAX) {
        check_hint(finding, "give a shorter one: --node-name NAME");
        return check_say(finding, CHECK_BAD,
                         "the node's name has %zu characters: the kubelet puts it into the label "
                         "kubernetes.io/hostname, which holds %d",
                         strlen(name), LABEL_VALUE_MAX);
    }
    if (!machine->found->odd_host_name)
        return CHECK_FINE;
    check_hint(finding, "name the node: --node-name %s", near ? name : "NAME");
    return check_say(finding, CHECK_BAD,
                     "the host name \"%.60s\" cannot be a node's name: " JOIN_NODE_NAME_RULE,
                     machine->found->facts.host_name);
}

/* The NetBIOS name has only the first 15 characters of the host name. %COMPUTERNAME% and programs
 * that read it then differ from the node's name. */
enum check_verdict check_host_name(const struct machine *machine, struct check_finding *finding) {
    const char *name = machine->found->facts.host_name;

    if (text_equal(machine->found->node_name, ""))
        return check_say(finding, CHECK_NOT_RUN, "the name of a prepared server changes later");
    if (!*name)
        return check_say(finding, CHECK_UNKNOWN, "Windows does not report its host name");
    if (strlen(name) > NETBIOS_MAX)
        return check_say(finding, CHECK_BAD,
                         "host name \"%s\" is longer than NetBIOS' %d characters: some tools will "
                         "show \"%.15s\"",
                         name, NETBIOS_MAX, name);
    return CHECK_FINE;
}

enum check_verdict check_system_drive(const struct machine *machine,
                                      struct check_finding *finding) {
    _cleanup_(freep) char *root = NULL;
    int found = check_registry(machine, finding, VERSION_KEY, "SystemRoot", &root);

    if (found < 0)
        return CHECK_UNKNOWN;
    if (!found)
        return check_say(finding, CHECK_UNKNOWN, "the registry has no SystemRoot");
    return (*root == 'C' || *root == 'c')
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD,
                           "Windows is in %s: many images and tools expect C:", root);
}

/* kubeadm needs xcopy and refuses a Windows without it (since 1.33); winjoin does not use it. */
enum check_verdict check_xcopy(const struct machine *machine, struct check_finding *finding) {
    static const char system[] = "C:\\Windows\\System32";

    if (host_file_type(machine->host, "C:\\Windows\\System32\\xcopy.exe") != HOST_ABSENT)
        return CHECK_FINE;
    if (host_file_type(machine->host, system) == HOST_ABSENT)
        return check_say(finding, CHECK_UNKNOWN, "there is no %s on this machine", system);
    return check_say(finding, CHECK_BAD, "xcopy not found in system path");
}

/* Checks a registry value: its name is the row's id, its key is the row's subject. */
enum check_verdict check_policy(const struct machine *machine, struct check_finding *finding) {
    _cleanup_(freep) char *value = NULL;
    int found =
        check_registry(machine, finding, finding->check->subject, finding->check->id, &value);

    if (found < 0)
        return CHECK_UNKNOWN;
    return !found || text_equal(value, "0")
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD,
                           "HKLM\\%s has %s=%s: containers' layers cannot be mounted",
                           finding->check->subject, finding->check->id, value);
}

/* Looks for group policies that restrict programs. AppLocker's rules (SrpV2; 0: audit only) are for
 * programs that users start, and for services only if the policy says so. App Control's rules
 * (WDAC, DeviceGuard) are for all programs. Windows refuses a program with error 1260 or 4551 and
 * writes event 8004 in AppLocker/EXE and DLL, or 3077 in CodeIntegrity/Operational. A policy that
 * is only a file (CiPolicies\Active) is not noticed, because Windows has its own files there.
 * Sources: learn.microsoft.com, "AppLocker rule collection extensions", "Using Event Viewer with
 * AppLocker", "Understanding App Control event IDs". */
enum check_verdict check_application_control(const struct machine *machine,
                                             struct check_finding *finding) {
    static const struct {
        const char *key, *value, *title;
    } policies[] = {
        {"SOFTWARE\\Policies\\Microsoft\\Windows\\SrpV2\\Exe", "EnforcementMode", "AppLocker"},
        {"SOFTWARE\\Policies\\Microsoft\\Windows\\DeviceGuard", "DeployConfigCIPolicy",
         "App Control (WDAC)"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        _cleanup_(freep) char *value = NULL;

        if (check_registry(machine, finding, policies[i].key, policies[i].value, &value) < 0)
            return CHECK_UNKNOWN;
        if (text_equal(value, "1"))
            return check_say(finding, CHECK_BAD,
                             "%s decides which programs run here, by group policy: it must allow "
                             "those of the node",
                             policies[i].title);
    }
    return CHECK_FINE;
}

/* If Defender scans each layer while it is unpacked, containers start slowly or not at all. The
 * exclusion may name the folder itself, a folder above it, or (as in image-builder's images) the
 * process containerd.exe. */
enum check_verdict check_defender(const struct machine *machine, struct check_finding *finding) {
    static const char *const keys[] = {DEFENDER_KEY "Paths", DEFENDER_POLICY_KEY};
    _cleanup_(freep) char *folder = NULL, *path = NULL, *by_program = NULL;
    _cleanup_(host_service_free) struct host_service defender = {0};
    int excluded = 0;

    if (host_service_query(machine->host, "WinDefend", &defender, &finding->why) < 0)
        return CHECK_UNKNOWN;
    if (defender.state == HOST_SERVICE_ABSENT || defender.state == HOST_SERVICE_STOPPED)
        return check_say(finding, CHECK_NOT_RUN, "Defender does not run on this machine");
    if (data_folder(machine, &folder, finding) < 0)
        return CHECK_UNKNOWN;
    path = xstrdup(folder);
    for (char *end = path + strlen(path); end && !excluded; end = strrchr(path, '\\')) {
        *end = '\0';
        for (size_t i = 0; i < ARRAY_SIZE(keys) && *path && !excluded; i++) {
            _cleanup_(freep) char *value = NULL;

            excluded = check_registry(machine, finding, keys[i], path, &value);
        }
    }
    if (!excluded)
        excluded = check_registry(machine, finding, DEFENDER_KEY "Processes",
                                  service_containerd.program, &by_program);
    if (excluded < 0)
        return CHECK_UNKNOWN;
    check_hint(finding, "powershell Add-MpPreference -ExclusionPath \"%s\"", folder);
    return excluded ? CHECK_FINE
                    : check_say(finding, CHECK_BAD, "Defender scans %s: containers start slowly",
                                folder);
}

/* Looks for a policy that servers hardened by the CIS benchmarks have: rules that a program adds
 * exist but have no effect. A profile whose firewall the policy turns off accepts all
 * connections. */
enum check_verdict check_firewall_policy(const struct machine *machine,
                                         struct check_finding *finding) {
    static const char *const profiles[] = {"Domain", "Private", "Public"};

    for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
        _cleanup_(freep) char *merge = NULL, *on = NULL;
        _cleanup_(freep) char *key = xasprintf(FIREWALL_POLICY_KEY "%sProfile", profiles[i]);

        if (check_registry(machine, finding, key, "AllowLocalPolicyMerge", &merge) < 0 ||
            check_registry(machine, finding, key, "EnableFirewall", &on) < 0)
            return CHECK_UNKNOWN;
        if (text_equal(merge, "0") && !text_equal(on, "0"))
            return check_say(finding, CHECK_BAD,
                             "HKLM\\%s has AllowLocalPolicyMerge=0: the rules that winjoin adds "
                             "have no effect in this profile",
                             key);
    }
    return CHECK_FINE;
}
