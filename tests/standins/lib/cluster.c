/* A stand-in's way to the API server. */
#include "tests/standins/lib/cluster.h"

#include "base/memory.h"
#include "base/text.h"
#include "host/host.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/lifetime.h"

static bool ended(void *context) {
    (void)context;
    return lifetime_over();
}

static int open_once(const char *program, const char *kubeconfig, struct cluster *ret,
                     struct error *err) {
    struct kubeconfig config = {0};
    struct cluster made = {.host = host_win32_open()};
    _cleanup_(freep) char *agent = xasprintf("%s/v1.37.1 (windows/amd64) standin", program);
    int result = kubeconfig_read_file(made.host, kubeconfig, NULL, &config, err);

    made.http = http_curl_new(agent, ended, NULL);
    if (result == 0)
        result = kube_client_open(made.http, made.host, &config, &made.client, err);
    kubeconfig_free(&config);
    if (result) {
        http_free(made.http);
        host_free(made.host);
        return -1;
    }
    *ret = made;
    return 0;
}

int cluster_open(const char *program, const char *kubeconfig, struct cluster *ret) {
    struct error err = {0};

    for (unsigned tries = 0; !lifetime_over(); tries++) {
        if (open_once(program, kubeconfig, ret, &err) == 0)
            return 0;
        if (tries % 10 == 0)
            klog('W', "kubeconfig '%s' cannot be used yet: %s", kubeconfig, err.message);
        (void)lifetime_wait(1000); /* asked in the loop's head */
    }
    return -1;
}

void cluster_close(struct cluster *cluster) {
    kube_client_close(&cluster->client);
    http_free(cluster->http);
    host_free(cluster->host);
}
