/* winjoin probe: runs one probe by hand, with the code that runs in probe Pods. */
#include "cmd/program.h"
#include "diag/probe/probe.h"

int verb_probe(struct program *program, struct error *err) {
    _cleanup_(text_free) struct text out = {0};
    int result = probe_command((int)program->words.count, program->words.items, &out, err);

    output_bytes(text_str(&out), out.len);
    return result;
}
