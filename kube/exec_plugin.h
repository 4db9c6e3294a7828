/* Credentials that a program gives: "exec" of a kubeconfig's user, as kubectl runs it. */
#pragma once

#include "kube/kubeconfig.h"

/* Runs the program of config->exec, found beside the kubeconfig at `path` (a name with a slash) or
 * in PATH, at most a minute, and puts its token or certificate and key into config. Versions v1 and
 * v1beta1 of client.authentication.k8s.io (client-go: tools/clientcmd,
 * plugin/pkg/client/auth/exec). What it printed appears in no message. ERROR_UNSUPPORTED (another
 * version, interactiveMode Always), ERROR_USAGE where it is missing (with its installHint),
 * ERROR_DENIED when it fails, ERROR_TIMED_OUT, ERROR_MALFORMED. */
int kubeconfig_run_plugin(struct host *host, const char *path, struct kubeconfig *config,
                          struct error *err);
/* What a program printed, for the version that it was asked in. ERROR_MALFORMED. */
int exec_credential_read(const char *text, size_t len, const char *version,
                         struct kubeconfig *config, struct error *err);
