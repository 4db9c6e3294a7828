/* What of a document's numbers is still there when it was written as YAML and read again. */
#pragma once

#include <math.h>

#include "base/json.h"

/* 1000.0 is written as Go does, 1000, and reads back as a whole number. New reference. */
static inline json_t *with_whole_numbers(const json_t *json) {
    double number = json_number_value(json);
    const json_t *value;
    const char *key;
    json_t *made;
    size_t i;

    if (json_is_real(json) && fabs(number) < 0x1p63 && floor(number) >= number)
        return json_integer((json_int_t)number);
    if (!json_is_array(json) && !json_is_object(json))
        return json_copy((json_t *)json);
    made = json_is_array(json) ? json_array() : json_object();
    json_array_foreach(json, i, value) json_array_append_new(made, with_whole_numbers(value));
    json_object_foreach((json_t *)json, key, value)
        json_object_set_new(made, key, with_whole_numbers(value));
    return made;
}
