/* The firewall's rules in the registry, each one value of the form that Windows writes:
 * "v2.30|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=10250|Name=...|". */
#include "tests/wine/hnetcfg.h"

#include <stdbool.h>
#include <stdio.h>
#include <wchar.h>

enum { TEXT_MAX = 4096 };
#define VERSION L"v2.30"

static const WCHAR *const keys[RULE_FIELDS] = {
    [RULE_NAME] = L"Name",           [RULE_DESCRIPTION] = L"Desc",
    [RULE_GROUP] = L"EmbedCtxt",     [RULE_APPLICATION] = L"App",
    [RULE_SERVICE] = L"Svc",         [RULE_PROTOCOL] = L"Protocol",
    [RULE_LOCAL_PORTS] = L"LPort",   [RULE_REMOTE_PORTS] = L"RPort",
    [RULE_LOCAL_ADDRESSES] = L"LA4", [RULE_REMOTE_ADDRESSES] = L"RA4",
    [RULE_DIRECTION] = L"Dir",       [RULE_ACTION] = L"Action",
    [RULE_ACTIVE] = L"Active",       [RULE_PROFILES] = L"Profile",
};

static HKEY open_rules(void) {
    HKEY key = NULL;

    (void)RegCreateKeyExW(HKEY_LOCAL_MACHINE,
                          L"SYSTEM\\CurrentControlSet\\Services\\SharedAccess\\Parameters\\"
                          L"FirewallPolicy\\FirewallRules",
                          0, NULL, 0, KEY_ALL_ACCESS, NULL, &key, NULL); /* NULL: seen by callers */
    return key;
}

HRESULT firewall_store_add(const struct firewall_rule *rule) {
    WCHAR text[TEXT_MAX] = VERSION L"|", name[64];
    size_t used = wcslen(text);
    LONG code;
    HKEY key;
    GUID id;

    for (int i = 0; i < RULE_FIELDS; i++) {
        int n = rule->fields[i] && *rule->fields[i]
                    ? snwprintf(text + used, TEXT_MAX - used, L"%ls=%ls|", keys[i], rule->fields[i])
                    : 0;

        if (n < 0 || used + (size_t)n >= TEXT_MAX)
            return E_INVALIDARG;
        used += (size_t)n;
    }
    if (FAILED(CoCreateGuid(&id)) || !StringFromGUID2(&id, name, ARRAYSIZE(name)))
        return E_FAIL;
    key = open_rules();
    if (!key)
        return E_ACCESSDENIED;
    code = RegSetValueExW(key, name, 0, REG_SZ, (const BYTE *)text,
                          (DWORD)((used + 1) * sizeof(*text)));
    RegCloseKey(key);
    return HRESULT_FROM_WIN32(code);
}

/* Takes "Key=Value|" off the front of the text into the rule; false at its end. */
static bool take_field(WCHAR **text, struct firewall_rule *rule) {
    WCHAR *end = wcschr(*text, L'|'), *value = wcschr(*text, L'=');

    if (!end)
        return false;
    *end = L'\0';
    for (int i = 0; value && i < RULE_FIELDS; i++)
        if (value < end && !wcsncmp(*text, keys[i], (size_t)(value - *text)) &&
            !keys[i][value - *text]) {
            SysFreeString(rule->fields[i]);
            rule->fields[i] = SysAllocString(value + 1);
        }
    *text = end + 1;
    return true;
}

/* The i-th rule and its value's name; NULL behind the last one. */
static struct firewall_rule *read_rule(HKEY key, DWORD i, WCHAR *name, DWORD name_size) {
    WCHAR text[TEXT_MAX] = L"", *at = text;
    DWORD size = sizeof(text) - sizeof(*text);
    struct firewall_rule *rule;

    if (RegEnumValueW(key, i, name, &name_size, NULL, NULL, (BYTE *)text, &size))
        return NULL;
    rule = firewall_rule_new();
    while (rule && take_field(&at, rule))
        ;
    return rule;
}

static bool named(const struct firewall_rule *rule, const WCHAR *name) {
    return rule->fields[RULE_NAME] && !_wcsicmp(rule->fields[RULE_NAME], name);
}

static void release(struct firewall_rule *rule) {
    rule->vtbl->Release((INetFwRule *)rule);
}

HRESULT firewall_store_find(const WCHAR *name, struct firewall_rule **ret) {
    HRESULT result = HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND);
    HKEY key = open_rules();
    struct firewall_rule *rule = NULL;
    WCHAR value[256];

    for (DWORD i = 0; key && (rule = read_rule(key, i, value, ARRAYSIZE(value))); i++) {
        if (named(rule, name)) {
            *ret = rule;
            result = S_OK;
            break;
        }
        release(rule);
    }
    if (key)
        RegCloseKey(key);
    return result;
}

HRESULT firewall_store_remove(const WCHAR *name) {
    HKEY key = open_rules();
    struct firewall_rule *rule;
    WCHAR value[256];
    DWORD i = 0;

    while (key && (rule = read_rule(key, i, value, ARRAYSIZE(value)))) {
        if (!named(rule, name) || RegDeleteValueW(key, value))
            i++;
        release(rule);
    }
    if (key)
        RegCloseKey(key);
    return key ? S_OK : E_ACCESSDENIED;
}

LONG firewall_store_count(void) {
    HKEY key = open_rules();
    DWORD n = 0;

    if (key) {
        (void)RegQueryInfoKeyW(key, NULL, NULL, NULL, NULL, NULL, NULL, &n, NULL, NULL, NULL,
                               NULL); /* 0 when it fails */
        RegCloseKey(key);
    }
    return (LONG)n;
}
