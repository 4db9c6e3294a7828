/* winjoin status: what this node is. */
#include "cmd/output.h"
#include "cmd/program.h"
#include "cmd/verbs/node_status.h"

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
               ? error_hint(err, "powershell Restart-Service hns -Force; if that does not end, "
                                 "restart Windows")
               : -1;
}
