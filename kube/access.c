/* SelfSubjectAccessReview: every authenticated user may create one (system:basic-user). */
#include "kube/access.h"

#include "kube/many.h"

#define REVIEWS "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

static json_t *review_make(const struct kube_right *right) {
    size_t len = strcspn(right->resource, "/");
    _cleanup_(freep) char *resource = xstrndup(right->resource, len);

    return json_pack("{s:s, s:s, s:{s:{s:s, s:s, s:s, s:s*}}}", "apiVersion",
                     "authorization.k8s.io/v1", "kind", "SelfSubjectAccessReview", "spec",
                     "resourceAttributes", "verb", right->verb, "group", right->group, "resource",
                     resource, "subresource",
                     right->resource[len] ? right->resource + len + 1 : NULL);
}

int kube_may(struct kube_client *client, const struct kube_right *right, bool *ret,
             struct error *err) {
    _cleanup_json_ json_t *answer = NULL, *review = review_make(right);

    if (kube_create(client, REVIEWS, review, &answer, err) < 0)
        return -1;
    *ret = json_bool_at(answer, "status.allowed", false);
    return 0;
}

/* What was not answered well is asked again, with the client's patience. */
int kube_may_all(struct kube_client *client, const struct kube_right *rights, size_t count,
                 bool *ret, struct error *err) {
    _cleanup_(freep) struct kube_many *items = xcalloc(count + 1, sizeof *items);
    char **bodies = xcalloc(count + 1, sizeof *bodies);
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        _cleanup_json_ json_t *review = review_make(&rights[i]);

        bodies[i] = json_write(review);
        items[i] = (struct kube_many){.method = "POST", .path = REVIEWS, .body = bodies[i]};
    }
    kube_perform_many(client, items, count);
    for (size_t i = 0; i < count && result == 0; i++) {
        _cleanup_json_ json_t *answer = NULL;

        if (items[i].status / 100 == 2 &&
            json_read(items[i].answer, items[i].answer_len, "the answer", &answer, NULL) == 0)
            ret[i] = json_bool_at(answer, "status.allowed", false);
        else
            result = kube_may(client, &rights[i], &ret[i], err);
    }
    kube_many_free(items, count);
    for (size_t i = 0; i < count; i++)
        free(bodies[i]);
    free(bodies);
    return result;
}
