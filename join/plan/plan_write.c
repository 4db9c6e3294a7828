/* The files of a JoinPlan, written where somebody can look at them. */
#include "host/path.h"
#include "join/plan/plan.h"

/* A text, or the document that the file holds as JSON; NULL when the plan does not say it. */
static char *content_of(const json_t *file) {
    const json_t *content = json_object_get(file, "content");

    if (json_is_object(content))
        return json_write_pretty(content);
    if (!content || text_equal(json_string_value(content), JOIN_PLAN_REDACTED))
        return NULL;
    return xstrdup(json_string_value(content));
}

static int write_files(struct host *host, const json_t *files, const char *folder,
                       size_t *ret_count, struct error *err) {
    json_each(files, i, file) {
        _cleanup_(freep) char *content = content_of(file);
        const char *path = json_text_at(file, "path");
        _cleanup_(freep) char *to = xasprintf("%s\\%s", folder, path_base(path));

        if (!content)
            continue;
        if (host_write(host, to, content, strlen(content),
                       json_bool_at(file, "protected", false) ? HOST_SECRET : HOST_PUBLIC, err) < 0)
            return -1;
        ++*ret_count;
    }
    return 0;
}

int join_plan_write(struct host *host, const json_t *plan, const char *folder, size_t *ret_count,
                    struct error *err) {
    *ret_count = 0;
    if (write_files(host, json_object_get(plan, "files"), folder, ret_count, err) < 0 ||
        write_files(host, json_at(plan, "network.cni"), folder, ret_count, err) < 0)
        return error_prefix(err, "write the plan's files to '%s'", folder);
    return 0;
}
