/* Reads YAML: libyaml's events become a small tree that knows lines and columns. */
#include "base/yaml.h"

#include <yaml.h>

enum { BYTES_MAX = 4 * 1024 * 1024, DEPTH_MAX = 64, PAIRS_MAX = 2000, NODES_MAX = 400000 };

struct yaml_pair {
    char *key;
    size_t line, column;
    struct yaml_node *value;
};

struct yaml_node {
    enum yaml_type type;
    size_t line, column;
    bool quoted;
    char *text;
    size_t count;
    struct yaml_node **items;
    struct yaml_pair *pairs;
    json_t *places; /* key -> its pair's index while a map is read: comparing all takes too long */
};

struct yaml_documents {
    struct yaml_node **roots;
    size_t count;
};

/* What one run of the parser carries along. */
struct reader {
    yaml_parser_t parser;
    const char *what, *text;
    size_t depth, nodes;
    struct error *err;
};

static void node_free(struct yaml_node *node) {
    if (!node)
        return;
    for (size_t i = 0; i < node->count; i++) {
        if (node->items)
            node_free(node->items[i]);
        if (node->pairs) {
            node_free(node->pairs[i].value);
            free(node->pairs[i].key);
        }
    }
    free(node->items);
    free(node->pairs);
    secret_free_text(node->text);
    json_decref(node->places);
    free(node);
}

static void node_freep(struct yaml_node **node) {
    node_free(*node);
}

/* Files hold tokens and keys: libyaml's own copies are overwritten, too. */
static void event_free(yaml_event_t *event) {
    if (event->type == YAML_SCALAR_EVENT)
        secret_wipe((char *)event->data.scalar.value, event->data.scalar.length);
    yaml_event_delete(event);
}

static void parser_free(yaml_parser_t *parser) {
    secret_wipe((char *)parser->raw_buffer.start,
                (size_t)(parser->raw_buffer.end - parser->raw_buffer.start));
    secret_wipe((char *)parser->buffer.start, (size_t)(parser->buffer.end - parser->buffer.start));
    yaml_parser_delete(parser);
}

static int refuse(struct reader *r, yaml_mark_t at, const char *why) {
    return error_set(r->err, ERROR_MALFORMED, "%s: line %zu column %zu: %s", r->what, at.line + 1,
                     at.column + 1, why);
}

static int refuse_byte(struct reader *r, size_t offset, const char *why) {
    yaml_mark_t at = {0};

    for (size_t i = 0; i < offset; i++) {
        at.column = r->text[i] == '\n' ? 0 : at.column + ((r->text[i] & 0xc0) != 0x80);
        at.line += r->text[i] == '\n';
    }
    return refuse(r, at, why);
}

/* A line's end for YAML 1.1 alone: in quotes it would become a blank. */
static int check_line_ends(struct reader *r, size_t len) {
    for (size_t i = 0; i + 1 < len; i++)
        if (memcmp(r->text + i, "\xc2\x85", 2) == 0)
            return refuse_byte(r, i, "U+0085 is a line break in YAML: write it as \"\\u0085\"");
    return 0;
}

