/* containerd's config.toml. */
#include "join/files/containerd_file.h"

#include "join/programs/programs.h"
#include "services/artifacts/program_version.h"
#include "services/runtime_files.h"
#include "services/version.h"

/* 1.x and 2.x read files of different shapes; one that does not say is taken for the newer. */
static unsigned installed_major(struct host *host) {
    _cleanup_(freep) char *version = NULL;

    return program_version_read(host, service_containerd.program, true, &version, ERROR_IGNORED) > 0
               ? containerd_major(version)
               : 0;
}

char *containerd_file_make(struct host *host, struct join_found *found) {
    _cleanup_(containerd_settings_free) struct containerd_settings here = {0}, all = {0};
    _cleanup_(freep) char *image = programs_sandbox_image(host, found);

    (void)containerd_settings_read(host, CONTAINERD_CONFIG_PATH, false, &here, ERROR_IGNORED);
    /* imports that a stranger may have written, or that nobody can read, are not passed on */
    if (containerd_settings_read(host, CONTAINERD_CONFIG_PATH, true, &all, ERROR_IGNORED) < 0)
        text_list_free(&here.imports);
    return containerd_config_make(&(struct containerd_config){
        .sandbox_image = image,
        .major = installed_major(host),
        .root = here.root,
        .state = here.state,
        /* containerd does not start with both */
        .registries = all.imports_mirrors ? "" : here.registries,
        .imports = here.imports,
    });
}
