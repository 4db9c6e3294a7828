/* winjoin status, certs: what this node is. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/node_status.h"
#include "cmd/output.h"
#include "cmd/program.h"
#include "diag/look.h"
#include "join/kubelet/kubelet_files.h"

int verb_status(struct program *program, struct error *err) {
    _cleanup_(freep) char *text = NULL;
    json_t *status;
    const char *problem;

    if (node_status_make(program, &status, err) < 0)
        return -1;
    text = node_status_text(status);
    output_text(program, text);
    output_result(program, status);
    problem = json_text_at(status, "problems.0");
    if (!problem)
        return 0;
    (void)error_set(err, ERROR_HOST, "this node is not well: %s", problem);
    return text_equal(problem, json_text_at(status, "networksUnknown"))
               ? error_hint(err, "restart HNS: sc.exe stop hns, then sc.exe start hns; if it does "
                                 "not stop, restart Windows")
               : -1;
}

int verb_certs(struct program *program, struct error *err) {
    json_t *certificate = diag_look_certificate(program->host, KUBELET_CLIENT_CERTIFICATE_FILE);
    _cleanup_(freep) char *line = NULL;

    if (!json_text_at(certificate, "subject")) {
        json_decref(certificate);
        (void)error_set(err, ERROR_ABSENT, "read '%s': this machine has no node certificate",
                        KUBELET_CLIENT_CERTIFICATE_FILE);
        return error_hint(err, "winjoin join makes one");
    }
    line = xasprintf("identity  %s, valid until %s\n", json_text_at(certificate, "subject"),
                     json_text_at(certificate, "notAfter"));
    output_text(program, line);
    output_result(program, json_pack("{s:s, s:s, s:o}", "apiVersion", "winjoin.io/v1alpha1", "kind",
                                     "NodeCertificates", "client", certificate));
    return 0;
}
