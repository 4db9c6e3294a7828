/* Makes JSON Schemas of the documents from the tables of the program. */
#include "cmd/program.h"

#include "base/yaml.h"
#include "diag/drift/drift.h"
#include "diag/flows/flows.h"
#include "host/host.h"
#include "join/configuration/join_configuration.h"
#include "join/phases/phases.h"
#include "join/preflight/preflight.h"
#include "netsetup/agents/agent.h"
#include "services/artifacts/catalog.h"
#include "templates/templates.h"

#define DIALECT "https://json-schema.org/draft/2020-12/schema"

/* ---- values that come from a table of the program ---- */

/* Adds the names of a table; returns false when no table has that name. */
static bool add_table(const char *table, struct text_list *ret) {
    if (text_equal(table, "@error"))
        for (int i = ERROR_NONE + 1; i <= ERROR_INTERRUPTED; i++)
            text_list_add(ret, error_kind_name((enum error_kind)i));
    else if (text_equal(table, "@flow"))
        for (size_t i = 0; diag_flows[i].name; i++)
            text_list_add(ret, diag_flows[i].name);
    else if (text_equal(table, "@outcome"))
        for (int i = 0; i <= DIAG_NOT_RUN; i++)
            text_list_add(ret, diag_outcome_name((enum diag_outcome)i));
    else if (text_equal(table, "@probe"))
        for (int i = 0; i <= PROBE_FAILED; i++)
            text_list_add(ret, probe_outcome_names[i]);
    else if (text_equal(table, "@phase"))
        for (size_t i = 0; join_phases[i].id; i++)
            text_list_add(ret, join_phases[i].id);
    else if (text_equal(table, "@check"))
        for (int i = 0; i < PREFLIGHT_OUTCOME_COUNT; i++)
            text_list_add(ret, preflight_outcome_names[i]);
    else if (text_equal(table, "@service"))
        for (int i = 0; i <= HOST_SERVICE_PAUSED; i++)
            text_list_add(ret, host_service_states[i]);
    else if (text_equal(table, "@drift"))
        for (size_t i = 0; i < DRIFT_KINDS; i++)
            text_list_add(ret, drift_kinds[i].key);
    else if (text_equal(table, "@mode"))
        network_mode_names(ret);
    else if (text_equal(table, "@plugin"))
        network_plugin_names(ret);
    else
        return false;
    return true;
}

/* Splits "a|b|@table" and replaces @table by the names of that table. */
static void names_of(const char *words, struct text_list *ret) {
    _cleanup_(text_list_free) struct text_list list = {0};

    text_list_split(&list, words, '|');
    for (size_t i = 0; i < list.count; i++)
        if (!add_table(list.items[i], ret))
            text_list_add(ret, list.items[i]);
}

static json_t *choices_schema(const char *words) {
    _cleanup_(text_list_free) struct text_list names = {0};

    names_of(words, &names);
    return json_pack("{s:o}", "enum", json_texts(&names));
}

/* ---- documents that are printed ---- */

static void add_members(const json_t *shape, const json_t *types, json_t *schema);

/* Makes the schema of a shape: a text "TYPE; meaning", an array with one shape, or an object. */
static json_t *schema_of(const json_t *shape, const json_t *types) {
    static const struct {
        const char *name, *type, *format;
    } scalars[] = {{"text", "string", NULL},
                   {"bool", "boolean", NULL},
                   {"number", "integer", NULL},
                   {"decimal", "number", NULL},
                   {"time", "string", "date-time"}};
    const char *text = json_is_string(shape) ? json_string_value(shape) : "";
    size_t len = strcspn(text, ";");
    _cleanup_(freep) char *type = xstrndup(text, len);
    const json_t *known = json_object_get(types, type);
    json_t *schema = NULL;

    if (json_is_array(shape))
        return json_pack("{s:s, s:o}", "type", "array", "items",
                         schema_of(json_array_get(shape, 0), types));
    if (!json_is_string(shape)) {
        schema = json_pack("{s:s}", "type", "object");
        add_members(shape, types, schema);
        return schema;
    }
    for (size_t i = 0; i < ARRAY_SIZE(scalars) && !schema; i++)
        if (text_equal(scalars[i].name, type))
            schema = json_pack("{s:s, s:s*}", "type", scalars[i].type, "format", scalars[i].format);
    if (!schema)
        schema = known                     ? schema_of(known, types)
                 : text_equal(type, "any") ? json_object()
                                           : choices_schema(type);
    if (known)
        json_object_set_new(schema, "title", json_string(type));
    if (text[len])
        json_object_set_new(schema, "description", json_string(text + len + 2));
    return schema;
}

