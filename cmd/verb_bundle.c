/* winjoin bundle: make, verify and show an archive of a node's programs. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/output.h"
#include "cmd/program.h"
#include "services/artifacts.h"

enum { VERSIONS_MAX = 65536 };

static void print_artifacts(struct program *program, const struct artifacts *artifacts) {
    struct text out = {0};

    for (size_t i = 0; i < artifacts->count; i++)
        text_addf(&out, "%-26s %-12s %.12s  %s\n", artifacts->items[i].name,
                  artifacts->items[i].version, artifacts->items[i].sha256,
                  artifacts->items[i].target);
    output_text(program, text_str(&out));
    output_result(program, json_pack("{s:s, s:s, s:o}", "apiVersion", "winjoin.io/v1alpha1", "kind",
                                     "BundleLock", "artifacts", artifacts_json(artifacts, NULL)));
    text_free(&out);
}

static int read_versions(struct program *program, json_t **ret, struct error *err) {
    _cleanup_(freep) char *path = NULL, *text = NULL;
    size_t len;

    if (!program->options.versions)
        return 0;
    path = terminal_full_path(program->options.versions);
    if (host_read(program->host, path, VERSIONS_MAX, &text, &len, err) < 0)
        return -1;
    return json_read(text, len, "--versions", ret, err);
}

static int create(struct program *program, const char *folder, const char *zip, struct error *err) {
    _cleanup_(freep) char *from = terminal_full_path(folder), *to = terminal_full_path(zip);
    _cleanup_json_ json_t *versions = NULL;
    struct artifacts artifacts = {0};

    if (read_versions(program, &versions, err) < 0 ||
        bundle_create(program->host, from, to, versions, &artifacts, err) < 0)
        return -1;
    print_artifacts(program, &artifacts);
    artifacts_free(&artifacts);
    return 0;
}

int verb_bundle(struct program *program, struct error *err) {
    const struct text_list *words = &program->words;
    const char *what = words->count ? words->items[0] : "";
    _cleanup_(bundle_freep) struct bundle *bundle = NULL;
    _cleanup_(freep) char *path = NULL;

    if (text_equal(what, "create") && words->count == 3)
        return create(program, words->items[1], words->items[2], err);
    if ((!text_equal(what, "verify") && !text_equal(what, "show")) || words->count != 2)
        return error_set(err, ERROR_USAGE,
                         "winjoin bundle create DIR FILE.zip | verify FILE | show FILE");
    path = terminal_full_path(words->items[1]);
    if (bundle_open(program->host, path, NULL, &bundle, err) < 0 ||
        (text_equal(what, "verify") && bundle_verify(bundle, NULL, err) < 0))
        return -1;
    print_artifacts(program, bundle_artifacts(bundle));
    return 0;
}
