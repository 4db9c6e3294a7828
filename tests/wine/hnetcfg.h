/* The Windows Firewall's rules as objects, kept in the registry where Windows keeps them. */
#pragma once

#include <windows.h>

#include <netfw.h>

/* One rule as text, in the order of `firewall_field`; what was never set is NULL. */
enum firewall_field {
    RULE_NAME,
    RULE_DESCRIPTION,
    RULE_GROUP,
    RULE_APPLICATION,
    RULE_SERVICE,
    RULE_PROTOCOL,
    RULE_LOCAL_PORTS,
    RULE_REMOTE_PORTS,
    RULE_LOCAL_ADDRESSES,
    RULE_REMOTE_ADDRESSES,
    RULE_DIRECTION,
    RULE_ACTION,
    RULE_ACTIVE,
    RULE_PROFILES,
    RULE_FIELDS
};
struct firewall_rule {
    const INetFwRuleVtbl *vtbl;
    LONG references;
    BSTR fields[RULE_FIELDS];
};

/* A fresh rule with one reference. */
struct firewall_rule *firewall_rule_new(void);
/* hnetcfg_store.c: HKLM\...\SharedAccess\Parameters\FirewallPolicy\FirewallRules. */
HRESULT firewall_store_add(const struct firewall_rule *rule);
/* The first rule of that name; 0x80070002 when there is none. */
HRESULT firewall_store_find(const WCHAR *name, struct firewall_rule **ret);
/* Every rule of that name; none is success. */
HRESULT firewall_store_remove(const WCHAR *name);
LONG firewall_store_count(void);

/* For every method that nobody here needs. The caller takes its arguments off the stack itself. */
HRESULT STDMETHODCALLTYPE firewall_not_implemented(void *self);
