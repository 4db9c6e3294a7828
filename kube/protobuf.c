/* Decodes Protobuf with tables: each message type is a list of fields with their names in JSON. */
#include "kube/event_stream.h"

#include "base/rfc3339.h"
#include "base/text.h"

static const char magic[] = {'k', '8', 's', 0};

/* Wire types of the Protobuf encoding. */
enum { VARINT = 0, EIGHT_BYTES = 1, BYTES = 2, FOUR_BYTES = 5 };

static const json_int_t SECONDS_END = 253402300800; /* The first second of the year 10000. */

enum kind { TEXT, NUMBER, BOOL, TIME, MAP, OBJECT };

struct field {
    uint64_t number;
    const char *name;
    enum kind kind;
    bool repeated;
    const struct field *fields; /* Fields of an OBJECT; the last has no name. */
};

#define ONE(number, name, kind)                                                                    \
    { number, name, kind, false, NULL }
#define EACH(number, name)                                                                         \
    { number, name, TEXT, true, NULL }
#define ONE_OF(number, name, fields)                                                               \
    { number, name, OBJECT, false, fields }
#define EACH_OF(number, name, fields)                                                              \
    { number, name, OBJECT, true, fields }
#define END                                                                                        \
    { 0, NULL, TEXT, false, NULL }

static const struct field time_fields[] = {ONE(1, "seconds", NUMBER), END};
static const struct field map_fields[] = {ONE(1, "key", TEXT), ONE(2, "value", TEXT), END};
static const struct field metadata[] = {ONE(1, "name", TEXT),
                                        ONE(3, "namespace", TEXT),
                                        ONE(5, "uid", TEXT),
                                        ONE(6, "resourceVersion", TEXT),
                                        ONE(8, "creationTimestamp", TIME),
                                        ONE(11, "labels", MAP),
                                        ONE(12, "annotations", MAP),
                                        END};

static const struct field service_port[] = {ONE(1, "name", TEXT), ONE(2, "protocol", TEXT),
                                            ONE(3, "port", NUMBER), ONE(5, "nodePort", NUMBER),
                                            END};
static const struct field service_spec[] = {EACH_OF(1, "ports", service_port),
                                            ONE(3, "clusterIP", TEXT),
                                            ONE(4, "type", TEXT),
                                            EACH(5, "externalIPs"),
                                            EACH(18, "clusterIPs"),
                                            ONE(22, "internalTrafficPolicy", TEXT),
                                            END};
static const struct field ingress[] = {ONE(1, "ip", TEXT), END};
static const struct field load_balancer[] = {EACH_OF(1, "ingress", ingress), END};
static const struct field service_status[] = {ONE_OF(1, "loadBalancer", load_balancer), END};
static const struct field service[] = {ONE_OF(1, "metadata", metadata),
                                       ONE_OF(2, "spec", service_spec),
                                       ONE_OF(3, "status", service_status), END};

static const struct field conditions[] = {ONE(1, "ready", BOOL), END};
static const struct field endpoint[] = {EACH(1, "addresses"), ONE_OF(2, "conditions", conditions),
                                        ONE(6, "nodeName", TEXT), END};
static const struct field endpoint_port[] = {ONE(1, "name", TEXT), ONE(3, "port", NUMBER), END};
static const struct field endpoint_slice[] = {ONE_OF(1, "metadata", metadata),
                                              EACH_OF(2, "endpoints", endpoint),
                                              EACH_OF(3, "ports", endpoint_port), END};

static const struct field node_spec[] = {ONE(1, "podCIDR", TEXT), EACH(7, "podCIDRs"), END};
static const struct field node_address[] = {ONE(1, "type", TEXT), ONE(2, "address", TEXT), END};
static const struct field node_status[] = {EACH_OF(5, "addresses", node_address), END};
static const struct field node[] = {ONE_OF(1, "metadata", metadata), ONE_OF(2, "spec", node_spec),
                                    ONE_OF(3, "status", node_status), END};

static const struct field status[] = {ONE(2, "status", TEXT), ONE(3, "message", TEXT),
                                      ONE(4, "reason", TEXT), ONE(6, "code", NUMBER), END};
/* Fields of all other objects. Of a list and of a bookmark event, only the metadata is read. */
static const struct field other[] = {ONE_OF(1, "metadata", metadata), END};

static const struct {
    const char *api_version, *kind;
    const struct field *fields;
} objects[] = {{"v1", "Service", service},
               {"discovery.k8s.io/v1", "EndpointSlice", endpoint_slice},
               {"v1", "Node", node},
               {"v1", "Status", status}};

/* ---- reading the Protobuf encoding ---- */

struct bytes {
    const char *at;
    size_t len;
};

static int take_bytes(struct bytes *from, uint64_t len, struct bytes *ret, struct error *err) {
    if (len > from->len)
        return error_set(err, ERROR_MALFORMED, "decode protobuf: it is cut off");
    *ret = (struct bytes){from->at, (size_t)len};
    from->at += len;
    from->len -= (size_t)len;
    return 0;
}

static int take_varint(struct bytes *from, uint64_t *ret, struct error *err) {
    *ret = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        struct bytes one = {0};
        unsigned char byte;

        if (take_bytes(from, 1, &one, err) < 0)
            return -1;
        byte = (unsigned char)*one.at;
        *ret |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return 0;
    }
    return error_set(err, ERROR_MALFORMED, "decode protobuf: a number does not end");
}

/* One field of a message with its value. */
struct value {
    uint64_t number, wire;
    uint64_t varint;
    struct bytes bytes;
};

