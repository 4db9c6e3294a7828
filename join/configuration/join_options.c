/* The options of a join: their memory, and the checks of single values. */
#include "join/configuration/join_options.h"

#include "base/rfc3339.h"
#include "host/http.h"
#include "kube/server_url.h"
#include "services/version.h"

enum { DURATION_MAX = 2147483647 }; /* longer ones are cut, milliseconds */

_Static_assert(offsetof(struct join_options, discovery_token) -
                       offsetof(struct join_options, texts) ==
                   sizeof(((struct join_options *)0)->texts),
               "texts[] has as many items as there are names");
_Static_assert(offsetof(struct join_options, discovery_token_unsafe_skip_ca_verification) -
                       offsetof(struct join_options, lists) ==
                   sizeof(((struct join_options *)0)->lists),
               "lists[] has as many items as there are names");

void join_options_free(struct join_options *o) {
    for (size_t i = 0; i < ARRAY_SIZE(o->texts); i++)
        freep(&o->texts[i]);
    for (size_t i = 0; i < ARRAY_SIZE(o->lists); i++)
        text_list_free(&o->lists[i]);
    secret_freep(&o->token);
    secret_freep(&o->discovery_token);
    secret_freep(&o->tls_bootstrap_token);
}

static json_t *duration_json(long long milliseconds) {
    _cleanup_(freep) char *text = xasprintf("%lldms", milliseconds);

    return milliseconds ? json_string(text) : NULL;
}

json_t *join_option_json(const struct join_options *options, size_t offset,
                         enum yaml_field_type type) {
    const void *place = (const char *)options + offset;
    const char *text = type == YAML_FIELD_TEXT ? *(char *const *)place : NULL;

    switch (type) {
    case YAML_FIELD_TEXT:
        return text && *text ? json_string(text) : NULL;
    case YAML_FIELD_BOOL:
        return *(const bool *)place ? json_true() : NULL;
    case YAML_FIELD_NUMBER:
        return *(const long long *)place ? json_integer(*(const long long *)place) : NULL;
    case YAML_FIELD_DURATION:
        return duration_json(*(const long long *)place);
    default:
        return ((const struct text_list *)place)->count ? json_texts(place) : NULL;
    }
}

static void take_text(char **field, const char *text) {
    if ((*field && **field) || !text || !*text)
        return;
    text_set(field, xstrdup(text));
}

static void take_duration(long long *field, const char *text) {
    int64_t milliseconds;

    if (!*field && text && go_duration_parse(text, &milliseconds, NULL) == 0)
        *field = milliseconds < DURATION_MAX ? milliseconds : DURATION_MAX;
}

void join_option_take(struct join_options *options, size_t offset, enum yaml_field_type type,
                      const json_t *value) {
    void *place = (char *)options + offset;

    switch (type) {
    case YAML_FIELD_TEXT:
        take_text(place, json_string_value(value));
        return;
    case YAML_FIELD_BOOL:
        *(bool *)place |= json_is_true(value);
        return;
    case YAML_FIELD_NUMBER:
        if (!*(long long *)place)
            *(long long *)place = json_integer_value(value);
        return;
    case YAML_FIELD_DURATION:
        take_duration(place, json_string_value(value));
        return;
    default:
        if (!((struct text_list *)place)->count)
            json_read_texts(value, place);
        return;
    }
}

void join_options_copy(const struct join_options *from, struct join_options *ret) {
    *ret = *from;
    ret->token = ret->discovery_token = ret->tls_bootstrap_token = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(ret->texts); i++)
        ret->texts[i] = xstrdup_null(from->texts[i]);
    for (size_t i = 0; i < ARRAY_SIZE(ret->lists); i++) {
        ret->lists[i] = (struct text_list){0};
        for (size_t k = 0; k < from->lists[i].count; k++)
            text_list_add(&ret->lists[i], from->lists[i].items[k]);
    }
}

int join_mirror_check(const char *url, struct error *err) {
    _cleanup_(freep) char *shown = http_shown_url(url);

    return server_url_check(url, err) < 0 ? error_prefix(err, "mirror '%s'", shown) : 0;
}

int join_sandbox_image_check(const char *image, struct error *err) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/-[]@";

    if (*image && !image[strspn(image, letters)] && strpbrk(image, ":@") && !strstr(image, "//"))
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

    if (kubernetes_minor(version, "Kubernetes", &minor, err) < 0)
        return -1;
    dot = dot ? strchr(dot + 1, '.') : NULL;
    end = dot ? strspn(dot + 1, "0123456789") : 0;
    if (end && strchr("-+", dot[1 + end])) /* or the end */
        return 0;
    return error_set(err, ERROR_USAGE, "Kubernetes version %s: it must be complete, like v1.37.1",
                     version);
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
