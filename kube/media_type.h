/* Media types of answers, read as Go's mime.ParseMediaType reads them. */
#ifndef KUBE_MEDIA_TYPE_H
#define KUBE_MEDIA_TYPE_H

#include <stdbool.h>

/* Whether `text` ("application/json; charset=utf-8") is well-formed and its type is `type`, without
 * case. client-go refuses what is not well-formed. NULL is no type. */
bool media_type_is(const char *text, const char *type);

#endif
