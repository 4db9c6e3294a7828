/* Manages inbound rules of the Windows Firewall with its COM interface (netfw.h, INetFwPolicy2). */
#define COBJMACROS
#define INITGUID
#include "host/win32/win32.h"

#include <netfw.h>

#define GROUPING L"winjoin"

/* The firewall policy and its rules. `com` is true when COM was initialized on this thread and must
 * be uninitialized. */
struct firewall {
    bool com;
    INetFwPolicy2 *policy;
    INetFwRules *rules;
};

static void firewall_close(struct firewall *firewall) {
    if (firewall->rules)
        INetFwRules_Release(firewall->rules);
    if (firewall->policy)
        INetFwPolicy2_Release(firewall->policy);
    if (firewall->com)
        CoUninitialize();
}

static int firewall_open(struct firewall *ret, struct error *err) {
    HRESULT hresult = CoInitializeEx(NULL, COINIT_APARTMENTTHREADED);

    /* RPC_E_CHANGED_MODE: COM was initialized in another mode before and can be used. */
    ret->com = SUCCEEDED(hresult);
    hresult = CoCreateInstance(&CLSID_NetFwPolicy2, NULL, CLSCTX_INPROC_SERVER, &IID_INetFwPolicy2,
                               (void **)&ret->policy);
    if (SUCCEEDED(hresult))
        hresult = INetFwPolicy2_get_Rules(ret->policy, &ret->rules);
    if (FAILED(hresult))
        return win32_fail(err, (DWORD)hresult, "open the Windows Firewall");
    return 0;
}

static BSTR bstr(const char *text) {
    _cleanup_wide_ wchar_t *wide = win32_wide(text ? text : "");

    return SysAllocString(wide);
}

static HRESULT fill_rule(INetFwRule *rule, const struct host_firewall_rule *wanted) {
    char port[8];
    BSTR name = bstr(wanted->name), description = bstr(wanted->description);
    BSTR group = SysAllocString(GROUPING), ports;
    HRESULT h;

    /* The number always fits, because a port is at most 65535. */
    (void)text_format(port, sizeof port, "%u", wanted->port);
    ports = bstr(port);
    h = INetFwRule_put_Name(rule, name);
    if (SUCCEEDED(h))
        h = INetFwRule_put_Description(rule, description);
    if (SUCCEEDED(h))
        h = INetFwRule_put_Grouping(rule, group);
    if (SUCCEEDED(h)) /* Set the protocol before the ports, whose meaning depends on it. */
        h = INetFwRule_put_Protocol(rule,
                                    wanted->udp ? NET_FW_IP_PROTOCOL_UDP : NET_FW_IP_PROTOCOL_TCP);
    if (SUCCEEDED(h))
        h = INetFwRule_put_LocalPorts(rule, ports);
    if (SUCCEEDED(h))
        h = INetFwRule_put_Direction(rule, NET_FW_RULE_DIR_IN);
    if (SUCCEEDED(h))
        h = INetFwRule_put_Action(rule, NET_FW_ACTION_ALLOW);
    if (SUCCEEDED(h))
        h = INetFwRule_put_Profiles(rule, NET_FW_PROFILE2_ALL);
    if (SUCCEEDED(h))
        h = INetFwRule_put_Enabled(rule, VARIANT_TRUE);
    SysFreeString(name), SysFreeString(description), SysFreeString(group), SysFreeString(ports);
    return h;
}

/* Finds the rule with this name; *ret is NULL when no rule has it. Its grouping shows whether
 * winjoin created it. */
