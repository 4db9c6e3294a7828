/* The unit tests as Windows programs, played where they are at home. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tests/acceptance/acceptance.h"

enum { UNIT_SECONDS = 300 };

/* The last lines of TAP that failed, and how many did not. */
static void read_tap(const char *said, int code, struct finding *f) {
    struct text_list lines = {0};
    unsigned good = 0, skipped = 0;

    text_list_split(&lines, said, '\n');
    for (size_t i = 0; i < lines.count; i++) {
        char *line = lines.items[i];

        line[strcspn(line, "\r")] = '\0';
        if (text_starts_with(line, "not ok"))
            finding_fail(f, "%s", line);
        else if (text_starts_with(line, "ok"))
            strstr(line, "# SKIP") ? skipped++ : good++;
    }
    text_list_free(&lines);
    if (code)
        finding_fail(f, "exit code %d", code);
    if (good + skipped == 0)
        finding_fail(f, "no test was played");
    else
        finding_note(f, "%u passed, %u skipped", good, skipped);
}

static void play(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_(freep) char *path =
        xasprintf("%s\\units\\%s.exe", kit->folder, row->id + strlen("unit-"));
    const char *const argv[] = {path, NULL};
    const char *const environment[] = {"CMOCKA_MESSAGE_OUTPUT=TAP", NULL};
    const struct host_process process = {.argv = argv,
                                         .environment = environment,
                                         .timeout_ms = UNIT_SECONDS * 1000,
                                         .with_errors = true};
    _cleanup_(freep) char *said = NULL;
    struct error err = {0};
    int code = 0;

    if (host_run(kit->host, &process, &code, &said, &err) < 0)
        finding_fail(f, "%s", err.message);
    else
        read_tap(said, code, f);
}

size_t unit_rows(struct kit *kit, struct row *ret, size_t max) {
    _cleanup_(freep) char *folder = xasprintf("%s\\units", kit->folder);
    struct text_list names = {0};
    struct error err = {0};
    size_t count = 0;

    (void)host_list(kit->host, folder, &names, &err); /* none: no rows */
    for (size_t i = 0; i < names.count && count < max; i++) {
        char *name = names.items[i];

        if (!text_ends_with(name, ".exe"))
            continue;
        name[strlen(name) - strlen(".exe")] = '\0';
        ret[count++] = (struct row){xasprintf("unit-%s", name),
                                    "the unit tests on this Windows",
                                    "every test passes",
                                    0,
                                    play,
                                    NULL};
    }
    text_list_free(&names);
    return count;
}
