/* Reads a document by its schema table: canonical names out, or a failure that names the member. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tests/hns/model.h"

/* The member being read, as "Ipams[0].Subnets[1].Routes". */
struct place {
    struct hns_model *m;
    char path[200];
    bool in_settings; /* of a policy: what the schema lacks is passed over, not refused */
};

/* In a policy: Calico's ACLs have up to 4000 addresses and ranges of ports each. */
enum { TEXT_MAX = 1024, SETTING_MAX = 128 * 1024, LIST_MAX = 1024 };

static int take_object(struct place *at, const struct model_field *schema, const json_t *in,
                       json_t **ret);

static int refuse(struct place *at, unsigned hr, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));
static int refuse(struct place *at, unsigned hr, const char *format, ...) {
    char why[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    return model_fail(at->m, hr, "%s: %s", at->path[0] ? at->path : "document", why);
}

/* Goes to a member (or an item) and answers the length to go back to. */
static size_t enter(struct place *at, const char *name) {
    size_t len = strlen(at->path);

    (void)snprintf(at->path + len, sizeof(at->path) - len, "%s%s", len ? "." : "", name);
    return len;
}

static size_t enter_item(struct place *at, size_t index) {
    size_t len = strlen(at->path);

    (void)snprintf(at->path + len, sizeof(at->path) - len, "[%zu]", index);
    return len;
}

int model_parse(struct hns_model *m, const char *text, json_t **ret) {
    json_error_t error;

    *ret = json_loads(text ? text : "", JSON_REJECT_DUPLICATES, &error);
    if (!*ret)
        return model_fail(m, HR_JSON, "%s", error.text);
    if (!json_is_object(*ret)) {
        json_decref(*ret);
        *ret = NULL;
        return model_fail(m, HR_JSON, "not an object");
    }
    return 0;
}

/* sets: an item may be another name, too. */
static bool good_ranges(const char *text, bool sets) {
    char item[64];
    struct model_address address;
    struct model_prefix prefix;

    while (*text) {
        size_t len = strcspn(text, ",");

        if (!len || (!sets && len >= sizeof(item)))
            return false;
        (void)snprintf(item, sizeof(item), "%.*s", (int)len, text);
        if (!sets && !model_address_read(item, &address) &&
            !model_prefix_read(item, false, &prefix))
            return false;
        text += len;
        if (*text == ',' && !*++text)
            return false;
    }
    return true;
}

/* Whether a non-empty text is what its type says. */
static bool good_text(const struct hns_model *m, enum model_type type, const char *text) {
    struct model_address address;
    struct model_prefix prefix;
    char scratch[40];

    switch (type) {
    case T_ADDRESS:
    case T_ADDRESSES:
        return model_address_read(text, &address);
    case T_PREFIX:
        return model_prefix_read(text, true, &prefix);
    case T_LOOSE_PREFIX:
        return model_prefix_read(text, false, &prefix);
    case T_RANGE:
    case T_RANGES:
        return model_address_read(text, &address) || model_prefix_read(text, false, &prefix);
    case T_RANGES_TEXT:
        return good_ranges(text, false);
    case T_SETS_TEXT:
        return good_ranges(text, model_has(m, F_SET_POLICY));
    case T_MAC:
        return model_mac_read(text, scratch);
    case T_GUID:
    case T_GUIDS:
        return model_guid_read(text, scratch);
    default:
        return true;
    }
}

static int take_text(struct place *at, const struct model_field *field, const json_t *in,
                     json_t **ret) {
    const char *text = json_string_value(in);
    char guid[40];

    if (!text)
        return refuse(at, HR_JSON, "a string is expected");
    if (json_string_length(in) != strlen(text) ||
        strlen(text) > (at->in_settings ? SETTING_MAX : TEXT_MAX))
        return refuse(at, HR_PARAMETER, "the text is too long or has a NUL");
    if (!*text && field->required)
        return refuse(at, field->hr ? field->hr : HR_PARAMETER, "must not be empty");
    if (*text && !good_text(at->m, field->type, text))
        return refuse(at, field->hr ? field->hr : HR_PARAMETER, "'%.80s' is not valid", text);
    if ((field->type == T_GUID || field->type == T_GUIDS) && model_guid_read(text, guid))
        text = guid;
    *ret = json_string(text);
    return 0;
}

static int take_texts(struct place *at, const struct model_field *field, const json_t *in,
                      json_t **ret) {
    json_t *list, *item;

    if (!json_is_array(in))
        return refuse(at, HR_JSON, "a list is expected");
    if (json_array_size(in) > LIST_MAX)
        return refuse(at, HR_PARAMETER, "the list is too long");
    list = json_array();
    for (size_t i = 0; i < json_array_size(in); i++) {
        size_t back = enter_item(at, i);

        if (take_text(at, field, json_array_get(in, i), &item)) {
            json_decref(list);
            return -1;
        }
        at->path[back] = '\0';
        json_array_append_new(list, item);
    }
    *ret = list;
    return 0;
}

static int take_number(struct place *at, const struct model_field *field, const json_t *in,
                       json_t **ret) {
    uint64_t max = field->max ? field->max : UINT32_MAX;
    json_int_t value = json_integer_value(in);

    if (!json_is_integer(in))
        return refuse(at, HR_JSON, "a whole number is expected");
    if (value < 0 || (uint64_t)value < field->min || (uint64_t)value > max)
        return refuse(at, field->hr ? field->hr : HR_PARAMETER, "%lld is not between %llu and %llu",
                      (long long)value, (unsigned long long)field->min, (unsigned long long)max);
    *ret = json_integer(value);
    return 0;
}

static const struct model_word *find_word(const struct model_word *words, const char *text,
                                          size_t len) {
    for (; words->word; words++)
        if (strlen(words->word) == len && !strncasecmp(words->word, text, len))
            return words;
    return NULL;
}

static int take_word(struct place *at, const struct model_field *field, const json_t *in,
                     json_t **ret) {
    const char *text = json_string_value(in);
    const struct model_word *word;

    if (!text)
        return refuse(at, HR_JSON, "a string is expected");
    word = find_word(field->of, text, strlen(text));
    if (!word)
        return refuse(at, field->hr ? field->hr : HR_PARAMETER, "'%.80s' is not known", text);
    if (!model_has(at->m, word->gate))
        return refuse(at, HR_NOT_SUPPORTED, "%s", model_feature_text(word->gate));
    *ret = json_string(word->word);
    return 0;
}

static int take_flag_words(struct place *at, const struct model_field *field, const char *text,
                           uint64_t *ret) {
    const struct model_word *word;

    *ret = 0;
    while (*text) {
        size_t len = strcspn(text, ", ");

        word = find_word(field->of, text, len);
        if (!word)
            return refuse(at, HR_PARAMETER, "'%.80s' is not known", text);
        *ret |= word->value;
        text += len;
        text += strspn(text, ", ");
    }
    return 0;
}

static int take_flags(struct place *at, const struct model_field *field, const json_t *in,
                      json_t **ret) {
    uint64_t value = (uint64_t)json_integer_value(in), known = 0;

    if (!json_is_integer(in) && !json_is_string(in))
        return refuse(at, HR_JSON, "a number or words are expected");
    if (json_is_string(in) && take_flag_words(at, field, json_string_value(in), &value))
        return -1;
    for (const struct model_word *word = field->of; word->word; word++) {
        known |= word->value;
        if (value & word->value && !model_has(at->m, word->gate))
            return refuse(at, HR_NOT_SUPPORTED, "%s", model_feature_text(word->gate));
    }
    if (value & ~known)
        return refuse(at, HR_PARAMETER, "bits %#llx are not known",
                      (unsigned long long)(value & ~known));
    *ret = json_integer((json_int_t)value);
    return 0;
}

static int take_policy_at(struct place *at, const struct model_policy *table, const json_t *in,
                          json_t **ret) {
    static const struct model_field frame[] = {{.name = "Type", .type = T_STRING, .required = true},
                                               {.name = "Settings", .type = T_ANY},
                                               {0}};
    json_t *taken, *settings, *empty;
    const char *type;
    size_t back;
    int r;

    if (take_object(at, frame, in, &taken))
        return -1;
    type = json_string_value(json_object_get(taken, "Type"));
    while (table->type && strcasecmp(table->type, type))
        table++;
    if (!table->type || !model_has(at->m, table->gate)) {
        r = refuse(at, HR_POLICY_TYPE, "'%.80s'%s%s", type, table->type ? ": " : "",
                   table->type ? model_feature_text(table->gate) : "");
        json_decref(taken);
        return r;
    }
    empty = json_object();
    back = enter(at, "Settings");
    settings = json_object_get(taken, "Settings");
    at->in_settings = true;
    r = take_object(at, table->settings, settings ? settings : empty, &settings);
    at->in_settings = false;
    json_decref(empty);
    if (!r) {
        at->path[back] = '\0';
        *ret = json_pack("{s:s, s:o}", "Type", table->type, "Settings", settings);
    }
    json_decref(taken);
    return r;
}

static int take_list(struct place *at, const struct model_field *field, const json_t *in,
                     json_t **ret) {
    json_t *list, *item;

    if (!json_is_array(in))
        return refuse(at, HR_JSON, "a list is expected");
    if (json_array_size(in) > LIST_MAX)
        return refuse(at, HR_PARAMETER, "the list is too long");
    list = json_array();
    for (size_t i = 0; i < json_array_size(in); i++) {
        size_t back = enter_item(at, i);
        int r = field->type == T_POLICIES
                    ? take_policy_at(at, field->of, json_array_get(in, i), &item)
                    : take_object(at, field->of, json_array_get(in, i), &item);

        if (r) {
            json_decref(list);
            return -1;
        }
        at->path[back] = '\0';
        json_array_append_new(list, item);
    }
    *ret = list;
    return 0;
}

static int take_value(struct place *at, const struct model_field *field, const json_t *in,
                      json_t **ret) {
    switch (field->type) {
    case T_BOOL:
        if (!json_is_boolean(in))
            return refuse(at, HR_JSON, "true or false is expected");
        *ret = json_boolean(json_is_true(in));
        return 0;
    case T_UINT:
        return take_number(at, field, in, ret);
    case T_WORD:
        return take_word(at, field, in, ret);
    case T_FLAGS:
        return take_flags(at, field, in, ret);
    case T_OBJECT:
        return take_object(at, field->of, in, ret);
    case T_OBJECTS:
    case T_POLICIES:
        return take_list(at, field, in, ret);
    case T_STRINGS:
    case T_ADDRESSES:
    case T_RANGES:
    case T_GUIDS:
        return take_texts(at, field, in, ret);
    case T_ANY:
    case T_DROPPED:
        *ret = json_deep_copy(in);
        return 0;
    default:
        return take_text(at, field, in, ret);
    }
}

static const struct model_field *find_field(const struct model_field *schema, const char *name) {
    for (; schema->name; schema++)
        if (!strcasecmp(schema->name, name))
            return schema;
    return NULL;
}

/* One member of `in` into `out`; null means absent. */
static int take_member(struct place *at, const struct model_field *schema, const char *name,
                       const json_t *in, json_t *out) {
    const struct model_field *field = find_field(schema, name);
    size_t back = enter(at, field ? field->name : name);
    json_t *value = NULL;

    if (!field && !at->in_settings)
        return refuse(at, HR_JSON, "unknown member");
    if (!field) {
        at->path[back] = '\0';
        return 0;
    }
    if (json_object_get(out, field->name))
        return refuse(at, HR_JSON, "given twice");
    if (!json_is_null(in)) {
        if (!model_has(at->m, field->gate))
            return refuse(at, HR_NOT_SUPPORTED, "%s", model_feature_text(field->gate));
        if (take_value(at, field, in, &value))
            return -1;
        if (field->type == T_DROPPED)
            json_decref(value);
        else
            json_object_set_new(out, field->name, value);
    }
    at->path[back] = '\0';
    return 0;
}

static int take_object(struct place *at, const struct model_field *schema, const json_t *in,
                       json_t **ret) {
    json_t *out, *value;
    const char *name;

    if (!json_is_object(in))
        return refuse(at, HR_JSON, "an object is expected");
    out = json_object();
    json_object_foreach((json_t *)in, name, value) {
        if (take_member(at, schema, name, value, out)) {
            json_decref(out);
            return -1;
        }
    }
    for (; schema->name; schema++) {
        if (schema->required && !json_object_get(out, schema->name)) {
            json_decref(out);
            (void)enter(at, schema->name);
            return refuse(at, schema->hr ? schema->hr : HR_PARAMETER, "is required");
        }
    }
    *ret = out;
    return 0;
}

int model_take(struct hns_model *m, const struct model_field *schema, const char *where,
               const json_t *in, json_t **ret) {
    struct place at = {.m = m};

    (void)enter(&at, where);
    return take_object(&at, schema, in, ret);
}

int model_take_policy(struct hns_model *m, const struct model_policy *table, const char *where,
                      const json_t *in, json_t **ret) {
    struct place at = {.m = m};

    (void)enter(&at, where);
    return take_policy_at(&at, table, in, ret);
}
