/* What winjoin-network follows of a real API server, for so long: follow FOLDER SECONDS; the
 * kubeconfig is FOLDER/admin.conf. Writes {"services", "slices", "changes"}. */
#include <stdio.h>
#include <stdlib.h>

#include "diag/drift/drift.h"

int main(int argc, char **argv) {
    struct drift_follow records = {0};
    struct kube_watch watches[DRIFT_WATCHES];
    struct kube_client client = {0};
    struct http *http = http_curl_new("winjoin-network", NULL, NULL);
    struct host *host = NULL;
    struct error err = {0};

    if (argc != 3 || host_open(argv[1], &host, &err) < 0 ||
        kube_client_open_file(http, host, "C:\\admin.conf", &client, &err) < 0) {
        fprintf(stderr, "usage: follow FOLDER SECONDS; %s\n", err.message);
        return 2;
    }
    drift_follow_watches(&records, watches);
    watches[0].timeout_ms = 1000 * (unsigned)strtoul(argv[2], NULL, 10);
    (void)kube_watch(&client, watches, DRIFT_WATCHES, &err);
    printf("{\"services\":%zu,\"slices\":%zu,\"changes\":%zu}\n", records.cluster.service_count,
           records.cluster.slice_count, records.changes);
    drift_follow_free(&records);
    kube_client_close(&client);
    http_free(http);
    host_free(host);
    return err.kind != ERROR_TIMED_OUT;
}
