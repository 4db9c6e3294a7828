/* The container runtime asked as the kubelet asks it: CRI v1 (k8s.io/cri-api,
 * runtime.v1.RuntimeService) over its named pipe. */
#pragma once

#include "services/grpc.h"

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

/* Whether the runtime has an image of this name (ImageService.ImageStatus). Kinds: those of
 * grpc_call(). */
int cri_image_has(struct host *host, const char *pipe, const char *image, bool *ret,
                  struct error *err);
/* Begins to pull an image as the kubelet would, by the runtime's own registry settings, and to
 * unpack it (ImageService.PullImage); grpc_turn() goes on, grpc_end() ends it. *ret stays NULL for
 * one that is there. Kinds: those of grpc_call(). */
int cri_image_pull(struct host *host, const char *pipe, const char *image, unsigned timeout_ms,
                   struct grpc_call **ret, struct error *err);
/* The layers that containerd downloads now, for any image: how many bytes of theirs are there, and
 * how many they have (containerd.services.content.v1.Content.ListStatuses: a layer that is whole is
 * in it no more). A runtime that is not containerd: ERROR_HOST. */
struct cri_downloads {
    unsigned count;
    unsigned long long there, total;
};
int cri_downloads(struct host *host, const char *pipe, struct cri_downloads *ret,
                  struct error *err);

/* ListPodSandboxResponse, the pure half of cri_pods(). ERROR_MALFORMED. */
int cri_pods_parse(const char *data, size_t len, struct cri_pods *ret, struct error *err);
