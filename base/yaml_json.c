/* Between YAML and JSON: scalars by the core schema as Kubernetes reads them, and block-style
 * writing with sorted keys as sigs.k8s.io/yaml does it. */
#include <math.h>
#include <stdint.h>
#include <yaml.h>

#include "base/yaml.h"

/* go-yaml's words for booleans: 1, 0, or -1 when the text is none. */
static int boolean_of(const char *text) {
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES",
                                      "on",   "On",   "ON",   "y",   "Y"};
    static const char *const no[] = {"false", "False", "FALSE", "no", "No", "NO",
                                     "off",   "Off",   "OFF",   "n",  "N"};

    for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
        if (text_equal(text, yes[i]))
            return 1;
        if (text_equal(text, no[i]))
            return 0;
    }
    return -1;
}

static bool is_float(const char *text) {
    const char *p = text + (*text == '-' || *text == '+');
    size_t whole = strspn(p, "0123456789"), part = 0;

    p += whole;
    if (*p == '.') {
        part = strspn(p + 1, "0123456789");
        p += 1 + part;
    }
    if (whole + part == 0)
        return false;
    if (*p == 'e' || *p == 'E') {
        p += 1 + (p[1] == '-' || p[1] == '+');
        if (!strspn(p, "0123456789"))
            return false;
        p += strspn(p, "0123456789");
    }
    return *p == '\0';
}

/* Go's ParseInt with base 0: 0x, 0o, 0b, and a leading 0 for octal. */
static int base_of(const char **digits) {
    static const struct {
        const char *prefix;
        int base;
    } bases[] = {{"0x", 16}, {"0X", 16}, {"0o", 8}, {"0O", 8}, {"0b", 2}, {"0B", 2}};

    for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
        if (text_starts_with(*digits, bases[i].prefix)) {
            *digits += 2;
            return bases[i].base;
        }
    }
    return **digits == '0' && (*digits)[1] ? 8 : 10;
}

static json_t *integer_of(const char *text) {
    bool negative = *text == '-';
    const char *digits = text + (negative || *text == '+');
    unsigned long long value = 0, limit = negative ? (unsigned long long)INT64_MAX + 1 : UINT64_MAX;
    int base = base_of(&digits);

    if (!*digits)
        return NULL;
    for (; *digits; digits++) {
        static const char all[] = "0123456789abcdef0123456789ABCDEF";
        const char *found = strchr(all, *digits);
        unsigned digit = found ? (unsigned)(found - all) % 16 : 16;

        if (digit >= (unsigned)base || value > (limit - digit) / (unsigned)base)
            return NULL;
        value = value * (unsigned)base + digit;
    }
    if (!negative && value > INT64_MAX)
        return json_real((double)value);
    return json_integer(negative ? (json_int_t)(0 - value) : (json_int_t)value);
}

/* go-yaml takes "1_000" for a number, yet not ".5_". */
static json_t *number_of(const char *text) {
    _cleanup_(freep) char *plain = xstrdup(text);
    char *to = plain;
    json_t *number;

    for (const char *p = strchr(text, '_'); *text == '.' && p; p = strchr(p + 1, '_'))
        if (p[-1] < '0' || p[-1] > '9' || p[1] < '0' || p[1] > '9')
            return NULL;
    for (const char *from = text; *from; from++)
        if (*from != '_')
            *to++ = *from;
    *to = '\0';
    number = integer_of(plain);
    return !number && is_float(plain) && isfinite(strtod(plain, NULL))
               ? json_real(strtod(plain, NULL))
               : number;
}

/* What a plain scalar means; NULL when it is a string. New reference. */
static json_t *plain_value(const char *text) {
    int boolean;

    if (!strchr("~nNtTfFyYoO+-.0123456789", *text)) /* what anything but a string begins with */
        return NULL;
    boolean = boolean_of(text);
    if (!*text || text_equal(text, "~") || text_equal(text, "null") || text_equal(text, "Null") ||
        text_equal(text, "NULL"))
        return json_null();
    if (boolean >= 0)
        return json_boolean(boolean);
    if (!strchr("+-.0123456789", *text))
        return NULL;
    return number_of(text);
}

