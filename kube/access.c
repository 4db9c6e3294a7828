/* SelfSubjectAccessReview, SelfSubjectRulesReview: every authenticated user may create them
 * (system:basic-user). */
#include "kube/access.h"

#define REVIEWS "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
#define RULES_REVIEWS "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"

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

/* ---- all at once ---- */

/* What is bound in a namespace is no right in all of them, so the one asked about has nothing. */
#define NO_NAMESPACE "winjoin-cluster-wide"

static bool lists(const json_t *rule, const char *key, const char *wanted) {
    json_each(json_object_get(rule, key), i, item)
        if (text_equal(json_string_value(item), "*") || text_equal(json_string_value(item), wanted))
            return true;
    return false;
}

/* A rule for some objects by their names is no right to all of them. */
static bool grants(const json_t *rules, const struct kube_right *right) {
    json_each(rules, i, rule)
        if (!json_array_size(json_object_get(rule, "resourceNames")) &&
            lists(rule, "verbs", right->verb) && lists(rule, "apiGroups", right->group) &&
            lists(rule, "resources", right->resource))
            return true;
    return false;
}

/* Authorizers that know no rules (a webhook, the one for nodes) are asked about what is not shown.
 */
int kube_may_all(struct kube_client *client, const struct kube_right *rights, size_t count,
                 bool *ret, struct error *err) {
    _cleanup_json_ json_t *answer = NULL, *review = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion",
                                                              "authorization.k8s.io/v1", "kind",
                                                              "SelfSubjectRulesReview", "spec",
                                                              "namespace", NO_NAMESPACE);

    if (count > 1)
        (void)kube_create(client, RULES_REVIEWS, review, &answer, ERROR_IGNORED);
    for (size_t i = 0; i < count; i++) {
        ret[i] = grants(json_at(answer, "status.resourceRules"), &rights[i]);
        if (!ret[i] && kube_may(client, &rights[i], &ret[i], err) < 0)
            return -1;
    }
    return 0;
}
