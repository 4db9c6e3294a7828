/* Command lines of the node's programs: what a row gives, and what the user adds. */
#include "services/rows/rows.h"

/* `--name` of "--name=value", with its length. */
static size_t name_length(const char *argument) {
    return strcspn(argument, "=");
}

static bool is_secret_flag(const char *argument) {
    static const char *const secrets[] = {"--token", "--password", "--bearer-token", "--username"};
    for (size_t i = 0; i < ARRAY_SIZE(secrets); i++)
        if (strlen(secrets[i]) == name_length(argument) &&
            strncmp(argument, secrets[i], name_length(argument)) == 0)
            return true;
    return false;
}

static int check_extra(const char *argument, struct error *err) {
    if (!text_starts_with(argument, "--") || name_length(argument) < 3)
        return error_set(err, ERROR_USAGE, "extra argument '%s': not of the form --name=value",
                         argument);
    for (const char *p = argument; *p; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return error_set(err, ERROR_USAGE,
                             "extra argument '%s': it contains a control character", argument);
    }
    if (is_secret_flag(argument))
        return error_set(err, ERROR_USAGE,
                         "extra argument '%.*s': a secret must not be on a command line",
                         (int)name_length(argument), argument);
    return 0;
}

static bool replaced(const char *argument, const struct text_list *extra) {
    for (size_t i = 0; i < extra->count; i++)
        if (name_length(extra->items[i]) == name_length(argument) &&
            strncmp(extra->items[i], argument, name_length(argument)) == 0)
            return true;
    return false;
}

/* Moves own arguments (from index 1 on) that extra ones do not replace, then the extra ones. */
static int merge_extra(const struct text_list *own, const struct text_list *extra,
                       struct text_list *ret, struct error *err) {
    for (size_t i = 0; i < extra->count; i++)
        if (check_extra(extra->items[i], err) < 0)
            return -1;
    for (size_t i = 0; i < own->count; i++)
        if (!replaced(own->items[i], extra))
            text_list_add(ret, own->items[i]);
    for (size_t i = 0; i < extra->count; i++)
        text_list_add(ret, extra->items[i]);
    return 0;
}

void argument_add(struct text_list *list, const char *flag, const char *value) {
    if (value && *value)
        text_list_add_owned(list, xasprintf("%s=%s", flag, value));
}

void argument_add_node_name(struct text_list *list, const struct service_settings *settings) {
    _cleanup_(freep) char *lower = text_lower(settings->node_name ? settings->node_name : "");

    argument_add(list, "--hostname-override", lower);
}

static const struct text_list *extra_of(const struct service *row,
                                        const struct service_settings *settings) {
    static const struct text_list none;

    return row->extra_args ? (const void *)((const char *)settings + row->extra_args) : &none;
}

static bool is_known(const struct service_settings *settings, const char *argument) {
    const struct text_list *known = settings->known_flags;
    _cleanup_(freep) char *name = NULL;

    if (!known || !known->count || !text_starts_with(argument, "--"))
        return true;
    name = xstrndup(argument + 2, name_length(argument) - 2);
    return text_list_has(known, name);
}

/* Our own arguments, sorted out by what the program knows. */
static int own_arguments(const struct service *row, const struct service_settings *settings,
                         struct text_list *ret_kept, struct text_list *ret_dropped,
                         struct error *err) {
    _cleanup_(text_list_free) struct text_list all = {0};

    if (row->arguments(settings, &all, err) < 0)
        return -1;
    for (size_t i = 0; i < all.count; i++)
        text_list_add(is_known(settings, all.items[i]) ? ret_kept : ret_dropped, all.items[i]);
    return 0;
}

void service_dropped_arguments(const struct service *row, const struct service_settings *settings,
                               struct text_list *ret) {
    _cleanup_(text_list_free) struct text_list kept = {0};

    (void)own_arguments(row, settings, &kept, ret, NULL); /* service_arguments() will say why */
}

int service_arguments(const struct service *row, const struct service_settings *settings,
                      struct text_list *ret, struct error *err) {
    _cleanup_(text_list_free) struct text_list own = {0}, dropped = {0}, all = {0};

    text_list_add(&all, row->program);
    if (own_arguments(row, settings, &own, &dropped, err) < 0 ||
        merge_extra(&own, extra_of(row, settings), &all, err) < 0)
        return error_prefix(err, "service '%s'", row->name);
    *ret = take_struct(all);
    return 0;
}
