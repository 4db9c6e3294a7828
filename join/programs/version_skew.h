/* Kubernetes' version skew policy: which kubelets and kube-proxies a control plane takes. */
#pragma once

#include "base/error.h"

struct version_skew {
    const char *kubelet; /* "v1.37.1" or "Kubernetes v1.37.1" */
    const char *cluster; /* kubernetesVersion of ClusterConfiguration, "" = not known */
    const char *server;  /* gitVersion of /version, NULL = not known */
    const char *program; /* whose version `kubelet` is: "kube-proxy"; NULL = "kubelet" */
};
/* A kubelet must not be newer (by minor version) than the control plane, and at most three minor
 * versions older, two for kubelets before 1.25 (Kubernetes' version skew policy; kubeadm: check
 * KubeletVersion); for kube-proxy the policy is the same. Where cluster and server differ, as in
 * the midst of an upgrade, the older decides what is too new and the newer what is too old.
 * ERROR_PREFLIGHT "[KubeletVersion] ...", also for a kubelet whose version cannot be read; a
 * cluster's that cannot be read is passed over. */
int version_skew_check(const struct version_skew *skew, struct error *err);
