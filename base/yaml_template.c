/* Places are filled in the tree, not in the text: no value can be read as YAML. */
#include "base/yaml_template.h"

/* NULL: a place without a value. */
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
