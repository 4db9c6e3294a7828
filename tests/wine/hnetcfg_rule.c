/* INetFwRule: one firewall rule while a program holds it. */
#include "tests/wine/hnetcfg.h"

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

enum { ANY_PROTOCOL = 256 }; /* NET_FW_IP_PROTOCOL_ANY, which mingw lacks */

static struct firewall_rule *rule_of(INetFwRule *self) {
    return (struct firewall_rule *)self;
}

static HRESULT put(INetFwRule *self, enum firewall_field field, const WCHAR *text) {
    BSTR *at = &rule_of(self)->fields[field];

    if (text && wcschr(text, L'|'))
        return E_INVALIDARG;
    SysFreeString(*at);
    *at = text ? SysAllocString(text) : NULL;
    return S_OK;
}

static HRESULT get(INetFwRule *self, enum firewall_field field, BSTR *ret) {
    *ret = SysAllocString(rule_of(self)->fields[field] ? rule_of(self)->fields[field] : L"");
    return *ret ? S_OK : E_OUTOFMEMORY;
}

static HRESULT put_number(INetFwRule *self, enum firewall_field field, long value) {
    WCHAR text[16];

    snwprintf(text, ARRAYSIZE(text), L"%ld", value);
    return put(self, field, text);
}

static long number(INetFwRule *self, enum firewall_field field, long otherwise) {
    BSTR text = rule_of(self)->fields[field];

    return text && *text ? wcstol(text, NULL, 10) : otherwise;
}

#define TEXT_PROPERTY(name, field)                                                                 \
    static HRESULT STDMETHODCALLTYPE put_##name(INetFwRule *self, BSTR value) {                    \
        return put(self, field, value);                                                            \
    }                                                                                              \
    static HRESULT STDMETHODCALLTYPE get_##name(INetFwRule *self, BSTR *ret) {                     \
        return get(self, field, ret);                                                              \
    }
TEXT_PROPERTY(name, RULE_NAME)
TEXT_PROPERTY(description, RULE_DESCRIPTION)
TEXT_PROPERTY(group, RULE_GROUP)
TEXT_PROPERTY(application, RULE_APPLICATION)
TEXT_PROPERTY(service, RULE_SERVICE)
TEXT_PROPERTY(local_addresses, RULE_LOCAL_ADDRESSES)
TEXT_PROPERTY(remote_addresses, RULE_REMOTE_ADDRESSES)
TEXT_PROPERTY(local_ports_text, RULE_LOCAL_PORTS)
TEXT_PROPERTY(remote_ports_text, RULE_REMOTE_PORTS)

/* As Windows: ports mean something for TCP and UDP alone, so the protocol comes first. */
static HRESULT ports_allowed(INetFwRule *self) {
    long protocol = number(self, RULE_PROTOCOL, ANY_PROTOCOL);

    return protocol == NET_FW_IP_PROTOCOL_TCP || protocol == NET_FW_IP_PROTOCOL_UDP ? S_OK
                                                                                    : E_INVALIDARG;
}

static HRESULT STDMETHODCALLTYPE put_local_ports(INetFwRule *self, BSTR value) {
    HRESULT result = ports_allowed(self);

    return FAILED(result) ? result : put_local_ports_text(self, value);
}

static HRESULT STDMETHODCALLTYPE put_remote_ports(INetFwRule *self, BSTR value) {
    HRESULT result = ports_allowed(self);

    return FAILED(result) ? result : put_remote_ports_text(self, value);
}

static HRESULT STDMETHODCALLTYPE put_protocol(INetFwRule *self, LONG value) {
    return put_number(self, RULE_PROTOCOL, value);
}