static void add_members(const json_t *shape, const json_t *types, json_t *schema) {
    json_each_member(shape, key, value) {
        size_t len = strcspn(key, "?");
        _cleanup_(freep) char *name = xstrndup(key, len);
        _cleanup_(text_list_free) struct text_list names = {0};

        if (text_equal(key, "*")) {
            json_object_set_new(schema, "additionalProperties", schema_of(value, types));
            continue;
        }
        names_of(name, &names);
        for (size_t i = 0; i < names.count; i++) {
            json_object_set_new(json_object_in(schema, "properties"), names.items[i],
                                schema_of(value, types));
            if (!key[len])
                json_array_append_new(json_array_in(schema, "required"),
                                      json_string(names.items[i]));
        }
    }
}

static json_t *head(const char *title, const char *of, const char *version, const char *kind) {
    json_t *schema = json_pack("{s:s, s:s, s:s, s:s}", "$schema", DIALECT, "title", title,
                               "description", of, "type", "object");

    if (version)
        json_object_set_new(
            schema, "properties",
            json_pack("{s:{s:s}, s:{s:s}}", "apiVersion", "const", version, "kind", "const", kind));
    if (version)
        json_object_set_new(schema, "required", json_pack("[s, s]", "apiVersion", "kind"));
    return schema;
}

/* ---- documents that are read: no other members are allowed, null means "not given" ---- */

static json_t *leaf_schema(enum yaml_field_type type) {
    static const char *const types[] = {
        [YAML_FIELD_TEXT] = "string",     [YAML_FIELD_BOOL] = "boolean",
        [YAML_FIELD_NUMBER] = "integer",  [YAML_FIELD_DURATION] = "string",
        [YAML_FIELD_TIME] = "string",     [YAML_FIELD_TEXTS] = "array",
        [YAML_FIELD_TEXT_MAP] = "object", [YAML_FIELD_EMPTY] = "object"};
    json_t *schema = json_pack("{s:[s, s]}", "type", types[type], "null");

    if (type == YAML_FIELD_TIME)
        json_set_text(schema, "format", "date-time");
    if (type == YAML_FIELD_DURATION)
        json_set_text(schema, "description", "a duration like 30s, 5m or 1m30s");
    if (type == YAML_FIELD_TEXTS)
        json_object_set_new(schema, "items", leaf_schema(YAML_FIELD_TEXT));
    if (type == YAML_FIELD_TEXT_MAP)
        json_object_set_new(schema, "additionalProperties", leaf_schema(YAML_FIELD_TEXT));
    if (type == YAML_FIELD_EMPTY)
        json_object_set_new(schema, "additionalProperties", json_false());
    return schema;
}

/* Adds the leaf at a path such as "a.b[].c", and the objects and arrays on that path. */
static void add_at(json_t *schema, const char *path, json_t *leaf) {
    size_t len = strcspn(path, ".[");
    _cleanup_(freep) char *name = xstrndup(path, len);
    json_t *members = json_object_in(schema, "properties"), *next = json_object_get(members, name);

    if (!path[len]) {
        if (next)
            json_decref(leaf); /* The members apiVersion and kind are already there. */
        else
            json_object_set_new(members, name, leaf);
        return;
    }
    if (!next) {
        next = json_pack("{s:[s, s], s:{}, s:b}", "type", "object", "null", "properties",
                         "additionalProperties", 0);
        if (path[len] == '[')
            next = json_pack("{s:[s, s], s:o}", "type", "array", "null", "items", next);
        json_object_set_new(members, name, next);
    }
    if (path[len] == '[')
        next = json_object_get(next, "items");
    add_at(next, path + len + (path[len] == '[' ? 3 : 1), leaf);
}

static void add_fields(json_t *schema, const struct yaml_field *fields, unsigned version) {
    for (const struct yaml_field *f = fields; f->path; f++)
        if (!f->versions || f->versions & version)
            add_at(schema, f->path, leaf_schema(f->type));
}

static void add_node(json_t *schema) {
    join_each_option(o) {
        json_t *leaf;

        if (!o->node)
            continue;
        leaf = leaf_schema(join_option_yaml(o));
        if (o->type == OPTION_CHOICE) {
            json_object_del(leaf, "type");
            json_object_update_new(leaf, choices_schema(o->choices));
            json_array_append_new(json_object_get(leaf, "enum"), json_null());
        }
        if (o->type == OPTION_NUMBER)
            json_object_update_new(leaf, json_pack("{s:I, s:I}", "minimum", (json_int_t)o->min,
                                                   "maximum", (json_int_t)o->max));
        json_set_text(leaf, "description", o->help);
        add_at(schema, o->node, leaf);
    }
}

