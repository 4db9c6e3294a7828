/* ConfigMaps: one value, or all data. */
#include "kube/configmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/memory.h"
#include "base/rfc3339.h"
#include "kube/object.h"

char *kube_configmap_path(const char *name_space, const char *name) {
    return xasprintf("/api/v1/namespaces/%s/configmaps/%s", name_space, name);
}

static int refuse(const char *why, const char *what, struct error *err) {
    return error_set(err, ERROR_MALFORMED, "decode ConfigMap: %s%s", why, what);
}

static int check_texts(const json_t *configmap, const char *field, struct error *err) {
    const json_t *map = json_object_get(configmap, field);
    const char *key;
    json_t *value;

    if (map && !json_is_object(map) && !json_is_null(map))
        return refuse("this is no map: ", field, err);
    json_object_foreach((json_t *)map, key, value) {
        if (!json_is_string(value) && !json_is_null(value))
            return refuse("a value is no text: ", key, err);
    }
    return 0;
}

/* Bytes are texts of base64. */
static int check_binary(const json_t *configmap, struct error *err) {
    const json_t *map = json_object_get(configmap, "binaryData");
    const char *key;
    json_t *value;

    if (check_texts(configmap, "binaryData", err) < 0)
        return -1;
    json_object_foreach((json_t *)map, key, value) {
        const char *text = json_is_string(value) ? json_string_value(value) : "";
        unsigned char *data = NULL;
        size_t len;

        if (base64_decode(text, strlen(text), &data, &len, NULL) < 0)
            return refuse("this is no base64: ", key, err);
        free(data);
    }
    return 0;
}

static bool is_time(const json_t *value) {
    int64_t at;

    return json_is_string(value) && rfc3339_parse(json_string_value(value), &at, NULL) == 0;
}

static bool are_texts(const json_t *value) {
    const json_t *item;
    const char *key;
    size_t i;

    json_array_foreach(value, i,
                       item) if (!json_is_string(item) && !json_is_null(item)) return false;
    json_object_foreach((json_t *)value, key,
                        item) if (!json_is_string(item) && !json_is_null(item)) return false;
    return true;
}

enum shape { TEXT, TIME, NUMBER, YES_OR_NO, TEXTS, TEXT_MAP, OWNERS, MANAGERS };

struct meta_field {
    const char *name;
    enum shape shape;
};

/* k8s.io/apimachinery/pkg/apis/meta/v1: ObjectMeta, OwnerReference, ManagedFieldsEntry, whose
 * fieldsV1 may be anything. */
static const struct meta_field meta_fields[] = {
    {"name", TEXT},
    {"generateName", TEXT},
    {"namespace", TEXT},
    {"selfLink", TEXT},
    {"uid", TEXT},
    {"resourceVersion", TEXT},
    {"generation", NUMBER},
    {"deletionGracePeriodSeconds", NUMBER},
    {"creationTimestamp", TIME},
    {"deletionTimestamp", TIME},
    {"labels", TEXT_MAP},
    {"annotations", TEXT_MAP},
    {"finalizers", TEXTS},
    {"ownerReferences", OWNERS},
    {"managedFields", MANAGERS},
};
static const struct meta_field owner_fields[] = {
    {"apiVersion", TEXT},
    {"kind", TEXT},
    {"name", TEXT},
    {"uid", TEXT},
    {"controller", YES_OR_NO},
    {"blockOwnerDeletion", YES_OR_NO},
};
static const struct meta_field manager_fields[] = {
    {"manager", TEXT}, {"operation", TEXT},  {"apiVersion", TEXT},
    {"time", TIME},    {"fieldsType", TEXT}, {"subresource", TEXT},
};

static bool has_shape(const json_t *value, enum shape shape);

/* The first field of another shape; NULL when all are well. */
static const char *odd_field(const json_t *object, const struct meta_field *fields, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(object, fields[i].name);

        if (value && !json_is_null(value) && !has_shape(value, fields[i].shape))
            return fields[i].name;
    }
    return NULL;
}

static bool are_objects(const json_t *value, const struct meta_field *fields, size_t count) {
    const json_t *item;
    size_t i;

    json_array_foreach(value, i, item) {
        if (!json_is_null(item) && (!json_is_object(item) || odd_field(item, fields, count)))
            return false;
    }
    return json_is_array(value);
}

static bool has_shape(const json_t *value, enum shape shape) {
    switch (shape) {
    case TEXT:
        return json_is_string(value);
    case TIME:
        return is_time(value);
    case NUMBER:
        return json_is_integer(value);
    case YES_OR_NO:
        return json_is_boolean(value);
    case TEXTS:
        return json_is_array(value) && are_texts(value);
    case TEXT_MAP:
        return json_is_object(value) && are_texts(value);
    case OWNERS:
        return are_objects(value, owner_fields, ARRAY_SIZE(owner_fields));
    case MANAGERS:
        return are_objects(value, manager_fields, ARRAY_SIZE(manager_fields));
    }
    return false;
}

static int check_metadata(const json_t *metadata, struct error *err) {
    const char *odd;

    if (metadata && !json_is_object(metadata) && !json_is_null(metadata))
        return refuse("this is no map: ", "metadata", err);
    odd = odd_field(metadata, meta_fields, ARRAY_SIZE(meta_fields));
    return odd ? refuse("this is of another type: metadata.", odd, err) : 0;
}

int kube_configmap_check(const json_t *configmap, struct error *err) {
    const json_t *immutable = json_object_get(configmap, "immutable");

    if (kube_object_check(configmap, "ConfigMap", "v1", err) < 0 ||
        check_texts(configmap, "data", err) < 0 || check_binary(configmap, err) < 0 ||
        check_metadata(json_object_get(configmap, "metadata"), err) < 0)
        return -1;
    if (immutable && !json_is_boolean(immutable) && !json_is_null(immutable))
        return refuse("this is neither true nor false: ", "immutable", err);
    return 0;
}

int kube_configmap_get(struct kube_client *client, const char *name_space, const char *name,
                       unsigned timeout_ms, json_t **ret, struct error *err) {
    _cleanup_(freep) char *path = kube_configmap_path(name_space, name);

    _cleanup_json_ json_t *object = NULL;

    if (kube_get_retry(client, path, timeout_ms, &object, err) < 0 ||
        kube_configmap_check(object, err) < 0)
        return error_prefix(err, "get the %s ConfigMap in namespace \"%s\"", name, name_space);
    *ret = take_ptr(object);
    return 0;
}

const char *kube_configmap_value(const json_t *configmap, const char *key) {
    const char *value = json_string_value(json_object_get(json_at(configmap, "data"), key));

    return value && *value ? value : NULL;
}
