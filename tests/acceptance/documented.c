/* The rows of docs/on-real-windows.md, a copy of which is beside the kit: which of the kit's rows
 * settle one, and what these found; or what is left to a person. The page's own table says so: its
 * last column has the kit's rows in backticks, "by hand: ..." for a person. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tests/acceptance/acceptance.h"

enum { PAGE_MAX = 1 << 20, COLUMNS = 5 };

static const char *outcome_of(const json_t *played, const char *id) {
    const json_t *row;
    size_t i;

    json_array_foreach(played, i, row) if (text_equal(json_text_at(row, "id"),
                                                      id)) return json_text_at(row, "outcome");
    return "skip"; /* --only */
}

/* Of several rows: a failure, then what has passed. */
static const char *outcome(const json_t *played, const char *by) {
    const char *ret = "by hand";
    const char *end;

    if (text_starts_with(by, "by hand"))
        return ret;
    for (const char *at = strchr(by, '`'); at && (end = strchr(at + 1, '`')) != NULL;
         at = strchr(end + 1, '`')) {
        _cleanup_(freep) char *id = xasprintf("%.*s", (int)(end - at - 1), at + 1);
        const char *one = outcome_of(played, id);

        if (text_equal(one, "fail") || text_equal(ret, "fail"))
            ret = "fail";
        else if (!text_equal(ret, "pass"))
            ret = text_equal(one, "pass") ? "pass" : "skip";
    }
    return ret;
}

/* "| 1 | question | run | should print | by |" into its cells; false for another line. */
static bool cells(char *line, const char *ret[COLUMNS]) {
    if (!text_starts_with(line, "| ") || line[2] < '0' || line[2] > '9')
        return false;
    line += 2;
    for (size_t i = 0; i < COLUMNS; i++) {
        char *end = strstr(line, i + 1 < COLUMNS ? " | " : " |");

        if (!end)
            return false;
        ret[i] = line;
        *end = '\0';
        line = end + 3;
    }
    return true;
}

json_t *documented(struct kit *kit, const json_t *played) {
    _cleanup_(freep) char *path = xasprintf("%s\\on-real-windows.md", kit->folder), *page = NULL;
    struct text_list lines = {0};
    json_t *ret = json_array();
    struct error err = {0};
    const char *cell[COLUMNS];
    size_t len;

    if (host_read(kit->host, path, PAGE_MAX, &page, &len, &err) < 0) {
        (void)fprintf(stderr, "acceptance: %s\n", err.message);
        return ret;
    }
    text_list_split(&lines, page, '\n');
    for (size_t i = 0; i < lines.count; i++)
        if (cells(lines.items[i], cell))
            json_array_append_new(ret,
                                  json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "row", cell[0], "question",
                                            cell[1], "run", cell[2], "expected", cell[3], "by",
                                            cell[4], "outcome", outcome(played, cell[4])));
    text_list_free(&lines);
    return ret;
}
