/* What is compared, given as documents and read into records as a comparison reads them. */
#pragma once

#include "diag/drift/drift.h"

/* Lists of Kubernetes, arrays of HNS; NULL: not read. */
struct drift_documents {
    const json_t *services, *slices, *pods, *endpoints, *balancers;
};
struct drift_records {
    struct drift_cluster cluster;
    struct hcn_endpoints endpoints;
    struct hcn_balancers balancers;
};

static inline void drift_documents_add(const json_t *list, enum drift_what what,
                                       struct drift_cluster *ret) {
    _cleanup_(freep) char *text = json_write(list);

    if (list && drift_cluster_add(ret, what, "items.*", text, strlen(text), NULL) < 0)
        abort();
    *(what == DRIFT_SERVICES ? &ret->has_services : &ret->has_slices) = list;
}

/* Puts them into what is compared; drift_records_free(). */
static inline void drift_documents_read(const struct drift_documents *documents,
                                        struct drift_records *ret,
                                        struct drift_observed *observed) {
    *ret = (struct drift_records){0};
    drift_documents_add(documents->services, DRIFT_SERVICES, &ret->cluster);
    drift_documents_add(documents->slices, DRIFT_SLICES, &ret->cluster);
    ret->cluster.pods = json_incref((json_t *)documents->pods);
    hcn_records_of(documents->endpoints, &ret->endpoints, documents->balancers, &ret->balancers);
    observed->cluster = &ret->cluster;
    observed->endpoints = documents->endpoints ? &ret->endpoints : NULL;
    observed->balancers = documents->balancers ? &ret->balancers : NULL;
}

static inline void drift_records_free(struct drift_records *records) {
    drift_cluster_free(&records->cluster);
    hcn_endpoints_free(&records->endpoints);
    hcn_balancers_free(&records->balancers);
}

/* What drift_judge() finds in documents, without the commands. New reference. */
static inline json_t *drift_documents_compare(const struct drift_documents *documents,
                                              const struct drift_observed *others) {
    struct drift_observed observed = *others;
    struct drift_records records;
    json_t *drift;

    drift_documents_read(documents, &records, &observed);
    drift = drift_judge(&observed);
    json_object_del(drift, "commands");
    drift_records_free(&records);
    return drift;
}
