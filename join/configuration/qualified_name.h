/* The names that Kubernetes gives to labels and taints. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* apimachinery validation IsQualifiedName: "name" or "domain/name", the name of at most 63 letters,
 * digits, '-', '_' and '.', the first and the last a letter or digit. `len` bytes. */
bool is_qualified_name(const char *text, size_t len);
/* IsValidLabelValue: such a name without a domain, or nothing. */
bool is_label_value(const char *text, size_t len);
