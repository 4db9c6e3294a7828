/* What the client's own identity may do: SelfSubjectAccessReview and SelfSubjectRulesReview
 * (authorization.k8s.io/v1). */
#pragma once

#include "kube/client.h"

/* One right: "nodes/status" is a resource with its subresource; the core group is "". */
struct kube_right {
    const char *verb, *group, *resource;
};
/* Asks the server, which changes nothing there. Kinds: those of kube_create. */
int kube_may(struct kube_client *client, const struct kube_right *right, bool *ret,
             struct error *err);

/* The same of many; ret[i] is of rights[i]. One request tells all that rules grant; what it does
 * not show is asked for one by one. */
int kube_may_all(struct kube_client *client, const struct kube_right *rights, size_t count,
                 bool *ret, struct error *err);
