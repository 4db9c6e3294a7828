/* Which of our variables a program that is started gets. */
#include "host/child_environment.h"

#include "base/redact_rules.h"
#include "base/text.h"
#include "host/http.h"

#define OURS "winjoin_"

static bool begins_ours(const char *name) {
    return redact_ends_in(name, strnlen(name, strlen(OURS)), OURS);
}

bool child_variable_is_ours(const char *name) {
    return begins_ours(name) && redact_is_secret_name(name, strlen(name));
}

char *child_variable(const char *item, bool talks) {
    size_t name_len = strcspn(item, "=");
    bool proxy =
        redact_ends_in(item, name_len, "_proxy") && !redact_ends_in(item, name_len, "no_proxy");
    _cleanup_(freep) char *shown = NULL;

    if (begins_ours(item))
        return NULL;
    if (talks || !proxy || !item[name_len])
        return xstrdup(item);
    shown = http_shown_proxy(item + name_len + 1);
    return xasprintf("%.*s=%s", (int)name_len, item, shown);
}
