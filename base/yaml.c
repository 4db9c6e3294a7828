/* Reads YAML: turns libyaml's events into JSON values and records the position of each value. */
#include "base/yaml.h"

#include <yaml.h>

enum { BYTES_MAX = 4 * 1024 * 1024, DEPTH_MAX = 64, PAIRS_MAX = 2000, NODES_MAX = 400000 };

/* Position of one value of the text. jansson uses one shared value each for null, true and false,
 * so those are found by their container and key. */
struct yaml_entry {
    /* Container and value. Both are references, so that their addresses cannot be reused. */
    json_t *in, *value;
    char *key; /* The value's key in an object; NULL for item `i` of a list. */
    size_t i;
    struct yaml_place key_place, place;
};

/* The state of one run of the parser. */
struct reader {
    yaml_parser_t parser;
    const char *text;
    struct yaml *yaml;
    size_t depth;
    struct error *err;
};

/* ---- positions of values ---- */

/* Overwrites the strings of a value, except in parts that have other references. */
static void forget(json_t *json) {
    if (!json || json->refcount > 1)
        return;
    if (json_is_string(json))
        secret_wipe((char *)json_string_value(json), json_string_length(json));
    json_each(json, i, item)
        forget(item);
    json_each_member(json, key, value)
        forget(value);
}

void yaml_forget(struct yaml *yaml) {
    for (size_t i = 0; i < yaml->count; i++) {
        json_decref(yaml->entries[i].in);
        json_decref(yaml->entries[i].value);
        free(yaml->entries[i].key);
    }
    free(yaml->entries);
    json_each(yaml->documents, i, document)
        forget(document);
    json_decref(yaml->documents);
    free(yaml->what);
    *yaml = (struct yaml){0};
}

static const struct yaml_entry *entry_of(const struct yaml *yaml, const json_t *in, const char *key,
                                         size_t i) {
    const json_t *value = key ? json_object_get(in, key) : json_array_get(in, i);
    bool shared = json_is_null(value) || json_is_boolean(value);

    for (size_t e = 0; value && e < yaml->count; e++) {
        const struct yaml_entry *entry = &yaml->entries[e];

        if (entry->value == value &&
            (!shared || (entry->in == in && (key ? text_equal(entry->key, key) : entry->i == i))))
            return entry;
    }
    return NULL;
}

const struct yaml_place *yaml_place_in(const struct yaml *yaml, const json_t *in, const char *key,
                                       size_t i) {
    const struct yaml_entry *entry = yaml ? entry_of(yaml, in, key, i) : NULL;

    return entry ? &entry->place : NULL;
}

const struct yaml_place *yaml_key_place(const struct yaml *yaml, const json_t *in,
                                        const char *key) {
    const struct yaml_entry *entry = entry_of(yaml, in, key, 0);

    return entry ? &entry->key_place : NULL;
}

const struct yaml_place *yaml_place(const struct yaml *yaml, const json_t *document,
                                    const char *path) {
    const struct yaml_place *found = NULL;

    for (size_t i = 0; yaml && i < yaml->count && !found; i++)
        if (yaml->entries[i].value == document)
            found = &yaml->entries[i].place;
    while (yaml && *path) {
        const json_t *in = document;
        char key[JSON_KEY_MAX];

        document = json_step(in, &path, key);
        if (!document || json_is_null(document))
            return found;
        found = yaml_place_in(yaml, in, json_is_object(in) ? key : NULL, strtoul(key, NULL, 10));
    }
    return found;
}

void yaml_pass_on(struct yaml *yaml, const json_t *from, json_t *to) {
    for (size_t i = 0; i < yaml->count; i++)
        if (yaml->entries[i].value == from) {
            array_add(
                yaml->entries, yaml->count,
                (struct yaml_entry){.value = json_incref(to), .place = yaml->entries[i].place});
            return;
        }
}

int yaml_refuse(const struct yaml *yaml, const struct yaml_place *at, struct error *err,
                enum error_kind kind, const char *format, ...) {
    _cleanup_(text_free) struct text why = {0};
    va_list args;

    va_start(args, format);
    text_addv(&why, format, args);
    va_end(args);
    return at ? error_set(err, kind, "%s: line %zu column %zu: %s", yaml->what, at->line,
                          at->column, text_str(&why))
              : error_set(err, kind, "%s: %s", yaml->what, text_str(&why));
}

/* ---- reading ---- */

/* Overwrites the text that libyaml holds before freeing it: files contain tokens and keys. */
static void event_free(yaml_event_t *event) {
    if (event->type == YAML_SCALAR_EVENT)
        secret_wipe((char *)event->data.scalar.value, event->data.scalar.length);
    yaml_event_delete(event);
}

