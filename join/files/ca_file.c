/* What the node's ca.crt holds, and how that differs from the proven CA. */
#include "join/files/ca_file.h"

#include "join/found/need.h"
#include "pki/certificate.h"

enum { CA_FILE_MAX = 1024 * 1024, TOLD_MAX = 3 };

/* *ret is empty when the text holds no certificate. */
static void read_pem(const char *pem, size_t len, struct certificates *ret) {
    *ret = (struct certificates){0};
    (void)certificates_parse(pem, len, ret, ERROR_IGNORED); /* no certificate is an answer, too */
}

/* false when there is no file. One that cannot be read is taken for one without certificates:
 * laying the right one will say why. */
static bool read_file(struct host *host, const char *path, struct certificates *ret) {
    _cleanup_(freep) char *pem = NULL;
    struct error why = {0};
    size_t len = 0;

    if (host_read(host, path, CA_FILE_MAX, &pem, &len, &why) < 0 && why.kind == ERROR_ABSENT)
        return false;
    read_pem(pem ? pem : "", len, ret);
    return true;
}

static char *describe(const struct certificates *all) {
    struct text out = {0};

    if (!all->count)
        return xstrdup("no certificate");
    for (size_t i = 0; i < all->count && i < TOLD_MAX; i++) {
        text_addf(&out, "%s%s (CN=", i ? ", " : "", all->items[i].pin);
        text_add_escaped(&out, all->items[i].common_name, strlen(all->items[i].common_name));
        text_add_char(&out, ')');
    }
    if (all->count > TOLD_MAX)
        text_addf(&out, " and %zu more", all->count - TOLD_MAX);
    return text_take(&out);
}

static bool has_all(const struct certificates *all, const struct certificates *wanted) {
    for (size_t i = 0; i < wanted->count; i++) {
        bool found = false;

        for (size_t k = 0; k < all->count && !found; k++)
            found = text_equal(all->items[k].pin, wanted->items[i].pin);
        if (!found)
            return false;
    }
    return true;
}

char *ca_file_describe(struct host *host, const char *path) {
    _cleanup_(certificates_free) struct certificates found = {0};

    return read_file(host, path, &found) ? describe(&found) : NULL;
}

char *ca_file_difference(struct host *host, const char *path, const char *proven_pem) {
    _cleanup_(certificates_free) struct certificates found = {0}, proven = {0};
    _cleanup_(freep) char *is = NULL, *should = NULL;

    if (!proven_pem || !read_file(host, path, &found))
        return NULL;
    read_pem(proven_pem, strlen(proven_pem), &proven);
    if (has_all(&found, &proven) && has_all(&proven, &found))
        return NULL;
    is = describe(&found);
    should = describe(&proven);
    return xasprintf("'%s' contains %s; the cluster's verified CA is %s", path, is, should);
}

void ca_file_warn(struct host *host, const struct join_found *found,
                  struct join_progress *progress) {
    _cleanup_(freep) char *path = join_ca_file(&found->options);
    _cleanup_(freep) char *difference = ca_file_difference(host, path, found->client.ca_pem);

    if (difference)
        join_warn(progress, "%s, which replaces it (winjoin reset restores the old file)",
                  difference);
}
