/* Has the table of a join's options, gives access to their values, and checks single values. */
#include "join/configuration/join_options.h"

#include "base/rfc3339.h"
#include "base/vxlan.h"
#include "host/http.h"
#include "join/configuration/kubelet_arguments.h"
#include "kube/kubeconfig.h"
#include "netsetup/agents/agent.h"
#include "services/artifacts/image.h"
#include "services/version.h"

/* Limit in milliseconds; longer durations are cut to it. */
enum { DURATION_MAX = 2147483647 };

const struct join_option join_option_table[JOIN_OPTION_COUNT] = {
#define ROW(field_, type_, flag_, flags, argument, help_, ...)                                     \
    {.type = OPTION_##type_,                                                                       \
     .name = #field_,                                                                              \
     .offset = offsetof(struct join_options, field_),                                              \
     .flag = flag_,                                                                                \
     .choices = argument,                                                                          \
     .help = help_,                                                                                \
     __VA_ARGS__},
    JOIN_OPTIONS(ROW)};

void *join_option_field(const struct join_options *options, const struct join_option *option) {
    return (char *)options + option->offset;
}

enum yaml_field_type join_option_yaml(const struct join_option *option) {
    switch (option->type) {
    case OPTION_LIST:
        return YAML_FIELD_TEXTS;
    case OPTION_BOOL:
        return YAML_FIELD_BOOL;
    case OPTION_NUMBER:
        return YAML_FIELD_NUMBER;
    case OPTION_DURATION:
        return YAML_FIELD_DURATION;
    default:
        return YAML_FIELD_TEXT;
    }
}

void option_free(enum option_type type, void *field) {
    if (type == OPTION_SECRET)
        secret_freep(field);
    else if (type == OPTION_LIST)
        text_list_free(field);
    else if (join_option_yaml(&(struct join_option){.type = type}) == YAML_FIELD_TEXT)
        freep(field);
}

void join_options_free(struct join_options *options) {
    join_each_option(o)
        option_free(o->type, join_option_field(options, o));
}

void join_options_copy(const struct join_options *from, struct join_options *ret) {
    *ret = *from;
    join_each_option(o) {
        const struct text_list *list = join_option_field(from, o);
        void *field = join_option_field(ret, o);
        char **text = field;

        if (o->type == OPTION_LIST) {
            *(struct text_list *)field = (struct text_list){0};
            for (size_t i = 0; i < list->count; i++)
                text_list_add(field, list->items[i]);
        } else if (o->type == OPTION_SECRET) {
            *text = NULL;
        } else if (join_option_yaml(o) == YAML_FIELD_TEXT) {
            *text = xstrdup_null(*text);
        }
    }
}

json_t *join_option_json(const struct join_options *options, const struct join_option *option) {
    enum yaml_field_type type = join_option_yaml(option);
    const void *place = join_option_field(options, option);
    const char *text = type == YAML_FIELD_TEXT ? *(char *const *)place : NULL;
    _cleanup_(freep) char *duration = NULL;

    switch (type) {
    case YAML_FIELD_TEXT:
        return text && *text ? json_string(text) : NULL;
    case YAML_FIELD_BOOL:
        return *(const bool *)place ? json_true() : NULL;
    case YAML_FIELD_NUMBER:
        return *(const long long *)place ? json_integer(*(const long long *)place) : NULL;
    case YAML_FIELD_DURATION:
        duration = xasprintf("%lldms", *(const long long *)place);
        return *(const long long *)place ? json_string(duration) : NULL;
    default:
        return ((const struct text_list *)place)->count ? json_texts(place) : NULL;
    }
}

void join_option_take(struct join_options *options, const struct join_option *option,
                      const json_t *value) {
    void *place = join_option_field(options, option);
    char **text_place = place;
    const char *text = json_string_value(value);
    int64_t milliseconds;

    switch (join_option_yaml(option)) {
    case YAML_FIELD_TEXT:
        if (!(*text_place && **text_place) && text && *text)
            text_set(text_place, xstrdup(text));
        return;
    case YAML_FIELD_BOOL:
        *(bool *)place |= json_is_true(value);
        return;
    case YAML_FIELD_NUMBER:
        if (!*(long long *)place)
            *(long long *)place = json_integer_value(value);
        return;
    case YAML_FIELD_DURATION:
        if (!*(long long *)place && text && go_duration_parse(text, &milliseconds, NULL) == 0)
            *(long long *)place = milliseconds < DURATION_MAX ? milliseconds : DURATION_MAX;
        return;
    default:
        if (!((struct text_list *)place)->count)
            json_read_texts(value, place);
        return;
    }
}

int join_mirror_check(const char *url, struct error *err) {
    _cleanup_(freep) char *shown = http_shown_url(url);

    return server_url_check(url, false, err) < 0 ? error_prefix(err, "'%s'", shown) : 0;
}

int join_sandbox_image_check(const char *image, struct error *err) {
    if (image_is_reference(image) && strpbrk(image, ":@"))
        return 0;
    return error_set(err, ERROR_USAGE,
                     "\"%.100s\": not an image with its tag, like registry.k8s.io/pause:3.10.1",
                     image);
}

int join_source_base_check(const char *url, struct error *err) {
    return text_equal(url, JOIN_SOURCE_NONE) ? 0 : join_mirror_check(url, err);
}

int join_kubernetes_version_check(const char *version, struct error *err) {
    const char *dot = strchr(version, '.');
    unsigned minor;
    size_t end;

    dot = dot && kubernetes_minor(version, "Kubernetes", &minor, NULL) == 0 ? strchr(dot + 1, '.')
                                                                            : NULL;
    end = dot ? strspn(dot + 1, "0123456789") : 0;
    /* The third number ends the version, or a suffix such as "-rc.1" follows it. */
    if (end && strchr("-+", dot[1 + end]))
        return 0;
    return error_set(err, ERROR_USAGE,
                     "\"%.60s\": a Kubernetes version must be complete, like v1.37.1", version);
}

void join_network_input(const struct join_options *o, struct network_input *ret) {
    *ret = (struct network_input){
        .mode = o->network_mode,
        .plugin = o->network_plugin,
        .name = o->network_name,
        .service_cidrs = o->service_cidrs,
        .vni = (unsigned)o->vni,
        .vxlan_port = (unsigned)o->vxlan_port,
        .exclude_from_nat = o->exclude_from_nat,
        .dual_stack = o->dual_stack,
        .dsr = o->dsr,
        .routes = o->routes,
    };
    network_input_pods(&o->pod_cidrs, ret);
}

int join_ignored_check(const struct text_list *ignored, struct error *err) {
    bool all = false, single = false;

    for (size_t i = 0; i < ignored->count; i++) {
        all |= text_equal_nocase(ignored->items[i], "all");
        single |= !text_equal_nocase(ignored->items[i], "all");
    }
    if (all && single)
        return error_set(err, ERROR_USAGE, "don't specify individual checks if 'all' is used");
    return 0;
}
