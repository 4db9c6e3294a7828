/* SelfSubjectAccessReview: every authenticated user may create one (system:basic-user). */
#include "kube/access.h"

#include <string.h>

#include "base/json.h"
#include "base/memory.h"

int kube_may(struct kube_client *client, const struct kube_right *right, bool *ret,
             struct error *err) {
    const char *slash = strchr(right->resource, '/');
    _cleanup_(freep) char *resource = xstrndup(
        right->resource, slash ? (size_t)(slash - right->resource) : strlen(right->resource));
    _cleanup_json_ json_t *answer = NULL,
                          *review = json_pack(
                              "{s:s, s:s, s:{s:{s:s, s:s, s:s, s:s*}}}", "apiVersion",
                              "authorization.k8s.io/v1", "kind", "SelfSubjectAccessReview", "spec",
                              "resourceAttributes", "verb", right->verb, "group", right->group,
                              "resource", resource, "subresource", slash ? slash + 1 : NULL);

    if (kube_create(client, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review,
                    &answer, err) < 0)
        return -1;
    *ret = json_bool_at(answer, "status.allowed", false);
    return 0;
}
