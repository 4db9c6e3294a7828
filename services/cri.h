/* Calls the container runtime as the kubelet does: CRI v1 (k8s.io/cri-api,
 * runtime.v1.RuntimeService) over its named pipe. */
#pragma once

#include "services/grpc.h"

/* Converts "npipe:////./pipe/x" or a plain path to "\\.\pipe\x"; the caller frees it. */
char *cri_pipe_path(const char *socket);
/* Is this a pipe of this machine, "\\.\pipe\NAME"? Another machine would learn this node's
 * identity, and its Pods are not this node's. */
bool cri_socket_is_local(const char *socket);

struct cri_pod {
    char *id;
    char *name; /* Namespace and name, e.g. "kube-system/coredns-x". */
};
struct cri_pods {
    struct cri_pod *items;
    size_t count;
};
void cri_pods_free(struct cri_pods *pods);

/* Lists the Pods that a kubelet made (label io.kubernetes.pod.uid), running or not. Fails with
 * ERROR_ABSENT (no pipe), ERROR_TIMED_OUT (no answer in that time), ERROR_MALFORMED or ERROR_HOST
 * (no CRI). */
enum { CRI_LIST_MS = 10000 };
int cri_pods(struct host *host, const char *pipe, unsigned timeout_ms, struct cri_pods *ret,
             struct error *err);
/* Stops the Pod's containers at once, removes its network (CNI DEL) and removes the Pod:
 * StopPodSandbox, RemovePodSandbox. A Pod that no longer exists is success. */
int cri_pod_remove(struct host *host, const char *pipe, const struct cri_pod *pod,
                   struct error *err);

/* Does the runtime have an image of this name (ImageService.ImageStatus)? Fails as grpc_call(). */
int cri_image_has(struct host *host, const char *pipe, const char *image, bool *ret,
                  struct error *err);
/* Starts to pull and unpack an image as the kubelet does, with the runtime's own registry settings
 * (ImageService.PullImage). The caller continues with grpc_turn() and ends with grpc_end(). *ret
 * stays NULL when the image is already there. Fails as grpc_call(). */
int cri_image_pull(struct host *host, const char *pipe, const char *image, unsigned timeout_ms,
                   struct grpc_call **ret, struct error *err);
/* The layers, of any image, that containerd is downloading: how many bytes it has and how many they
 * have in total (containerd.services.content.v1.Content.ListStatuses; complete layers are not
 * listed). Fails with ERROR_HOST for a runtime that is not containerd. */
struct cri_downloads {
    unsigned count;
    unsigned long long there, total;
};
int cri_downloads(struct host *host, const char *pipe, struct cri_downloads *ret,
                  struct error *err);

/* Decodes a ListPodSandboxResponse for cri_pods(). Pure. Fails with ERROR_MALFORMED. */
int cri_pods_parse(const char *data, size_t len, struct cri_pods *ret, struct error *err);
