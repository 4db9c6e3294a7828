/* Reads and checks the catalog of releases, and finds programs in it. */
#include "services/artifacts/catalog.h"

#include <ctype.h>

#include "services/artifacts/bundle_archive.h"
#include "services/version.h"
#include "templates/templates.h"

enum { PATTERN_LONGEST = 400 };

/* The checked releases[]. Each has name, path and digest; version is optional; it has either
 * programs or members. */
struct catalog {
    json_t *releases;
};

const struct yaml_field catalog_fields[] = {
    {"apiVersion", YAML_FIELD_TEXT, 0, NULL},
    {"kind", YAML_FIELD_TEXT, 0, NULL},
    {"releases[].name", YAML_FIELD_TEXT, 0, NULL},
    {"releases[].version", YAML_FIELD_TEXT, 0, NULL},
    {"releases[].path", YAML_FIELD_TEXT, 0, NULL},
    {"releases[].digest", YAML_FIELD_TEXT, 0, NULL},
    {"releases[].programs", YAML_FIELD_TEXTS, 0, NULL},
    {"releases[].members", YAML_FIELD_TEXT_MAP, 0, NULL},
    {0},
};
static const char *const placeholders[] = {"{v}", "{n}", "{name}"};

void catalog_freep(struct catalog **catalog) {
    if (*catalog)
        json_decref((*catalog)->releases);
    free(*catalog);
}

/* ---- checking a catalog ---- */

/* Is this "HOST/PATH" without scheme and query, and without parts that a server could read as
 * another path? */
static bool pattern_is_usable(const char *pattern) {
    size_t len = strlen(pattern), host = strcspn(pattern, "/"), skip;

    if (len > PATTERN_LONGEST || !host || host == len || pattern[len - 1] == '/' ||
        strchr("-.", *pattern) || strstr(pattern, "//") || strstr(pattern, ".."))
        return false;
    for (const char *p = pattern; *p; p += skip) {
        skip = *p == '{' ? 0 : 1;
        for (size_t i = 0; i < ARRAY_SIZE(placeholders) && !skip; i++)
            if (text_starts_with(p, placeholders[i]))
                skip = strlen(placeholders[i]);
        if (!skip || (*p != '{' && !isalnum((unsigned char)*p) && !strchr("-._~/+:", *p)) ||
            (*p == ':' && p > pattern + host) || (*p == '{' && p < pattern + host))
            return false;
    }
    return true;
}

/* Checks a program's name. `member` is its path in an archive, or NULL. */
static int check_program(json_t *seen, const char *name, const char *member, struct error *err) {
    struct artifact_target target;

    if (!name || !artifact_target_find(name, &target))
        return error_set(err, ERROR_USAGE, "'%s' is not a program of a node", name ? name : "");
    if (json_object_get(seen, name))
        return error_set(err, ERROR_USAGE, "'%s' is in the catalog twice", name);
    if (member && bundle_path_fault(member))
        return error_set(err, ERROR_USAGE, "the path of '%s' leads out of the archive", name);
    json_object_set_new(seen, name, json_true());
    return 0;
}

static int check_release(const json_t *release, json_t *seen, struct error *err) {
    static const char *const patterns[] = {"path", "digest"};
    const char *version = json_text_at(release, "version");
    const json_t *programs = json_object_get(release, "programs");
    const json_t *members = json_object_get(release, "members");

    if (version && !artifact_version_is_usable(version))
        return error_set(err, ERROR_USAGE, "version '%s' is not usable", version);
    for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
        const char *pattern = json_text_at(release, patterns[i]);

        if (!pattern || !pattern_is_usable(pattern))
            return error_set(err, ERROR_USAGE,
                             "%s must be HOST/PATH, with {v}, {n} and {name} alone to be filled in",
                             patterns[i]);
    }
    if (!json_array_size(programs) == !json_object_size(members))
        return error_set(err, ERROR_USAGE, "give either programs or members");
    json_each(programs, i, program)
        if (check_program(seen, json_string_value(program), NULL, err) < 0)
            return -1;
    json_each_member(members, name, member)
        if (check_program(seen, name, json_is_string(member) ? json_string_value(member) : "",
                          err) < 0)
            return -1;
    return 0;
}