static int take_value(struct bytes *from, struct value *ret, struct error *err) {
    uint64_t key, len = 0;

    if (take_varint(from, &key, err) < 0)
        return -1;
    *ret = (struct value){.number = key >> 3, .wire = key & 7};
    switch (ret->wire) {
    case VARINT:
        return take_varint(from, &ret->varint, err);
    case EIGHT_BYTES:
        return take_bytes(from, 8, &ret->bytes, err);
    case FOUR_BYTES:
        return take_bytes(from, 4, &ret->bytes, err);
    case BYTES:
        return take_varint(from, &len, err) < 0 ? -1 : take_bytes(from, len, &ret->bytes, err);
    default:
        return error_set(err, ERROR_MALFORMED, "decode protobuf: wire type %u is not known",
                         (unsigned)ret->wire);
    }
}

/* ---- converting to JSON ---- */

static int read_fields(struct bytes from, const struct field *fields, json_t *into,
                       struct error *err);

/* Converts one value. *ret is a new reference, or NULL when JSON omits the value. */
static int read_value(const struct field *field, const struct value *value, json_t **ret,
                      struct error *err) {
    _cleanup_json_ json_t *object = NULL;
    json_int_t seconds;

    *ret = NULL;
    if (value->wire != (field->kind == NUMBER || field->kind == BOOL ? VARINT : BYTES))
        return error_set(err, ERROR_MALFORMED, "decode protobuf: %s has another type", field->name);
    if (field->kind == NUMBER && value->varint)
        *ret = json_integer((json_int_t)value->varint);
    if (field->kind == BOOL)
        *ret = json_boolean(value->varint);
    if (field->kind == TEXT && (value->bytes.len || field->repeated)) {
        *ret = json_stringn(value->bytes.at, value->bytes.len);
        return *ret ? 0
                    : error_set(err, ERROR_MALFORMED, "decode protobuf: %s is not UTF-8",
                                field->name);
    }
    if (field->kind < TIME)
        return 0;
    object = json_object();
    if (read_fields(value->bytes,
                    field->kind == TIME  ? time_fields
                    : field->kind == MAP ? map_fields
                                         : field->fields,
                    object, err) < 0)
        return -1;
    seconds = json_integer_value(json_object_get(object, "seconds"));
    if (field->kind != TIME)
        *ret = take_ptr(object);
    else if (seconds > 0 && seconds < SECONDS_END)
        *ret = json_string(RFC3339_TEXT(seconds));
    return 0;
}

static int read_fields(struct bytes from, const struct field *fields, json_t *into,
                       struct error *err) {
    while (from.len) {
        const struct field *field = fields;
        struct value value;
        json_t *made, *all;

        if (take_value(&from, &value, err) < 0)
            return -1;
        while (field->name && field->number != value.number)
            field++;
        if (!field->name)
            continue;
        if (read_value(field, &value, &made, err) < 0)
            return -1;
        if (!made)
            continue;
        all = json_object_get(into, field->name);
        if (!all && (field->kind == MAP || field->repeated)) {
            all = field->kind == MAP ? json_object() : json_array();
            json_object_set_new(into, field->name, all);
        }
        if (field->kind == MAP) {
            const char *key = json_string_value(json_object_get(made, "key"));
            json_t *text = json_object_get(made, "value");

            json_object_set_new(all, key ? key : "", text ? json_incref(text) : json_string(""));
            json_decref(made);
        } else if (field->repeated) {
            json_array_append_new(all, made);
        } else {
            json_object_set_new(into, field->name, made);
        }
    }
    return 0;
}

/* ---- reading Kubernetes' envelope around an object ---- */

bool kube_protobuf_is(const char *data, size_t len) {
    return len >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

/* Finds the bytes of the field with this number. *ret is empty when the field is absent. */
static int find_bytes(struct bytes from, uint64_t number, struct bytes *ret, struct error *err) {
    struct value value;

    *ret = (struct bytes){"", 0};
    while (from.len) {
        if (take_value(&from, &value, err) < 0)
            return -1;
        if (value.number == number && value.wire == BYTES)
            *ret = value.bytes;
    }
    return 0;
}

int kube_protobuf_read(const char *data, size_t len, json_t **ret, struct error *err) {
    static const struct field type_meta[] = {ONE(1, "apiVersion", TEXT), ONE(2, "kind", TEXT), END};
    _cleanup_json_ json_t *object = json_object();
    const struct field *fields = other;
    struct bytes unknown, type, raw;

    if (!kube_protobuf_is(data, len))
        return error_set(err, ERROR_MALFORMED,
                         "decode protobuf: it is not an object of Kubernetes");
    unknown = (struct bytes){data + sizeof magic, len - sizeof magic};
    if (find_bytes(unknown, 1, &type, err) < 0 || find_bytes(unknown, 2, &raw, err) < 0 ||
        read_fields(type, type_meta, object, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
        if (text_equal(json_text_at(object, "kind"), objects[i].kind) &&
            text_equal(json_text_at(object, "apiVersion"), objects[i].api_version))
            fields = objects[i].fields;
    if (read_fields(raw, fields, object, err) < 0)
        return -1;
    *ret = take_ptr(object);
    return 0;
}

int kube_protobuf_read_event(const char *data, size_t len, json_t **ret, struct error *err) {
    struct bytes event = {data, len}, type, extension, raw;
    json_t *object = NULL;

    if (find_bytes(event, 1, &type, err) < 0 || find_bytes(event, 2, &extension, err) < 0 ||
        find_bytes(extension, 1, &raw, err) < 0 ||
        kube_protobuf_read(raw.at, raw.len, &object, err) < 0)
        return -1;
    *ret = json_pack("{s:s%, s:o}", "type", type.at, type.len, "object", object);
    return *ret ? 0 : error_set(err, ERROR_MALFORMED, "decode protobuf: its type is not UTF-8");
}
