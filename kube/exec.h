/* Runs a program in a container as `kubectl exec` does, over a WebSocket. */
#pragma once

#include "kube/client.h"

enum { KUBE_EXEC_TIMEOUT_MS = 30000, KUBE_EXEC_OUTPUT_MAX = 1024 * 1024 };

/* A program to run in a container. All members are borrowed for the call. */
struct kube_exec {
    const char *namespace_, *pod;
    const char *container; /* Name of the container; NULL when the Pod has only one. */
    /* Program and arguments, terminated by NULL. No shell interprets them. */
    const char *const *argv;
    unsigned timeout_ms; /* Time limit of the whole call; 0 means KUBE_EXEC_TIMEOUT_MS. */
    size_t max_output;   /* Limit for both output streams together; 0 means KUBE_EXEC_OUTPUT_MAX. */
};
/* Result of a program. Initialize it with zeros and free it with kube_exec_result_free(). */
struct kube_exec_result {
    struct text out, err; /* Standard output and standard error; may contain NUL bytes. */
    int exit_code;
};
void kube_exec_result_free(struct kube_exec_result *result);

/* Runs several programs in containers at the same time: rets[i] and errs[i] (cleared before) belong
 * to execs[i].
 *
 * Needs the verb "get" on pods/exec, and since Kubernetes 1.35 also "create". A run succeeds if the
 * program ended and the server sent its exit code. Several versions lose output or the exit code,
 * because the container runtime closes too early; a program whose output matters should print a
 * last line as a proof that the output is complete. Fails as http_talk_all();
 * as kube_get() for an answer other than 101; with the server's message and code for a program that
 * it could not start ("container not found", "executable file not found"); or with ERROR_NETWORK
 * (closed without an exit code), ERROR_TIMED_OUT, ERROR_MALFORMED (no WebSocket, too much output),
 * ERROR_INTERRUPTED. */
void kube_exec(struct kube_client *client, const struct kube_exec *execs,
               struct kube_exec_result *rets, struct error *errs, size_t count);
