/* Kubernetes' quantities: "500m", "1Gi", "1e3". */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include <stdbool.h>

/* Whether it is one (k8s.io/apimachinery/pkg/api/resource: ParseQuantity). */
bool quantity_is(const char *text);
/* Of one that is: nothing, in whatever spelling; less than nothing. */
bool quantity_is_zero(const char *text);
bool quantity_is_negative(const char *text);

#endif