static int check(const json_t *catalog, struct error *err) {
    _cleanup_json_ json_t *seen = json_object();

    if (!text_equal(json_text_at(catalog, "apiVersion"), CATALOG_V1ALPHA1) ||
        !text_equal(json_text_at(catalog, "kind"), CATALOG_KIND))
        return error_set(err, ERROR_USAGE, "it is not a " CATALOG_KIND " of " CATALOG_V1ALPHA1);
    if (!json_array_size(json_at(catalog, "releases")))
        return error_set(err, ERROR_USAGE, "it has no releases");
    json_each(json_at(catalog, "releases"), i, release) {
        if (check_release(release, seen, err) < 0) {
            const char *name = json_text_at(release, "name");

            return error_prefix(err, "releases[%zu]%s%s", i, name ? " " : "", name ? name : "");
        }
    }
    return 0;
}

int catalog_read(const char *text, size_t len, const char *what, struct catalog **ret,
                 struct error *err) {
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    const struct template *own = template_find("catalog.yaml");
    const json_t *json;

    if (yaml_read(text ? text : own->data, text ? len : own->len, what, &yaml, err) < 0)
        return -1;
    json = json_array_get(yaml.documents, 0);
    if (json_array_size(yaml.documents) != 1)
        return error_set(err, ERROR_MALFORMED, "%s: it must be one document", what);
    if (yaml_schema_check(&yaml, json, catalog_fields, 0, err) < 0)
        return -1;
    if (check(json, err) < 0)
        return error_prefix(err, "%s", what);
    *ret = xcalloc(1, sizeof **ret);
    (*ret)->releases = json_incref(json_object_get(json, "releases"));
    return 0;
}

/* ---- lookups ---- */

static const json_t *find(const struct catalog *catalog, const char *name,
                          const char **ret_member) {
    json_each(catalog->releases, i, release) {
        *ret_member = json_string_value(json_object_get(json_object_get(release, "members"), name));
        if (*ret_member)
            return release;
        json_each(json_object_get(release, "programs"), j, program)
            if (text_equal(json_string_value(program), name))
                return release;
    }
    return NULL;
}

static char *expand(const char *pattern, const char *name, const char *version) {
    const char *number = version + (*version == 'v');
    _cleanup_(freep) char *full = xasprintf("v%s", number);

    return text_fill(
        pattern, '{', '}',
        (const struct text_value[]){{"v", full}, {"n", number}, {"name", name}, {NULL, NULL}});
}

bool catalog_locate(const struct catalog *catalog, struct artifact *artifact) {
    const char *member = NULL;
    const json_t *release = find(catalog, artifact->name, &member);

    if (!release)
        return false;
    free_all(artifact->path, artifact->digest, artifact->member);
    artifact->path = expand(json_text_at(release, "path"), artifact->name, artifact->version);
    artifact->digest = expand(json_text_at(release, "digest"), artifact->name, artifact->version);
    artifact->member = xstrdup_null(member);
    return true;
}

void catalog_artifacts(const struct catalog *catalog, const char *kubernetes_version,
                       const struct text_list *names, struct artifacts *ret) {
    ret->items = xcalloc(names->count + 1, sizeof *ret->items);
    ret->count = 0;
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->items[i], *member, *version;
        const json_t *release = find(catalog, name, &member);
        struct artifact *to = &ret->items[ret->count];
        struct artifact_target target;

        if (!release || !artifact_target_find(name, &target))
            continue;
        version = json_text_at(release, "version");
        to->version =
            version ? xstrdup(version)
                    : xstrndup(kubernetes_version, kubernetes_release_length(kubernetes_version));
        to->name = xstrdup(name);
        to->target = xstrdup(target.target);
        (void)catalog_locate(catalog, to);
        ret->count++;
    }
}