static HRESULT find_rule(const struct firewall *firewall, const char *name, INetFwRule **ret) {
    BSTR key = bstr(name);
    HRESULT hresult = INetFwRules_Item(firewall->rules, key, ret);

    SysFreeString(key);
    if (hresult == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        *ret = NULL;
    return hresult;
}

static bool is_ours(INetFwRule *rule) {
    BSTR group = NULL;
    bool ours =
        SUCCEEDED(INetFwRule_get_Grouping(rule, &group)) && group && wcscmp(group, GROUPING) == 0;

    SysFreeString(group);
    return ours;
}

int win32_firewall_has(struct host *, const char *name, bool *ret, struct error *err) {
    _cleanup_(firewall_close) struct firewall firewall = {0};
    INetFwRule *rule = NULL;
    HRESULT hresult;

    if (firewall_open(&firewall, err) < 0)
        return error_prefix(err, "look for firewall rule '%s'", name);
    hresult = find_rule(&firewall, name, &rule);
    if (FAILED(hresult) && hresult != HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        return win32_fail(err, (DWORD)hresult, "look for firewall rule '%s'", name);
    *ret = rule != NULL;
    if (rule)
        INetFwRule_Release(rule);
    return 0;
}

static bool same_text(BSTR found, const char *wanted) {
    _cleanup_wide_ wchar_t *wide = win32_wide(wanted);

    return found && wcscmp(found, wide) == 0;
}

/* Is this winjoin's rule with exactly the settings that fill_rule() would write? */
static bool is_same(INetFwRule *rule, const struct host_firewall_rule *wanted) {
    BSTR description = NULL, ports = NULL;
    VARIANT_BOOL enabled = VARIANT_FALSE;
    LONG protocol = 0, profiles = 0;
    NET_FW_RULE_DIRECTION direction = NET_FW_RULE_DIR_OUT;
    NET_FW_ACTION action = NET_FW_ACTION_BLOCK;
    char port[8];
    bool same;

    /* The number always fits, because a port is at most 65535. */
    (void)text_format(port, sizeof port, "%u", wanted->port);
    same = SUCCEEDED(INetFwRule_get_Description(rule, &description)) &&
           SUCCEEDED(INetFwRule_get_LocalPorts(rule, &ports)) &&
           SUCCEEDED(INetFwRule_get_Protocol(rule, &protocol)) &&
           SUCCEEDED(INetFwRule_get_Profiles(rule, &profiles)) &&
           SUCCEEDED(INetFwRule_get_Direction(rule, &direction)) &&
           SUCCEEDED(INetFwRule_get_Action(rule, &action)) &&
           SUCCEEDED(INetFwRule_get_Enabled(rule, &enabled)) && is_ours(rule) &&
           same_text(description, wanted->description ? wanted->description : "") &&
           same_text(ports, port) &&
           protocol == (wanted->udp ? NET_FW_IP_PROTOCOL_UDP : NET_FW_IP_PROTOCOL_TCP) &&
           profiles == NET_FW_PROFILE2_ALL && direction == NET_FW_RULE_DIR_IN &&
           action == NET_FW_ACTION_ALLOW && enabled;
    SysFreeString(description), SysFreeString(ports);
    return same;
}

static int remove_ours(const struct firewall *firewall, const char *name, struct error *err) {
    INetFwRule *rule = NULL;
    BSTR key;
    HRESULT hresult = find_rule(firewall, name, &rule);
    bool ours;

    if (!rule)
        return hresult == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)
                   ? 0
                   : win32_fail(err, (DWORD)hresult, "look for firewall rule '%s'", name);
    ours = is_ours(rule);
    INetFwRule_Release(rule);
    if (!ours)
        return error_set(err, ERROR_CONFLICT,
                         "change firewall rule '%s': another program made a rule with that name",
                         name);
    key = bstr(name);
    hresult = INetFwRules_Remove(firewall->rules, key);
    SysFreeString(key);
    return FAILED(hresult) ? win32_fail(err, (DWORD)hresult, "remove firewall rule '%s'", name) : 0;
}

int win32_firewall_remove(struct host *, const char *name, struct error *err) {
    _cleanup_(firewall_close) struct firewall firewall = {0};

    if (firewall_open(&firewall, err) < 0)
        return error_prefix(err, "remove firewall rule '%s'", name);
    return remove_ours(&firewall, name, err);
}

int win32_firewall_put(struct host *, const struct host_firewall_rule *rule, struct error *err) {
    _cleanup_(firewall_close) struct firewall firewall = {0};
    INetFwRule *made = NULL, *there = NULL;
    bool stands;
    HRESULT hresult;

    if (firewall_open(&firewall, err) < 0)
        return error_prefix(err, "make firewall rule '%s'", rule->name);
    /* When the search fails, `there` is NULL and the rule is written again. */
    (void)find_rule(&firewall, rule->name, &there);
    stands = there && is_same(there, rule);
    if (there)
        INetFwRule_Release(there);
    if (stands)
        return 0;
    /* Add would create a second rule with the same name. */
    if (remove_ours(&firewall, rule->name, err) < 0)
        return -1;
    hresult = CoCreateInstance(&CLSID_NetFwRule, NULL, CLSCTX_INPROC_SERVER, &IID_INetFwRule,
                               (void **)&made);
    if (SUCCEEDED(hresult))
        hresult = fill_rule(made, rule);
    if (SUCCEEDED(hresult))
        hresult = INetFwRules_Add(firewall.rules, made);
    if (made)
        INetFwRule_Release(made);
    return FAILED(hresult) ? win32_fail(err, (DWORD)hresult, "make firewall rule '%s'", rule->name)
                           : 0;
}
