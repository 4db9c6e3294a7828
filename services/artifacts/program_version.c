/* Versions of programs, by their files first. */
#include "services/artifacts/program_version.h"

#include "services/artifacts/artifacts.h"
#include "services/artifacts/program_image.h"
#include "services/program_flags.h"

enum { DOS_HEADER = 64 };

/* "Kubernetes v1.37.1", "containerd github.com/containerd/containerd/v2 v2.4.2 abc". */
static char *version_in(const char *line) {
    const char *v = strstr(line, " v");

    while (v && !strchr("0123456789", v[2]))
        v = strstr(v + 1, " v");
    return v && v[2] ? xstrndup(v + 1, strcspn(v + 1, " \r\n"))
                     : xstrndup(line, strcspn(line, "\r\n"));
}

/* A file with the header of a Windows program is to be a whole one; a rehearsal's has none. */
static int file_version(struct host *host, const char *program, char **ret, struct error *err) {
    _cleanup_(freep) char *data = NULL;
    char *version;
    size_t len;

    if (host_read(host, program, ARTIFACT_SIZE_MAX, &data, &len, err) < 0)
        return -1;
    version = program_image_version(data, len);
    if (!version && (!len || (len >= DOS_HEADER && text_starts_with(data, "MZ"))) &&
        program_image_check(data, len, err) < 0)
        return error_prefix(err, "read '%s'", program);
    if (version)
        *ret = version;
    return version != NULL;
}

int program_version_read(struct host *host, const char *program, bool may_run, char **ret,
                         struct error *err) {
    const char *const argv[] = {program, "--version", NULL};
    _cleanup_(freep) char *output = NULL;
    int code, found;

    if (host_file_type(host, program) == HOST_ABSENT)
        return 0;
    if (host_refuse_stranger(host, program, err) < 0)
        return -1;
    found = file_version(host, program, ret, may_run ? ERROR_IGNORED : err);
    if (found > 0 || !may_run)
        return found;
    if (program_ask(host, argv, &code, &output, err) < 0)
        return -1;
    if (code != 0)
        return error_set(err, ERROR_HOST, "'%s --version' ended with exit code %d", program, code);
    *ret = version_in(output);
    return 1;
}