static struct yaml_place place_of(yaml_mark_t mark) {
    return (struct yaml_place){mark.line + 1, mark.column + 1};
}

static int refuse(struct reader *r, yaml_mark_t at, const char *why) {
    const struct yaml_place place = place_of(at);

    return yaml_refuse(r->yaml, &place, r->err, ERROR_MALFORMED, "%s", why);
}

static int refuse_byte(struct reader *r, size_t offset, const char *why) {
    yaml_mark_t at = {0};

    for (size_t i = 0; i < offset; i++) {
        at.column = r->text[i] == '\n' ? 0 : at.column + ((r->text[i] & 0xc0) != 0x80);
        at.line += r->text[i] == '\n';
    }
    return refuse(r, at, why);
}

static int next_event(struct reader *r, yaml_event_t *event) {
    if (yaml_parser_parse(&r->parser, event))
        return 0;
    if (r->parser.error == YAML_READER_ERROR) {
        (void)refuse_byte(r, r->parser.problem_offset, /* Bytes that are not text have only an
                                                          offset and no line number. */
                          r->parser.problem_value ? r->parser.problem
                                                  : "a NUL byte is not allowed");
        return r->parser.problem_value && !strstr(r->parser.problem, "UTF-8")
                   ? -1
                   : error_hint(r->err,
                                "save the file as UTF-8: in Windows PowerShell, Set-Content "
                                "-Encoding utf8");
    }
    if (text_equal(r->parser.problem, "did not find expected <document start>"))
        return refuse(r, r->parser.problem_mark,
                      "did not find expected <document start>: this does not belong to anything "
                      "before it (is it indented too little?)");
    if (text_equal(r->parser.problem, "found character that cannot start any token") &&
        *r->parser.buffer.pointer == '\t')
        return refuse(r, r->parser.problem_mark, "a tab: YAML is indented with blanks alone");
    (void)refuse(r, r->parser.problem_mark,
                 r->parser.problem ? r->parser.problem : "cannot be read");
    return text_equal(r->parser.problem, "found unknown escape character")
               ? error_hint(r->err, "write paths of Windows in single quotes: 'C:\\k'")
               : -1;
}

static int check_tag(struct reader *r, const yaml_char_t *tag, yaml_mark_t at) {
    static const char core[] = "tag:yaml.org,2002:";
    static const char *const known[] = {"str", "map", "seq"};

    if (!tag || text_equal((const char *)tag, "!"))
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (text_starts_with((const char *)tag, core) &&
            text_equal((const char *)tag + strlen(core), known[i]))
            return 0;
    return refuse(r, at, "tags are not allowed here");
}