static HRESULT STDMETHODCALLTYPE get_protocol(INetFwRule *self, LONG *ret) {
    *ret = number(self, RULE_PROTOCOL, ANY_PROTOCOL);
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE put_profiles(INetFwRule *self, LONG value) {
    return put_number(self, RULE_PROFILES, value);
}

static HRESULT STDMETHODCALLTYPE get_profiles(INetFwRule *self, LONG *ret) {
    *ret = number(self, RULE_PROFILES, NET_FW_PROFILE2_ALL);
    return S_OK;
}

static int is(INetFwRule *self, enum firewall_field field, const WCHAR *text) {
    BSTR have = rule_of(self)->fields[field];

    return have && !wcscmp(have, text);
}

static HRESULT STDMETHODCALLTYPE put_direction(INetFwRule *self, NET_FW_RULE_DIRECTION value) {
    return put(self, RULE_DIRECTION, value == NET_FW_RULE_DIR_OUT ? L"Out" : L"In");
}

static HRESULT STDMETHODCALLTYPE get_direction(INetFwRule *self, NET_FW_RULE_DIRECTION *ret) {
    *ret = is(self, RULE_DIRECTION, L"Out") ? NET_FW_RULE_DIR_OUT : NET_FW_RULE_DIR_IN;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE put_action(INetFwRule *self, NET_FW_ACTION value) {
    return put(self, RULE_ACTION, value == NET_FW_ACTION_ALLOW ? L"Allow" : L"Block");
}

static HRESULT STDMETHODCALLTYPE get_action(INetFwRule *self, NET_FW_ACTION *ret) {
    *ret = is(self, RULE_ACTION, L"Block") ? NET_FW_ACTION_BLOCK : NET_FW_ACTION_ALLOW;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE put_enabled(INetFwRule *self, VARIANT_BOOL value) {
    return put(self, RULE_ACTIVE, value ? L"TRUE" : L"FALSE");
}

static HRESULT STDMETHODCALLTYPE get_enabled(INetFwRule *self, VARIANT_BOOL *ret) {
    *ret = is(self, RULE_ACTIVE, L"TRUE") ? VARIANT_TRUE : VARIANT_FALSE;
    return S_OK;
}

static ULONG STDMETHODCALLTYPE add_reference(INetFwRule *self) {
    return (ULONG)InterlockedIncrement(&rule_of(self)->references);
}

static ULONG STDMETHODCALLTYPE release(INetFwRule *self) {
    LONG left = InterlockedDecrement(&rule_of(self)->references);

    if (!left) {
        for (int i = 0; i < RULE_FIELDS; i++)
            SysFreeString(rule_of(self)->fields[i]);
        free(self);
    }
    return (ULONG)left;
}

static HRESULT STDMETHODCALLTYPE query(INetFwRule *self, REFIID iid, void **ret) {
    if (!IsEqualGUID(iid, &IID_IUnknown) && !IsEqualGUID(iid, &IID_IDispatch) &&
        !IsEqualGUID(iid, &IID_INetFwRule)) {
        *ret = NULL;
        return E_NOINTERFACE;
    }
    *ret = self;
    add_reference(self);
    return S_OK;
}

static const INetFwRuleVtbl *methods(void) {
    static INetFwRuleVtbl table;
    static LONG made;

    if (InterlockedCompareExchange(&made, 1, 0))
        return &table;
    for (size_t i = 0; i < sizeof(table) / sizeof(void *); i++)
        ((void **)&table)[i] = (void *)firewall_not_implemented;
    table.QueryInterface = query;
    table.AddRef = add_reference;
    table.Release = release;
    table.put_Name = put_name, table.get_Name = get_name;
    table.put_Description = put_description, table.get_Description = get_description;
    table.put_Grouping = put_group, table.get_Grouping = get_group;
    table.put_ApplicationName = put_application, table.get_ApplicationName = get_application;
    table.put_ServiceName = put_service, table.get_ServiceName = get_service;
    table.put_LocalAddresses = put_local_addresses;
    table.get_LocalAddresses = get_local_addresses;
    table.put_RemoteAddresses = put_remote_addresses;
    table.get_RemoteAddresses = get_remote_addresses;
    table.put_LocalPorts = put_local_ports, table.get_LocalPorts = get_local_ports_text;
    table.put_RemotePorts = put_remote_ports, table.get_RemotePorts = get_remote_ports_text;
    table.put_Protocol = put_protocol, table.get_Protocol = get_protocol;
    table.put_Profiles = put_profiles, table.get_Profiles = get_profiles;
    table.put_Direction = put_direction, table.get_Direction = get_direction;
    table.put_Action = put_action, table.get_Action = get_action;
    table.put_Enabled = put_enabled, table.get_Enabled = get_enabled;
    return &table;
}

struct firewall_rule *firewall_rule_new(void) {
    struct firewall_rule *rule = calloc(1, sizeof(*rule));

    if (rule) {
        rule->vtbl = methods();
        rule->references = 1;
    }
    return rule;
}
