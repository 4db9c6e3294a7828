/* A stand-in's way to the API server: its kubeconfig, waited for, and a client. */
#pragma once

#include "host/host.h"
#include "host/http.h"
#include "kube/client.h"

struct cluster {
    struct host *host;
    struct http *http;
    struct kube_client client;
};

/* Reads the kubeconfig and the certificate that it names; both may be late: tries each second until
 * they are there or the program is to end (-1). One cluster for one thread. */
int cluster_open(const char *program, const char *kubeconfig, struct cluster *ret);
void cluster_close(struct cluster *cluster);