static int check_key(struct reader *r, const json_t *map, const yaml_event_t *event) {
    const char *key = (const char *)event->data.scalar.value;

    if (event->type == YAML_ALIAS_EVENT)
        return refuse(r, event->start_mark, "aliases are not allowed");
    if (event->type != YAML_SCALAR_EVENT)
        return refuse(r, event->start_mark, "a key must be a plain string");
    if (strlen(key) != event->data.scalar.length)
        return refuse(r, event->start_mark, "a key contains a NUL byte");
    if (event->data.scalar.anchor)
        return refuse(r, event->start_mark, "anchors are not allowed");
    if (check_tag(r, event->data.scalar.tag, event->start_mark) < 0)
        return -1;
    if (text_equal(key, "<<") && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return refuse(r, event->start_mark, "merge keys are not allowed");
    if (json_object_size(map) >= PAIRS_MAX)
        return refuse(r, event->start_mark, "more than 2000 keys in one map");
    if (json_object_get(map, key)) {
        _cleanup_(freep) char *why = xasprintf("duplicate key \"%.100s\" (first in line %zu)", key,
                                               yaml_key_place(r->yaml, map, key)->line);

        return refuse(r, event->start_mark, why);
    }
    return 0;
}

static int check_value(struct reader *r, const yaml_event_t *event) {
    const yaml_char_t *anchor, *tag;

    if (r->yaml->count >= NODES_MAX)
        return refuse(r, event->start_mark, "too many values");
    if (r->depth >= DEPTH_MAX)
        return refuse(r, event->start_mark, "nested deeper than 64 levels");
    if (event->type == YAML_ALIAS_EVENT)
        return refuse(r, event->start_mark, "aliases are not allowed");
    anchor = event->type == YAML_SCALAR_EVENT           ? event->data.scalar.anchor
             : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.anchor
                                                        : event->data.mapping_start.anchor;
    tag = event->type == YAML_SCALAR_EVENT           ? event->data.scalar.tag
          : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.tag
                                                     : event->data.mapping_start.tag;
    if (anchor)
        return refuse(r, event->start_mark, "anchors are not allowed");
    if (event->type == YAML_SCALAR_EVENT &&
        strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
        return refuse(r, event->start_mark, "a string contains a NUL byte");
    return check_tag(r, tag, event->start_mark);
}

static int read_list(struct reader *r, json_t *list, yaml_event_type_t end);
static int read_map(struct reader *r, json_t *map);

/* Reads the value that begins with `event` and adds it to `in`: as the next item of a list when
 * `key` is NULL, else as the member that the event `key` names. */
static int read_value(struct reader *r, json_t *in, const yaml_event_t *key,
                      const yaml_event_t *event) {
    const char *name = key ? (const char *)key->data.scalar.value : NULL;
    bool scalar = event->type == YAML_SCALAR_EVENT;
    json_t *value = NULL;
    int result = 0;

    if (check_value(r, event) < 0)
        return -1;
    if (scalar) {
        const char *text = (const char *)event->data.scalar.value;
        const char *tag = (const char *)event->data.scalar.tag;

        /* The tag "!!str" or "!" makes a plain scalar a string. */
        if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
            !text_equal(tag, "tag:yaml.org,2002:str") && !text_equal(tag, "!"))
            value = yaml_plain_value(text);
        value = value ? value : json_string(text);
    } else {
        value = event->type == YAML_SEQUENCE_START_EVENT ? json_array() : json_object();
    }
    array_add(r->yaml->entries, r->yaml->count,
              (struct yaml_entry){.in = json_incref(in),
                                  .value = value,
                                  .key = key ? xstrdup(name) : NULL,
                                  .i = json_array_size(in),
                                  .key_place = place_of(key ? key->start_mark : event->start_mark),
                                  .place = place_of(event->start_mark)});
    if (key)
        json_object_set(in, name, value);
    else
        json_array_append(in, value);
    r->depth++;
    if (!scalar)
        result = json_is_array(value) ? read_list(r, value, YAML_SEQUENCE_END_EVENT)
                                      : read_map(r, value);
    r->depth--;
    return result;
}

/* Reads the items of a list until its last event. The stream itself is a list of documents. */
static int read_list(struct reader *r, json_t *list, yaml_event_type_t end) {
    for (;;) {
        yaml_event_t event;
        yaml_event_type_t type;
        int result = 0;

        if (next_event(r, &event) < 0)
            return -1;
        type = event.type;
        if (type != end && type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT &&
            type != YAML_DOCUMENT_END_EVENT)
            result = read_value(r, list, NULL, &event);
        event_free(&event);
        if (type == end || result < 0)
            return result;
    }
}

static int read_map(struct reader *r, json_t *map) {
    for (;;) {
        yaml_event_t key, event = {0};
        int result = 0;
        bool end;

        if (next_event(r, &key) < 0)
            return -1;
        end = key.type == YAML_MAPPING_END_EVENT;
        if (!end && (result = check_key(r, map, &key)) == 0 &&
            (result = next_event(r, &event)) == 0)
            result = read_value(r, map, &key, &event);
        event_free(&key);
        event_free(&event);
        if (end || result < 0)
            return result;
    }
}

int yaml_read(const char *text, size_t len, const char *what, struct yaml *ret, struct error *err) {
    _cleanup_(yaml_forget) struct yaml yaml = {.what = xstrdup(what), .documents = json_array()};
    struct reader r = {.yaml = &yaml, .err = err};
    yaml_parser_t *parser = &r.parser;
    int result;

    if (len > BYTES_MAX)
        return yaml_refuse(&yaml, NULL, err, ERROR_MALFORMED, "longer than 4 MiB");
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* Skip a UTF-8 byte order mark. */
        text += 3;
        len -= 3;
    }
    r.text = text;
    /* Refuse U+0085: it is a line break in YAML 1.1 only, and libyaml would turn it into a blank
     * inside quotes. */
    for (size_t i = 0; i + 1 < len; i++)
        if (memcmp(text + i, "\xc2\x85", 2) == 0)
            return refuse_byte(&r, i, "U+0085 is a line break in YAML: write it as \"\\u0085\"");
    if (!yaml_parser_initialize(parser))
        abort();
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser, (const unsigned char *)text, len);
    result = read_list(&r, yaml.documents, YAML_STREAM_END_EVENT);
    secret_wipe((char *)parser->raw_buffer.start,
                (size_t)(parser->raw_buffer.end - parser->raw_buffer.start));
    secret_wipe((char *)parser->buffer.start, (size_t)(parser->buffer.end - parser->buffer.start));
    yaml_parser_delete(parser);
    if (result == 0)
        *ret = take_struct(yaml);
    return result;
}
