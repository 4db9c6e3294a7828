/* hnetcfg.dll for Wine, whose own one takes firewall rules and forgets them (Item: not
 * implemented). Rules are kept in the registry as on Windows; nothing filters by them. Who needs
 * it: winjoin's firewall rules, made, found and taken back through INetFwPolicy2. */
#define INITGUID
#include "tests/wine/hnetcfg.h"

#include <stdlib.h>

/* The policy, its rules and the class factory are one stateless object each: never freed. */
struct object {
    const void *vtbl;
};

HRESULT STDMETHODCALLTYPE firewall_not_implemented(void *self) {
    (void)self;
    return E_NOTIMPL;
}

static ULONG STDMETHODCALLTYPE stays(void *self) {
    (void)self;
    return 1;
}

static HRESULT STDMETHODCALLTYPE query(void *self, REFIID iid, void **ret) {
    (void)
        iid; /* each object is asked for the one interface it was handed out as, or a base of it */
    *ret = self;
    return S_OK;
}

/* ---- INetFwRules ---- */

static HRESULT STDMETHODCALLTYPE rules_count(INetFwRules *self, LONG *ret) {
    (void)self;
    *ret = firewall_store_count();
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE rules_add(INetFwRules *self, INetFwRule *rule) {
    (void)self;
    return rule ? firewall_store_add((struct firewall_rule *)rule) : E_POINTER;
}

static HRESULT STDMETHODCALLTYPE rules_remove(INetFwRules *self, BSTR name) {
    (void)self;
    return firewall_store_remove(name);
}

static HRESULT STDMETHODCALLTYPE rules_item(INetFwRules *self, BSTR name, INetFwRule **ret) {
    (void)self;
    return firewall_store_find(name, (struct firewall_rule **)ret);
}

static INetFwRulesVtbl rules_table;
static struct object rules = {&rules_table};

/* ---- INetFwPolicy2 ---- */

static HRESULT STDMETHODCALLTYPE policy_rules(INetFwPolicy2 *self, INetFwRules **ret) {
    (void)self;
    *ret = (INetFwRules *)&rules;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE policy_enabled(INetFwPolicy2 *self, NET_FW_PROFILE_TYPE2 profile,
                                                VARIANT_BOOL *ret) {
    (void)self, (void)profile;
    *ret = VARIANT_TRUE;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE policy_profiles(INetFwPolicy2 *self, LONG *ret) {
    (void)self;
    *ret = NET_FW_PROFILE2_PUBLIC;
    return S_OK;
}

static INetFwPolicy2Vtbl policy_table;
static struct object policy = {&policy_table};

/* ---- the class factory ---- */

static HRESULT STDMETHODCALLTYPE create_policy(IClassFactory *self, IUnknown *outer, REFIID iid,
                                               void **ret) {
    (void)self, (void)outer, (void)iid;
    *ret = &policy;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE create_rule(IClassFactory *self, IUnknown *outer, REFIID iid,
                                             void **ret) {
    (void)self, (void)outer, (void)iid;
    *ret = firewall_rule_new();
    return *ret ? S_OK : E_OUTOFMEMORY;
}

static IClassFactoryVtbl policy_factory_table, rule_factory_table;
static struct object policy_factory = {&policy_factory_table};
static struct object rule_factory = {&rule_factory_table};

static void fill(void *table, size_t size) {
    void **slots = table;

    for (size_t i = 0; i < size / sizeof(*slots); i++)
        slots[i] = (void *)firewall_not_implemented;
    slots[0] = (void *)query;
    slots[1] = slots[2] = (void *)stays;
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, void *reserved) {
    (void)self, (void)reserved;
    if (reason != DLL_PROCESS_ATTACH)
        return TRUE;
    fill(&rules_table, sizeof(rules_table));
    rules_table.get_Count = rules_count;
    rules_table.Add = rules_add;
    rules_table.Remove = rules_remove;
    rules_table.Item = rules_item;
    fill(&policy_table, sizeof(policy_table));
    policy_table.get_Rules = policy_rules;
    policy_table.get_FirewallEnabled = policy_enabled;
    policy_table.get_CurrentProfileTypes = policy_profiles;
    fill(&policy_factory_table, sizeof(policy_factory_table));
    policy_factory_table.CreateInstance = create_policy;
    fill(&rule_factory_table, sizeof(rule_factory_table));
    rule_factory_table.CreateInstance = create_rule;
    return TRUE;
}

HRESULT WINAPI rig_DllGetClassObject(REFCLSID class_id, REFIID iid, void **ret) {
    (void)iid;
    if (IsEqualGUID(class_id, &CLSID_NetFwPolicy2))
        *ret = &policy_factory;
    else if (IsEqualGUID(class_id, &CLSID_NetFwRule))
        *ret = &rule_factory;
    else
        return CLASS_E_CLASSNOTAVAILABLE;
    return S_OK;
}

HRESULT WINAPI rig_DllCanUnloadNow(void) {
    return S_FALSE;
}
