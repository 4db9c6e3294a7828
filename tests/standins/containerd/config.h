/* The few keys of containerd's config.toml that the stand-in needs. */
#pragma once

#include "base/error.h"
#include "host/host.h"

struct standin_settings {
    char *cni_bin_dir;
    char *cni_conf_dir;
    char *sandbox_image;
};

/* Reads bin_dir or bin_dirs, conf_dir, sandbox or sandbox_image; what the file lacks keeps
 * containerd's default. The file given but absent: ERROR_ABSENT. */
int standin_settings_read(struct host *host, const char *path, struct standin_settings *ret,
                          struct error *err);