static const struct {
    const char *name, *of, *version, *kind;
} read[] = {
    {"JoinConfiguration", "--config: kubeadm.k8s.io/v1beta4", JOIN_CONFIGURATION_V1BETA4,
     JOIN_CONFIGURATION_KIND},
    {"JoinConfiguration.v1beta3", "--config: kubeadm.k8s.io/v1beta3", JOIN_CONFIGURATION_V1BETA3,
     JOIN_CONFIGURATION_KIND},
    {"NodeConfiguration", "--config, and the cluster's defaults", NODE_CONFIGURATION_V1ALPHA1,
     NODE_CONFIGURATION_KIND},
    {"Catalog", "--catalog", CATALOG_V1ALPHA1, CATALOG_KIND},
};

/* Adds the members as lines of YAML that are commented out. Without "# " they are a document in
 * which nothing is given but the first of each member's choices. */
static void add_commented(const json_t *schema, int indent, struct text *out) {
    json_each_member(json_object_get(schema, "properties"), name, member) {
        const json_t *choices = json_object_get(member, "enum");
        const char *what = json_text_at(member, "description");

        if (json_object_get(member, "const"))
            continue;
        if (what)
            text_addf(out, "# %*s# %s", indent, "", what);
        for (size_t i = 0; i + 1 < json_array_size(choices); i++)
            text_addf(out, "%s%s", i ? ", " : "; one of ",
                      json_string_value(json_array_get(choices, i)));
        text_addf(out, "%s# %*s%s:", what ? "\n" : "", indent, "", name);
        if (choices)
            text_addf(out, " %s", json_text_at(choices, "0"));
        text_add(out, json_object_get(member, "items") ? " []\n" : "\n");
        add_commented(member, indent + 2, out);
    }
}

char *schema_commented(const char *name) {
    _cleanup_json_ json_t *schema = schema_make(name);
    struct text out = {0};

    add_commented(schema, 0, &out);
    return text_take(&out);
}

/* ---- all documents ---- */

/* Reads documents.yaml: {types, documents}. New reference. */
static json_t *printed(void) {
    const struct template *text = template_find("documents.yaml");
    _cleanup_(yaml_forget) struct yaml yaml = {0};

    return yaml_read(text->data, text->len, text->name, &yaml, ERROR_IGNORED) < 0
               ? NULL
               : json_incref(json_array_get(yaml.documents, 0));
}

void schema_names(struct text_list *names, struct text_list *of) {
    _cleanup_json_ json_t *all = printed();

    json_each_member(json_object_get(all, "documents"), name, document) {
        text_list_add(names, name);
        text_list_add(of, json_text_at(document, "of"));
    }
    for (size_t i = 0; i < ARRAY_SIZE(read); i++) {
        text_list_add(names, read[i].name);
        text_list_add(of, read[i].of);
    }
}

json_t *schema_make(const char *name) {
    _cleanup_json_ json_t *all = printed();
    const json_t *types = json_object_get(all, "types");
    const json_t *document = json_object_get(json_object_get(all, "documents"), name);
    bool bare = json_bool_at(document, "bare", false);
    const char *also = json_text_at(document, "also");
    json_t *schema;

    for (size_t i = 0; !document && i < ARRAY_SIZE(read); i++) {
        struct yaml_field fields[JOIN_CONFIGURATION_FIELDS_MAX];

        if (!text_equal(read[i].name, name))
            continue;
        schema = head(name, read[i].of, read[i].version, read[i].kind);
        json_object_set_new(schema, "additionalProperties", json_false());
        if (text_equal(read[i].kind, NODE_CONFIGURATION_KIND)) {
            add_node(schema);
        } else if (text_equal(read[i].kind, CATALOG_KIND)) {
            add_fields(schema, catalog_fields, 0);
        } else {
            join_configuration_fields(fields);
            add_fields(schema, fields, join_configuration_version(read[i].version));
        }
        return schema;
    }
    if (!document)
        return NULL;
    schema = head(name, json_text_at(document, "of"), bare ? NULL : "winjoin.io/v1alpha1", name);
    add_members(json_object_get(document, "fields"), types, schema);
    if (also)
        add_members(json_object_get(types, also), types, schema);
    if (!bare) {
        _cleanup_json_ json_t *ends = json_pack("{s:s}", "error?", "Error");

        /* The error of a failed call is in each document. A run also saves its document as a
         * report, with these members. */
        if (json_bool_at(document, "report", false))
            json_object_update_new(ends, json_pack("{s:s, s:s, s:s}", "time?",
                                                   "time; of a report that a run left", "exitCode?",
                                                   "number; likewise", "log?", "text; likewise"));
        add_members(ends, types, schema);
    }
    return schema;
}
