/* The shape of a kubeconfig: types of its fields, doubles. Not for other folders. */
#ifndef KUBE_KUBECONFIG_SHAPE_H
#define KUBE_KUBECONFIG_SHAPE_H

#include "base/error.h"
#include "base/yaml.h"

/* What clientcmd's decoding refuses (client-go tools/clientcmd/api/v1: Config and its conversion):
 * another kind or version, a field of another type (a number or yes without quotes is no text),
 * two entries of one name; and, more strictly, entries that are no maps. Unknown fields are
 * ignored. ERROR_MALFORMED with line and column. */
int kubeconfig_check_shape(const struct yaml_node *root, const char *what, struct error *err);

#endif