/* Go's FormatFloat(value, 'g', -1, 64): as few digits as read back the same. The caller frees. */
static char *real_text(double value) {
    char digits[40];
    int count = 0, exponent;

    do
        (void)text_format(digits, sizeof digits, "%.*e", count++, value); /* it has room */
    while (count < 17 && strtod(digits, NULL) != value);
    exponent = (int)strtol(strchr(digits, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 6)
        return xstrdup(digits);
    return xasprintf("%.*f", count - 1 > exponent ? count - 1 - exponent : 0, value);
}

bool yaml_is_text(const struct yaml_node *node) {
    _cleanup_json_ json_t *plain = NULL;

    if (yaml_type(node) != YAML_SCALAR || yaml_is_quoted(node))
        return yaml_type(node) == YAML_SCALAR;
    plain = plain_value(yaml_text(node));
    return !plain;
}

json_t *yaml_to_json(const struct yaml_node *node) {
    json_t *json;

    switch (yaml_type(node)) {
    case YAML_LIST:
        json = json_array();
        for (size_t i = 0; i < yaml_count(node); i++)
            json_array_append_new(json, yaml_to_json(yaml_item(node, i)));
        return json;
    case YAML_MAP:
        json = json_object();
        for (size_t i = 0; i < yaml_count(node); i++)
            json_object_set_new(json, yaml_key(node, i), yaml_to_json(yaml_value(node, i)));
        return json;
    case YAML_SCALAR:
        json = yaml_is_quoted(node) ? NULL : plain_value(yaml_text(node));
        return json ? json : json_string(yaml_text(node));
    case YAML_NULL:
        break;
    }
    return json_null();
}

static int append(void *context, unsigned char *data, size_t len) {
    text_add_bytes(context, data, len);
    return 1;
}

static void emit(yaml_emitter_t *emitter, yaml_event_t *event) {
    if (!yaml_emitter_emit(emitter, event))
        abort(); /* only memory can fail: the events come from a JSON value */
}

static void emit_text(yaml_emitter_t *emitter, const char *text, yaml_scalar_style_t style) {
    yaml_event_t event;

    if (!yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
                                      (int)strlen(text), 1, 1, style))
        abort();
    emit(emitter, &event);
}

static size_t digits_at(const char *text) {
    return strspn(text, "0123456789");
}

/* YAML 1.1's numbers of base 60, "1:20:30.5". */
static bool is_base60(const char *text) {
    const char *p = text + (*text == '-' || *text == '+');
    size_t groups = 0;

    if (!digits_at(p))
        return false;
    for (p += strspn(p, "0123456789_"); *p == ':'; groups++) {
        size_t digits = digits_at(p + 1);

        if (digits < 1 || digits > 2 || (digits == 2 && p[1] > '5'))
            return false;
        p += 1 + digits;
    }
    if (*p == '.')
        p += 1 + strspn(p + 1, "0123456789_");
    return groups && *p == '\0';
}

/* What other parsers take for a date, a number of base 60, infinity, no number at all, a merge or a
 * default value. */
