/* Values with which no kubelet for Windows starts. Pure. */
#ifndef JOIN_KUBELET_KUBELET_CHECKS_H
#define JOIN_KUBELET_KUBELET_CHECKS_H

#include <stdbool.h>

#include "base/json.h"

/* The first value of a KubeletConfiguration, as config.yaml will hold it and with the types that
 * its fields have, that would end every kubelet (1.24 to 1.37) at its start: true, and *ret_path
 * names the field ("logging.format", "evictionHard[memory.available]"), *ret_wanted what must
 * become of it ("must be text or json"). The caller frees both. What depends on the kubelet's
 * version (feature gates above all) or on the host is not judged.
 * Upstream: k8s.io/kubernetes/pkg/kubelet/apis/config/validation, and the places behind it that
 * read a value while the kubelet starts. */
bool kubelet_config_problem(const json_t *config, char **ret_path, char **ret_wanted);
/* The part of it that is about eviction and about reserved resources. */
bool kubelet_resources_problem(const json_t *config, char **ret_path, char **ret_wanted);

#endif
