/* One row a distribution. */
#include "join/configuration/distribution.h"

#include "base/text.h"

static const struct distribution {
    const char *mark, *hint;
} distributions[] = {
    {"+rke2", "this is RKE2, whose own agent joins Windows nodes: "
              "https://docs.rke2.io/install/quickstart"},
    {"+k3s", "this is k3s, which has no Windows nodes: they need a cluster by kubeadm or RKE2"},
    {"-eks-", "this is EKS, whose own images join Windows nodes: "
              "https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html"},
    {"-gke.", "this is GKE, whose own node pools have Windows: "
              "https://cloud.google.com/kubernetes-engine/docs/how-to/creating-a-cluster-windows"},
};

const char *distribution_hint(const char *version) {
    for (size_t i = 0; version && i < ARRAY_SIZE(distributions); i++)
        if (strstr(version, distributions[i].mark))
            return distributions[i].hint;
    return NULL;
}