static int next_event(struct reader *r, yaml_event_t *event) {
    if (yaml_parser_parse(&r->parser, event))
        return 0;
    if (r->parser.error == YAML_READER_ERROR)
        return refuse_byte(r, r->parser.problem_offset, /* bytes that are no text have no mark */
                           r->parser.problem_value ? r->parser.problem
                                                   : "a NUL byte is not allowed");
    if (text_equal(r->parser.problem, "did not find expected <document start>"))
        return refuse(r, r->parser.problem_mark,
                      "did not find expected <document start>: this does not belong to anything "
                      "before it (is it indented too little?)");
    if (text_equal(r->parser.problem, "found character that cannot start any token") &&
        *r->parser.buffer.pointer == '\t')
        return refuse(r, r->parser.problem_mark, "a tab: YAML is indented with blanks alone");
    return refuse(r, r->parser.problem_mark,
                  r->parser.problem ? r->parser.problem : "cannot be read");
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

static int read_node(struct reader *r, const yaml_event_t *event, struct yaml_node **ret);

static int read_next(struct reader *r, struct yaml_node **ret) {
    yaml_event_t event;
    int result;

    if (next_event(r, &event) < 0)
        return -1;
    result = read_node(r, &event, ret);
    event_free(&event);
    return result;
}

static int read_list(struct reader *r, struct yaml_node *node) {
    for (;;) {
        yaml_event_t event;
        struct yaml_node *item = NULL;
        int result = 0;
        bool end;

        if (next_event(r, &event) < 0)
            return -1;
        end = event.type == YAML_SEQUENCE_END_EVENT;
        if (!end)
            result = read_node(r, &event, &item);
        event_free(&event);
        if (end || result < 0)
            return result;
        array_add(node->items, node->count, item);
    }
}

/* A tag that makes a plain scalar a text: "!!str", or "!" alone. */
static bool is_text_tag(const yaml_char_t *tag) {
    return text_equal((const char *)tag, "tag:yaml.org,2002:str") ||
           text_equal((const char *)tag, "!");
}

static int check_key(struct reader *r, const struct yaml_node *map, const yaml_event_t *event) {
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
    if (map->count >= PAIRS_MAX)
        return refuse(r, event->start_mark, "more than 2000 keys in one map");
    if (json_object_get(map->places, key)) {
        json_int_t first = json_integer_value(json_object_get(map->places, key));
        _cleanup_(freep) char *why =
            xasprintf("duplicate key \"%.100s\" (first in line %zu)", key, map->pairs[first].line);

        return refuse(r, event->start_mark, why);
    }
    return 0;
}

static int read_map(struct reader *r, struct yaml_node *node) {
    node->places = json_object();
    for (;;) {
        yaml_event_t event;
        int result = 0;
        bool end;

        if (next_event(r, &event) < 0)
            return -1;
        end = event.type == YAML_MAPPING_END_EVENT;
        if (end) {
            json_decref(node->places);
            node->places = NULL;
        }
        if (!end && (result = check_key(r, node, &event)) == 0) {
            json_object_set_new_nocheck(node->places, (const char *)event.data.scalar.value,
                                        json_integer((json_int_t)node->count));
            array_add(node->pairs, node->count,
                      (struct yaml_pair){.key = xstrdup((const char *)event.data.scalar.value),
                                         .line = event.start_mark.line + 1,
                                         .column = event.start_mark.column + 1});
        }
        event_free(&event);
        if (end || result < 0)
            return result;
        if (read_next(r, &node->pairs[node->count - 1].value) < 0)
            return -1;
    }
}

static int read_scalar(struct reader *r, const yaml_event_t *event, struct yaml_node *node) {
    const char *text = (const char *)event->data.scalar.value;

    if (strlen(text) != event->data.scalar.length)
        return refuse(r, event->start_mark, "a string contains a NUL byte");
    node->quoted =
        event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || is_text_tag(event->data.scalar.tag);
    node->text = xstrdup(text);
    node->type = YAML_SCALAR;
    if (!node->quoted && (!*text || text_equal(text, "~") || text_equal(text, "null") ||
                          text_equal(text, "Null") || text_equal(text, "NULL"))) {
        node->type = YAML_NULL;
        node->text[0] = '\0';
    }
    return 0;
}

static int read_node(struct reader *r, const yaml_event_t *event, struct yaml_node **ret) {
    _cleanup_(node_freep) struct yaml_node *node = xcalloc(1, sizeof *node);
    const yaml_char_t *anchor = NULL, *tag = NULL;
    int result = 0;

    node->line = event->start_mark.line + 1;
    node->column = event->start_mark.column + 1;
    if (++r->nodes > NODES_MAX)
        return refuse(r, event->start_mark, "too many values");
    if (++r->depth > DEPTH_MAX)
        return refuse(r, event->start_mark, "nested deeper than 64 levels");
    if (event->type == YAML_ALIAS_EVENT)
        return refuse(r, event->start_mark, "aliases are not allowed");
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        node->type = YAML_LIST;
    } else {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        node->type = YAML_MAP;
    }
    if (anchor)
        return refuse(r, event->start_mark, "anchors are not allowed");
    if (check_tag(r, tag, event->start_mark) < 0)
        return -1;
    result = event->type == YAML_SCALAR_EVENT ? read_scalar(r, event, node)
             : node->type == YAML_LIST        ? read_list(r, node)
                                              : read_map(r, node);
    if (result < 0)
        return -1;
    r->depth--;
    *ret = take_ptr(node);
    return 0;
}