static bool is_ambiguous(const char *text) {
    const char *p = text + (*text == '-' || *text == '+');
    const char *const words[] = {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN", "<<", "="};
    size_t digits = digits_at(text);

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (text_equal(p, words[i]))
            return true;
    if (digits == 4 && text[4] == '-')
        return digits_at(text + 5) && text[5 + digits_at(text + 5)] == '-';
    return is_base60(text);
}

/* Has it characters that show nothing, yet change how others look? */
static bool has_invisible(const char *text) {
    _cleanup_(text_free) struct text visible = {0};

    text_add_visible(&visible, text, strlen(text));
    return !text_equal(text, text_str(&visible));
}

/* Strings that would read back as another type are quoted, as are those with characters that must
 * be escaped; several lines stand as a block. */
static void emit_string(yaml_emitter_t *emitter, const char *text) {
    _cleanup_json_ json_t *other = plain_value(text);

    emit_text(emitter, text,
              has_invisible(text)           ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
              : strchr(text, '\n')          ? YAML_LITERAL_SCALAR_STYLE
              : other || is_ambiguous(text) ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
                                            : YAML_PLAIN_SCALAR_STYLE);
}

/* Whole numbers have come through JSON, which knows no other kind of number. */
static char *number_text(const json_t *json) {
    double value = json_is_real(json) ? json_real_value(json) : 0;

    if (!json_is_real(json))
        return json_write(json);
    if (fabs(value) < 0x1p63 && value == (double)(json_int_t)value)
        return xasprintf("%lld", (long long)value);
    return real_text(value);
}

static void emit_value(yaml_emitter_t *emitter, const json_t *json);

static void emit_object(yaml_emitter_t *emitter, const json_t *json) {
    _cleanup_(text_list_free) struct text_list keys = {0};
    yaml_event_t event;

    json_sorted_keys(json, &keys);
    yaml_mapping_start_event_initialize(
        &event, NULL, NULL, 1, keys.count ? YAML_BLOCK_MAPPING_STYLE : YAML_FLOW_MAPPING_STYLE);
    emit(emitter, &event);
    for (size_t i = 0; i < keys.count; i++) {
        emit_string(emitter, keys.items[i]);
        emit_value(emitter, json_object_get(json, keys.items[i]));
    }
    yaml_mapping_end_event_initialize(&event);
    emit(emitter, &event);
}

static void emit_array(yaml_emitter_t *emitter, const json_t *json) {
    yaml_event_t event;

    yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                         json_array_size(json) ? YAML_BLOCK_SEQUENCE_STYLE
                                                               : YAML_FLOW_SEQUENCE_STYLE);
    emit(emitter, &event);
    json_each(json, i, item)
        emit_value(emitter, item);
    yaml_sequence_end_event_initialize(&event);
    emit(emitter, &event);
}

static void emit_value(yaml_emitter_t *emitter, const json_t *json) {
    if (json_is_object(json)) {
        emit_object(emitter, json);
    } else if (json_is_array(json)) {
        emit_array(emitter, json);
    } else if (json_is_string(json)) {
        emit_string(emitter, json_string_value(json));
    } else {
        _cleanup_(freep) char *text = number_text(json);

        emit_text(emitter, text, YAML_PLAIN_SCALAR_STYLE);
    }
}

char *yaml_write(const json_t *json) {
    _cleanup_(text_free) struct text out = {0};
    struct text visible = {0};
    yaml_emitter_t emitter;
    yaml_event_t event;

    if (!yaml_emitter_initialize(&emitter))
        abort();
    yaml_emitter_set_output(&emitter, append, &out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, 80); /* as sigs.k8s.io/yaml folds long texts */
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    emit(&emitter, &event);
    yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
    emit(&emitter, &event);
    emit_value(&emitter, json);
    yaml_document_end_event_initialize(&event, 1);
    emit(&emitter, &event);
    yaml_stream_end_event_initialize(&event);
    emit(&emitter, &event);
    yaml_emitter_delete(&emitter);
    text_add_visible(&visible, text_str(&out), out.len); /* all between quotes; libyaml has those
                                                          * beyond U+FFFF escaped */
    return text_take(&visible);
}

/* ---- marks ---- */

