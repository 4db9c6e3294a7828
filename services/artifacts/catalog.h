/* The catalog: which release has a program, in which version, where it and its digest are. The one
 * that winjoin brings is templates/catalog.yaml; a file of the same form may replace it. */
#pragma once

#include "base/yaml_schema.h"
#include "services/artifacts/artifacts.h"

#define CATALOG_V1ALPHA1 "winjoin.io/v1alpha1"
#define CATALOG_KIND "Catalog"
extern const struct yaml_field catalog_fields[]; /* what it may have */

struct catalog; /* catalog_free() */
/* A catalog's text, YAML or JSON, strict; NULL: winjoin's own. `what` names it in messages. Kinds:
 * ERROR_USAGE (a field, a program that no node has, a program twice, an unusable version, path or
 * placeholder, a release without a digest), ERROR_MALFORMED. */
int catalog_read(const char *text, size_t len, const char *what, struct catalog **ret,
                 struct error *err);
void catalog_free(struct catalog *catalog);
void catalog_freep(struct catalog **catalog);
/* Fills in where this artifact is published in its version: path, digest, and member in an archive.
 * false: it is not. */
bool catalog_locate(const struct catalog *catalog, struct artifact *artifact);
/* Those of `names` that are published, for a node of this Kubernetes version ("v1.37.1"); sha256 ""
 * and size 0 are not known before it is read. artifacts_free(). */
void catalog_artifacts(const struct catalog *catalog, const char *kubernetes_version,
                       const struct text_list *names, struct artifacts *ret);