static int read_stream(struct reader *r, struct yaml_documents *documents) {
    for (;;) {
        yaml_event_t event;
        struct yaml_node *root = NULL;
        yaml_event_type_t type;
        int result = 0;

        if (next_event(r, &event) < 0)
            return -1;
        type = event.type;
        if (type != YAML_STREAM_START_EVENT && type != YAML_STREAM_END_EVENT &&
            type != YAML_DOCUMENT_START_EVENT && type != YAML_DOCUMENT_END_EVENT)
            result = read_node(r, &event, &root);
        event_free(&event);
        if (root)
            array_add(documents->roots, documents->count, root);
        if (result < 0 || type == YAML_STREAM_END_EVENT)
            return result;
    }
}

int yaml_parse(const char *text, size_t len, const char *what, struct yaml_documents **ret,
               struct error *err) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    struct reader r = {.what = what, .err = err};
    int result;

    if (len > BYTES_MAX)
        return error_set(err, ERROR_MALFORMED, "%s: longer than 4 MiB", what);
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark says UTF-8, too */
        text += 3;
        len -= 3;
    }
    r.text = text;
    if (check_line_ends(&r, len) < 0)
        return -1;
    if (!yaml_parser_initialize(&r.parser))
        abort();
    documents = xcalloc(1, sizeof *documents);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    result = read_stream(&r, documents);
    parser_free(&r.parser);
    if (result == 0)
        *ret = take_ptr(documents);
    return result;
}

void yaml_documents_free(struct yaml_documents *documents) {
    if (!documents)
        return;
    for (size_t i = 0; i < documents->count; i++)
        node_free(documents->roots[i]);
    free(documents->roots);
    free(documents);
}

void yaml_documents_freep(struct yaml_documents **documents) {
    yaml_documents_free(*documents);
    *documents = NULL;
}

size_t yaml_documents_count(const struct yaml_documents *documents) {
    return documents->count;
}

const struct yaml_node *yaml_document(const struct yaml_documents *documents, size_t i) {
    return i < documents->count ? documents->roots[i] : NULL;
}

enum yaml_type yaml_type(const struct yaml_node *node) {
    return node ? node->type : YAML_NULL;
}

size_t yaml_line(const struct yaml_node *node) {
    return node->line;
}

size_t yaml_column(const struct yaml_node *node) {
    return node->column;
}

const char *yaml_text(const struct yaml_node *node) {
    return node ? node->text : NULL;
}

bool yaml_is_quoted(const struct yaml_node *node) {
    return node->quoted;
}

size_t yaml_count(const struct yaml_node *node) {
    return node ? node->count : 0;
}

const struct yaml_node *yaml_item(const struct yaml_node *list, size_t i) {
    return list && list->items && i < list->count ? list->items[i] : NULL;
}

static const struct yaml_pair *pair_at(const struct yaml_node *map, size_t i) {
    return map && map->pairs && i < map->count ? &map->pairs[i] : NULL;
}

const char *yaml_key(const struct yaml_node *map, size_t i) {
    return pair_at(map, i) ? map->pairs[i].key : NULL;
}

size_t yaml_key_line(const struct yaml_node *map, size_t i) {
    return pair_at(map, i) ? map->pairs[i].line : 0;
}

size_t yaml_key_column(const struct yaml_node *map, size_t i) {
    return pair_at(map, i) ? map->pairs[i].column : 0;
}

const struct yaml_node *yaml_value(const struct yaml_node *map, size_t i) {
    return pair_at(map, i) ? map->pairs[i].value : NULL;
}

static const struct yaml_node *child(const struct yaml_node *node, const char *name, size_t len) {
    if (yaml_type(node) == YAML_LIST) {
        _cleanup_(freep) char *text = xstrndup(name, len);
        long long index;

        return text_to_number(text, 0, NODES_MAX, &index) == 0 ? yaml_item(node, (size_t)index)
                                                               : NULL;
    }
    for (size_t i = 0; i < yaml_count(node); i++)
        if (strlen(node->pairs[i].key) == len && memcmp(node->pairs[i].key, name, len) == 0)
            return node->pairs[i].value;
    return NULL;
}

const struct yaml_node *yaml_at(const struct yaml_node *node, const char *path) {
    while (node && *path) {
        size_t len = strcspn(path, ".");

        node = child(node, path, len);
        path += len + (path[len] == '.');
    }
    return node;
}

const char *yaml_text_at(const struct yaml_node *node, const char *path) {
    return yaml_text(yaml_at(node, path));
}