static void add(struct yaml_marks *marks, json_t *value, size_t line, size_t column) {
    if (json_is_null(value) || json_is_boolean(value))
        return;
    if (marks->count == marks->capacity) {
        marks->capacity = marks->capacity ? 2 * marks->capacity : 64;
        marks->items = xrealloc(marks->items, marks->capacity * sizeof *marks->items);
    }
    marks->items[marks->count++] = (struct yaml_mark){json_incref(value), line, column};
}

/* Both trees have the same shape. */
static void add_all(struct yaml_marks *marks, const struct yaml_node *node, json_t *json) {
    add(marks, json, yaml_line(node), yaml_column(node));
    for (size_t i = 0; yaml_type(node) == YAML_LIST && i < yaml_count(node); i++)
        add_all(marks, yaml_item(node, i), json_array_get(json, i));
    for (size_t i = 0; yaml_type(node) == YAML_MAP && i < yaml_count(node); i++)
        add_all(marks, yaml_value(node, i), json_object_get(json, yaml_key(node, i)));
}

json_t *yaml_to_json_marked(const struct yaml_node *node, const char *what,
                            struct yaml_marks *ret) {
    json_t *json = yaml_to_json(node);

    *ret = (struct yaml_marks){.what = xstrdup(what)};
    add_all(ret, node, json);
    return json;
}

void yaml_marks_free(struct yaml_marks *marks) {
    for (size_t i = 0; i < marks->count; i++)
        json_decref(marks->items[i].value);
    free(marks->items);
    free(marks->what);
    *marks = (struct yaml_marks){0};
}

static const struct yaml_mark *mark_of(const struct yaml_marks *marks, const json_t *value) {
    for (size_t i = 0; i < marks->count; i++)
        if (marks->items[i].value == value)
            return &marks->items[i];
    return NULL;
}

void yaml_marks_pass_on(struct yaml_marks *marks, const json_t *from, json_t *to) {
    const struct yaml_mark *mark = mark_of(marks, from);

    if (mark)
        add(marks, to, mark->line, mark->column);
}

/* The value that the first name of a path leads to; *path becomes the rest. */
static json_t *step(const json_t *value, const char **path) {
    size_t len = strcspn(*path, ".[]");
    _cleanup_(freep) char *name = xstrndup(*path, len);

    *path += len;
    *path += strspn(*path, ".[]");
    return json_is_array(value) ? json_array_get(value, strtoul(name, NULL, 10))
                                : json_object_get(value, name);
}

const struct yaml_mark *yaml_marks_find(const struct yaml_marks *marks, const json_t *document,
                                        const char *path) {
    const struct yaml_mark *found = marks ? mark_of(marks, document) : NULL;

    while (marks && *path) {
        document = step(document, &path);
        if (!document || json_is_null(document) || json_is_boolean(document))
            return found;
        found = mark_of(marks, document);
    }
    return found;
}

/* ---- templates ---- */

/* NULL: a place without a value. Places are filled in the tree, not in the text: no value can be
 * read as YAML. */
static json_t *filled(const json_t *json, const json_t *values) {
    const char *text = json_string_value(json);
    size_t len = text ? strlen(text) : 0;
    json_t *made;

    if (len > 2 && text[0] == '@' && text[len - 1] == '@') {
        _cleanup_(freep) char *name = xstrndup(text + 1, len - 2);

        return json_incref(json_object_get(values, name));
    }
    if (!json_is_array(json) && !json_is_object(json))
        return json_copy((json_t *)json);
    made = json_is_array(json) ? json_array() : json_object();
    json_each(json, i, item)
        json_array_append_new(made, filled(item, values));
    json_each_member(json, key, value)
        json_object_set_new(made, key, filled(value, values));
    return made;
}

json_t *yaml_template(const char *yaml, const char *path, json_t *values) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    _cleanup_json_ json_t *json = NULL, *owned = values;

    if (yaml_parse(yaml, strlen(yaml), "template", &documents, NULL) < 0)
        return NULL;
    json = yaml_to_json(yaml_document(documents, 0));
    return filled(json_at(json, path), owned);
}
