/* Writes YAML in block style with sorted keys, as sigs.k8s.io/yaml does. */
#include <math.h>
#include <yaml.h>

#include "base/yaml.h"

static int append(void *context, unsigned char *data, size_t len) {
    text_add_bytes(context, data, len);
    return 1;
}

static void emit(yaml_emitter_t *emitter, yaml_event_t *event) {
    if (!yaml_emitter_emit(emitter, event))
        /* The events come from a JSON value, so only a lack of memory can make this fail. */
        abort();
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

/* Would another YAML parser read this string as a date, a base-60 number ("1:20:30.5" in YAML 1.1),
 * infinity, NaN, a merge key or a default value ("=")? */
static bool is_ambiguous(const char *text) {
    static const char *const words[] = {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN", "<<", "="};
    const char *p = text + (*text == '-' || *text == '+');
    size_t digits = digits_at(text), groups = 0;

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (text_equal(p, words[i]))
            return true;
    if (digits == 4 && text[4] == '-')
        return digits_at(text + 5) && text[5 + digits_at(text + 5)] == '-';
    if (!digits_at(p))
        return false;
    for (p += strspn(p, "0123456789_"); *p == ':'; groups++) {
        digits = digits_at(p + 1);
        if (digits < 1 || digits > 2 || (digits == 2 && p[1] > '5'))
            return false;
        p += 1 + digits;
    }
    if (*p == '.')
        p += 1 + strspn(p + 1, "0123456789_");
    return groups && *p == '\0';
}

/* Writes a string. It is quoted when it would be read back as another type or has characters that
 * must be escaped. A string of several lines becomes a block. */
static void emit_string(yaml_emitter_t *emitter, const char *text) {
    _cleanup_json_ json_t *other = yaml_plain_value(text);
    _cleanup_(text_free) struct text visible = {0};

    /* The copy differs from the text when the text has invisible characters. */
    text_add_visible(&visible, text, strlen(text));
    emit_text(emitter, text,
              !text_equal(text, text_str(&visible)) ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
              : strchr(text, '\n')                  ? YAML_LITERAL_SCALAR_STYLE
              : other || is_ambiguous(text)         ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
                                                    : YAML_PLAIN_SCALAR_STYLE);
}

/* Formats a number as Go's FormatFloat(value, 'g', -1, 64): with the fewest digits that read back
 * as the same value. Integral values are written as integers, because JSON from other sources does
 * not distinguish 1 from 1.0. The caller frees the text. */
static char *number_text(const json_t *json) {
    double value = json_real_value(json);
    char digits[40];
    int count = 0, exponent;

    if (!json_is_real(json))
        return json_write(json);
    if (fabs(value) < 0x1p63 && value == (double)(json_int_t)value)
        return xasprintf("%lld", (long long)value);
    /* The buffer is large enough for 17 digits and an exponent. */
    do
        (void)text_format(digits, sizeof digits, "%.*e", count++, value);
    while (count < 17 && strtod(digits, NULL) != value);
    exponent = (int)strtol(strchr(digits, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 6)
        return xstrdup(digits);
    return xasprintf("%.*f", count - 1 > exponent ? count - 1 - exponent : 0, value);
}

static void emit_value(yaml_emitter_t *emitter, const json_t *json) {
    yaml_event_t event;

    if (json_is_object(json)) {
        _cleanup_(text_list_free) struct text_list keys = {0};

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
    } else if (json_is_array(json)) {
        yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                             json_array_size(json) ? YAML_BLOCK_SEQUENCE_STYLE
                                                                   : YAML_FLOW_SEQUENCE_STYLE);
        emit(emitter, &event);
        json_each(json, i, item)
            emit_value(emitter, item);
        yaml_sequence_end_event_initialize(&event);
        emit(emitter, &event);
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
    /* The line width at which sigs.k8s.io/yaml folds long texts. */
    yaml_emitter_set_width(&emitter, 80);
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
    /* The invisible characters are all inside double quotes. libyaml itself has escaped those
     * beyond U+FFFF. */
    text_add_visible(&visible, text_str(&out), out.len);
    return text_take(&visible);
}

/* ---- templates ---- */

/* Returns a copy of the tree in which each string "@NAME@" is replaced by the value of NAME. An
 * item or member whose name has no value is dropped. Returns NULL when the tree itself is a string
 * whose name has no value. The strings are replaced in the tree, so that no value is parsed as
 * YAML. */
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
    _cleanup_(yaml_forget) struct yaml read = {0};
    _cleanup_json_ json_t *owned = values;

    if (yaml_read(yaml, strlen(yaml), "template", &read, NULL) < 0)
        return NULL;
    return filled(json_at(json_array_get(read.documents, 0), path), owned);
}
