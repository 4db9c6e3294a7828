/* containerd's side of CNI: which configuration, which plugin, ADD and DEL. */
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "host/host.h"
#include "tests/standins/containerd/config.h"

/* The network configuration that counts: the first *.conf, *.conflist, *.json by name. New
 * reference; none: ERROR_ABSENT "cni config uninitialized". */
int cni_load(struct host *host, const struct standin_settings *settings, json_t **ret,
             struct error *err);

struct cni_pod {
    const char *id;    /* sandbox */
    const char *netns; /* HNS namespace GUID */
    const char *args;  /* CNI_ARGS */
    const json_t *dns; /* {"servers","searches","options"}, or NULL */
    const json_t *ports;
};
/* command: "ADD" (then *ret is the last plugin's result, a new reference) or "DEL". */
int cni_call(struct host *host, const struct standin_settings *settings, const char *command,
             const struct cni_pod *pod, json_t **ret, struct error *err);
