/* The container runtime asked as the kubelet asks it: CRI v1 (k8s.io/cri-api,
 * runtime.v1.RuntimeService) over its named pipe. */
#pragma once

#include "host/host.h"

/* "npipe:////./pipe/x" (or a bare path) -> "\\.\pipe\x"; the caller frees. */
char *cri_pipe_path(const char *socket);
/* true when it names a pipe of this machine, "\\.\pipe\NAME": one of another machine would be
 * sent who we are, and pods are not looked for there. */
bool cri_socket_is_local(const char *socket);

struct cri_pod {
    char *id;
    char *name; /* "kube-system/coredns-x" */
};
struct cri_pods {
    struct cri_pod *items;
    size_t count;
};
void cri_pods_free(struct cri_pods *pods);

/* The pods that a kubelet made (label io.kubernetes.pod.uid), running or not. No pipe:
 * ERROR_ABSENT; no answer in that time: ERROR_TIMED_OUT; no CRI: ERROR_MALFORMED, ERROR_HOST. */
enum { CRI_LIST_MS = 10000 };
int cri_pods(struct host *host, const char *pipe, unsigned timeout_ms, struct cri_pods *ret,
             struct error *err);
/* Ends the pod's containers at once, takes its network down (CNI DEL) and forgets it:
 * StopPodSandbox, RemovePodSandbox. A pod that is gone is success. */
int cri_pod_remove(struct host *host, const char *pipe, const struct cri_pod *pod,
                   struct error *err);

/* Pulls an image as the kubelet would, by the runtime's own registry settings, and unpacks it
 * (ImageService.PullImage). One that is there is not asked for again. Kinds: those of grpc_call(),
 * ERROR_HOST with the runtime's words where the registry has no such image. */
int cri_image_pull(struct host *host, const char *pipe, const char *image, unsigned timeout_ms,
                   bool *ret_pulled, struct error *err);

/* ListPodSandboxResponse, the pure half of cri_pods(). ERROR_MALFORMED. */
int cri_pods_parse(const char *data, size_t len, struct cri_pods *ret, struct error *err);
