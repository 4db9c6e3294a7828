/* The Windows feature Containers, installed by dism.exe. */
#include "join/preflight/features.h"

#include <string.h>

#include "base/memory.h"

#define DISM "C:\\Windows\\System32\\dism.exe"
enum { INSTALL_MS = 15 * 60 * 1000, RESTART_NEEDED = 3010 };

/* The last line that says something: dism.exe ends its report with the reason. */
static char *last_line(const char *output) {
    const char *end = output + strlen(output), *begin;

    while (end > output && strchr(" \t\r\n", end[-1]))
        end--;
    for (begin = end; begin > output && begin[-1] != '\n' && begin[-1] != '\r';)
        begin--;
    return xstrndup(begin, (size_t)(end - begin));
}

static int judge(struct join *join, int code, const char *output, struct error *err) {
    if (code == RESTART_NEEDED) {
        (void)error_set(err, ERROR_RESTART,
                        "the Windows feature Containers is installed; a restart of Windows is "
                        "needed first");
        return error_hint(err, "shutdown /r /t 0, then run the same command again");
    }
    if (code) {
        _cleanup_(freep) char *why = last_line(output);

        return error_set(err, ERROR_HOST,
                         "install the Windows feature Containers: dism.exe failed with exit code "
                         "%d: %.200s",
                         code, why);
    }
    return host_facts(join->host, &join->found.facts, err);
}

int features_install(struct join *join, struct error *err) {
    static const char *const argv[] = {
        DISM,   "/online",    "/enable-feature", "/featurename:Containers",
        "/all", "/norestart", "/quiet",          NULL};
    const struct host_process process = {
        .argv = argv, .timeout_ms = INSTALL_MS, .with_errors = true};
    _cleanup_(freep) char *output = NULL;
    int code;

    if (!join->found.options.install_features || join->found.options.dry_run ||
        join->found.facts.containers_feature != 0)
        return 0;
    join_tell_waiting(&join->progress, 0, INSTALL_MS, "",
                      "installing the Windows feature Containers");
    if (host_run(join->host, &process, &code, &output, err) < 0)
        return error_prefix(err, "install the Windows feature Containers");
    return judge(join, code, output, err);
}
