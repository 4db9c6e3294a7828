/* winjoin version: prints the version of winjoin and of its libraries. */
#include "base/build_info.h"
#include "cmd/program.h"

int verb_version(struct program *program, struct error *) {
    json_t *libraries = json_array();

    for (const struct build_library *l = build_libraries; l->name; l++)
        json_array_append_new(libraries,
                              json_pack("{s:s, s:s, s:s*}", "name", l->name, "version", l->version,
                                        "licence", *l->license ? l->license : NULL));
    output_format(program, "winjoin %s (%s)\n", build_version, build_commit);
    output_result(program,
                  json_pack("{s:s, s:s, s:s, s:s, s:o}", JSON_DOCUMENT("Version"), "version",
                            build_version, "commit", build_commit, "libraries", libraries));
    return 0;
}
