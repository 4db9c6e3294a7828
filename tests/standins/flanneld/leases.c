/* Nodes as flannel's subnet manager sees them. */
#include "tests/standins/flanneld/leases.h"

#include "base/error.h"
#include "base/text.h"

#include <string.h>

static const char *annotation(const json_t *node, const char *name) {
    return json_string_value(json_object_get(json_at(node, "metadata.annotations"), name));
}

int lease_of(const json_t *node, const char *backend, struct lease *ret) {
    const char *data = annotation(node, FLANNEL_PREFIX "backend-data");
    struct error err = {0};
    struct lease lease = {
        .node = json_text_at(node, "metadata.name"),
        .subnet = json_text_at(node, "spec.podCIDR"),
        .public_ip = annotation(node, FLANNEL_PREFIX "public-ip"),
    };

    if (!lease.subnet || !lease.public_ip ||
        !text_equal(annotation(node, FLANNEL_PREFIX "backend-type"), backend) ||
        !text_equal(annotation(node, FLANNEL_PREFIX "kube-subnet-manager"), "true"))
        return -1;
    if (data && json_read(data, strlen(data), "backend data", &lease.backend_data, &err) == 0) {
        lease.vni = json_number_at(lease.backend_data, "VNI", 0);
        lease.mac = json_text_at(lease.backend_data, "VtepMAC");
    }
    *ret = lease;
    return 0;
}
