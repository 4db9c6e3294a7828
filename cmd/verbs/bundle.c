/* winjoin bundle: makes, verifies, shows and compares archives of a node's programs. */
#include "cmd/program.h"
#include "join/programs/programs.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/catalog.h"

enum { VERSIONS_MAX = 65536, LOOK_MS = 5000 };

static char *names_of(const json_t *names, const char *none) {
    struct text text = {0};

    json_each(names, i, name)
        text_addf(&text, "%s%s", i ? ", " : "", json_string_value(name));
    if (!text.len)
        text_add(&text, none);
    return text_take(&text);
}

/* Warns of programs whose versions do not work with the bundle's kubelet or with the Windows build
 * of --windows-build. Returns the warnings. */
static json_t *breaches_json(const struct program *program, const struct artifacts *artifacts) {
    const struct artifact *kubelet = artifact_find(artifacts, service_kubelet.artifact);
    json_t *list = json_array();

    for (size_t i = 0; i < artifacts->count; i++) {
        const struct artifact *a = &artifacts->items[i];
        const struct compatible *row =
            compatible_breach(a->name, a->version, kubelet ? kubelet->version : NULL,
                              (unsigned)program->options.windows_build);
        _cleanup_(freep) char *message = row ? compatible_message(row, a->version) : NULL;

        if (!message)
            continue;
        output_warning("%s", message);
        json_array_append_new(list, json_string(message));
    }
    return list;
}

/* Adds the programs that any of these nodes lacks, each once. */
static void names_missing(const json_t *nodes, struct text_list *ret) {
    json_each(nodes, i, node)
        json_each(json_at(node, "missing"), j, name)
            if (!text_list_has(ret, json_string_value(name)))
                text_list_add(ret, json_string_value(name));
}

/* Warns of artifacts that the bundle lacks. With `each`, warns about each kind of node that was
 * asked for; otherwise only when the bundle is complete for no kind. */
static void warn_of_nodes(const json_t *nodes, bool each) {
    _cleanup_(text_list_free) struct text_list names = {0};

    json_each(nodes, i, node)
        if (!each && !json_array_size(json_at(node, "missing")))
            return;
    json_each(nodes, i, node) {
        _cleanup_(freep) char *missing = names_of(json_at(node, "missing"), "");

        if (*missing)
            output_warning("a node with network mode %s and plugin %s also needs: %s",
                           json_text_at(node, "mode"), json_text_at(node, "plugin"), missing);
    }
    names_missing(nodes, &names);
    for (size_t i = 0; i < names.count; i++) {
        const char *origin = artifact_origin(names.items[i]);

        if (origin)
            output_warning("%s.exe: %s", names.items[i], origin);
    }
}

/* Prints the bundle's programs and images, and which programs each kind of node still lacks. */
static int print_bundle(struct program *program, const struct artifacts *artifacts,
                        const struct artifacts *images, bool warn, struct error *err) {
    const struct join_options *o = &program->options.join;
    json_t *nodes = NULL, *list;
    _cleanup_(text_free) struct text out = {0};

    if (node_programs_missing(artifacts, o, &nodes, err) < 0)
        return -1;
    for (size_t i = 0; i < artifacts->count; i++)
        text_addf(&out, "%-26s %-12s %.12s  %s\n", artifacts->items[i].name,
                  artifacts->items[i].version, artifacts->items[i].sha256,
                  artifacts->items[i].target);
    list = json_array();
    for (size_t i = 0; i < images->count; i++) {
        const struct artifact *image = &images->items[i];

        text_addf(&out, "%s %.12s %.0f MB\n", image->name, image->sha256,
                  (double)image->size / 1e6);
        json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "name", image->name, "sha256",
                                              image->sha256, "size", (json_int_t)image->size));
    }
    text_addf(&out, "\n%-14s %-16s %s\n", "--network-mode", "--network-plugin", "missing");
    json_each(nodes, i, node) {
        _cleanup_(freep) char *missing = names_of(json_at(node, "missing"), "nothing");

        text_addf(&out, "%-14s %-16s %s\n", json_text_at(node, "mode"),
                  json_text_at(node, "plugin"), missing);
    }
    output_text(program, text_str(&out));
    if (warn) {
        for (size_t i = 0; i < artifacts->count; i++)
            if (text_equal(artifacts->items[i].version, "unknown"))
                output_warning("%s.exe has no version in it: give it with --versions FILE",
                               artifacts->items[i].name);
        warn_of_nodes(nodes, o->network_mode || o->network_plugin);
    }
    output_result(program,
                  json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", JSON_DOCUMENT("BundleLock"),
                            "artifacts", artifacts_json(artifacts, NULL), "images", list, "nodes",
                            nodes, "warnings", breaches_json(program, artifacts)));
    return 0;
}

/* Shows a line on the terminal while a large file is read or written. */
static void show_work(struct program *program, struct progress *progress, const char *message) {
    const struct join_event event = {.state = JOIN_WAITING, .message = message, .hint = ""};

    progress_open(progress, program);
    progress->program = NULL; /* The command bundle keeps no record. */
    if (progress->mode == PROGRESS_LIVE)
        progress_show(progress, &event);
}

/* Packs the programs of a folder. Errors in the folder or in the versions file are ERROR_USAGE,
 * because the command line names them. */
static int pack(struct program *program, const char *folder, const char *to,
                struct artifacts *artifacts, struct error *err) {
    _cleanup_(freep) char *from = terminal_full_path(folder), *path = NULL, *text = NULL;
    const char *given = program->options.versions;
    _cleanup_json_ json_t *versions = NULL;
    struct progress progress;
    int result = 0;
    size_t len;

    if (given) {
        path = terminal_full_path(given);
        result = host_read_text(program->host, path, VERSIONS_MAX, &text, &len, err);
        if (result == 0)
            result = json_read(text, len, "--versions", &versions, err);
    }
    show_work(program, &progress, "packing the programs");
    if (result == 0)
        result = bundle_create(program->host, from, to, versions, artifacts, err);
    progress_close(&progress);
    if (result == 0)
        return 0;
    if (err->kind == ERROR_MALFORMED || err->kind == ERROR_ABSENT)
        err->kind = ERROR_USAGE;
    return -1;
}

/* ---- bundles of upstream's releases ---- */

static void tell_fetching(void *context, unsigned waited_ms, unsigned percent,
                          const char *message) {
    const struct join_event event = {.state = JOIN_WAITING,
                                     .message = message,
                                     .hint = "",
                                     .waited_ms = waited_ms,
                                     .percent = percent};

    progress_show(context, &event);
}

/* Refuses images for another build of Windows before gigabytes are downloaded. When a registry does
 * not state the build, the download checks it. */
static int check_builds(const struct join_options *o, unsigned build, const struct mirror *from,
                        struct error *err) {
    struct mirror quick = *from;

    quick.limit_ms = LOOK_MS;
    for (size_t i = 0; i < o->images.count; i++) {
        const char *image = o->images.items[i];
        _cleanup_(image_facts_free) struct image_facts facts = {0};
        _cleanup_(freep) char *list = NULL, *other = NULL;

        if (image_fit_ask(&quick, image, build, &facts, ERROR_IGNORED) != IMAGE_UNFIT)
            continue;
        list = text_list_join(&facts.versions, ", ");
        other = image_for_build_ask(&quick, image, build);
        (void)error_set(err, ERROR_ABSENT, "%s is not for build %u of Windows, but for %s", image,
                        build, list);
        return other ? error_hint(err, "use --image %s", other) : -1;
    }
    return 0;
}

static int fetch(struct program *program, const json_t *nodes, const char *to,
                 struct artifacts *artifacts, struct artifacts *images, struct error *err) {
    const struct join_options *o = &program->options.join;
    struct progress progress;
    const struct mirror from = {.host = program->host,
                                .http = program->http,
                                .url = o->source_base,
                                .tell = tell_fetching,
                                .context = &progress};
    struct mirror with = from;
    _cleanup_(freep) char *image = NULL;
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(bundle_freep) struct bundle *bundle = NULL;
    int result;

    with.follows_redirects = true; /* Registries redirect to the server that holds their blobs. */
    names_missing(nodes, &names);
    if (program->options.tools) {
        static const char *const tools[] = {"kubectl", "crictl", "ctr"};

        for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
            text_list_add(&names, tools[i]);
    }
    if ((program->options.images || o->images.count) && !text_list_has(&names, "ctr"))
        text_list_add(&names, "ctr"); /* ctr imports the images at a join. */
    program_settle_paths(&program->options.join);
    show_work(program, &progress, "asking for the releases");
    result = check_builds(o, (unsigned)program->options.windows_build, &with, err);
    if (result == 0)
        result = bundle_open_upstream(
            &from, &names, &(struct bundle_choice){o->kubernetes_version, o->catalog, NULL},
            &bundle, err);
    image = sandbox_image(NULL, o->kubernetes_version, (unsigned)program->options.windows_build);
    if (result == 0)
        result = bundle_create_from(
            program->host, bundle,
            &(struct bundle_wants){program->options.images ? image : NULL, &o->images,
                                   (unsigned)program->options.windows_build, &with},
            to, artifacts, images, err);
    progress_close(&progress);
    return result;
}

/* Makes a bundle of the programs in `folder`, or of the upstream programs when `folder` is NULL. */
static int create(struct program *program, const char *folder, const char *given,
                  struct error *err) {
    const struct join_options *o = &program->options.join;
    _cleanup_(freep) char *to = NULL;
    _cleanup_(artifacts_free) struct artifacts artifacts = {0}, images = {0};
    _cleanup_json_ json_t *nodes = NULL;

    if (!folder && text_equal(o->source_base, JOIN_SOURCE_NONE))
        return error_set(err, ERROR_USAGE, "--source-base none forbids fetching programs");
    if (!folder && o->source_base && join_source_base_check(o->source_base, err) < 0)
        return error_prefix(err, "--source-base");
    if (!folder && join_kubernetes_version_check(o->kubernetes_version, err) < 0)
        return error_prefix(err, "--kubernetes-version");

    /* The bundle is a .zip file, or a folder where --image adds images. */
    if (o->images.count && text_ends_with(given, ".zip"))
        return error_set(err, ERROR_USAGE,
                         "with --image the bundle is a folder: give the name of one, not '%s'",
                         given);
    if (o->images.count)
        to = terminal_full_path(given);
    else if (output_path(program, "FILE.zip", given, &to, err) < 0)
        return -1;
    if (node_programs_missing(&artifacts, o, &nodes, err) < 0 ||
        (folder ? pack(program, folder, to, &artifacts, err)
                : fetch(program, nodes, to, &artifacts, &images, err)) < 0)
        return -1;
    return print_bundle(program, &artifacts, &images, true, err);
}

/* ---- comparing two bundles ---- */

static json_t *side_json(const struct artifact *artifact) {
    return artifact ? json_pack("{s:s, s:s, s:s}", "version", artifact->version, "sha256",
                                artifact->sha256, "path", artifact->target)
                    : NULL;
}

static void add_differences(const struct artifacts *from, const struct artifacts *to,
                            struct text *out, json_t *list) {
    for (size_t i = 0; i < from->count + to->count; i++) {
        bool left = i < from->count;
        const char *name = left ? from->items[i].name : to->items[i - from->count].name;
        const struct artifact *a = artifact_find(from, name), *b = artifact_find(to, name);
        bool moved = a && b && !text_equal_nocase(a->target, b->target);

        /* A program of both bundles is compared only in the first half. a or b may be NULL. */
        if ((!left && a) || (a && b && !moved && text_equal(a->sha256, b->sha256) &&
                             text_equal(a->version, b->version)))
            continue;
        text_addf(out, "%-26s %-12s %.12s -> %-12s %.12s%s%s\n", name, a ? a->version : "-",
                  a ? a->sha256 : "-", b ? b->version : "-", b ? b->sha256 : "-", moved ? "  " : "",
                  moved ? b->target : "");
        json_array_append_new(list, json_pack("{s:s, s:o*, s:o*}", "name", name, "from",
                                              side_json(a), "to", side_json(b)));
    }
}

static int diff(struct program *program, const struct bundle *from, const char *with,
                struct error *err) {
    _cleanup_(bundle_freep) struct bundle *to = NULL;
    json_t *list;
    _cleanup_(text_free) struct text out = {0};
    size_t count;

    if (bundle_open(program->host, with, NULL, &to, err) < 0)
        return -1;
    list = json_array();
    add_differences(bundle_artifacts(from), bundle_artifacts(to), &out, list);
    add_differences(bundle_images(from), bundle_images(to), &out, list);
    count = json_array_size(list);
    output_text(program, text_str(&out));
    output_result(program,
                  json_pack("{s:s, s:s, s:o}", JSON_DOCUMENT("BundleDiff"), "differences", list));
    return count ? error_set(err, ERROR_CONFLICT, "the bundles differ in %zu program%s", count,
                             PLURAL(count))
                 : 0;
}

int verb_bundle(struct program *program, struct error *err) {
    const struct text_list *words = &program->words;
    const char *what = words->count ? words->items[0] : "";
    _cleanup_(bundle_freep) struct bundle *bundle = NULL;
    _cleanup_(freep) char *path = NULL;
    struct progress progress;
    int result;

    if (program->options.images && !program->options.join.kubernetes_version)
        return error_set(err, ERROR_USAGE,
                         "--images is for --kubernetes-version: it says which image");
    if (program->options.join.images.count && !program->options.join.kubernetes_version)
        return error_set(err, ERROR_USAGE, "--image is for --kubernetes-version");
    for (size_t i = 0; i < program->options.join.images.count; i++)
        if (node_image_check(program->options.join.images.items[i], err) < 0)
            return error_prefix(err, "--image");
    if (text_equal(what, "create") && words->count == 3 &&
        !program->options.join.kubernetes_version)
        return create(program, words->items[1], words->items[2], err);
    if (text_equal(what, "create") && words->count == 2 && program->options.join.kubernetes_version)
        return create(program, NULL, words->items[1], err);
    if (text_equal(what, "create"))
        return error_set(err, ERROR_USAGE,
                         "give a folder and a file, or --kubernetes-version and a file: winjoin "
                         "bundle create DIR FILE.zip");
    if (words->count != (text_equal(what, "diff") ? 3 : 2))
        return error_set(err, ERROR_USAGE,
                         "winjoin bundle create [DIR] FILE.zip | verify FILE | show FILE | "
                         "diff FILE FILE");
    path = terminal_full_path(words->items[1]);
    if (bundle_open(program->host, path, NULL, &bundle, err) < 0)
        return -1;
    if (text_equal(what, "diff")) {
        _cleanup_(freep) char *with = terminal_full_path(words->items[2]);

        return diff(program, bundle, with, err);
    }
    if (text_equal(what, "show"))
        return print_bundle(program, bundle_artifacts(bundle), bundle_images(bundle), false, err);

    show_work(program, &progress, "comparing each file with the lock");
    result = bundle_verify(bundle, NULL, err) < 0 ? -1 : bundle_check_closed(bundle, err);
    progress_close(&progress);
    if (result < 0)
        return -1;
    output_text(program, "ok\n");
    output_result(program, json_pack("{s:s, s:s, s:o, s:o}", JSON_DOCUMENT("BundleLock"),
                                     "artifacts", artifacts_json(bundle_artifacts(bundle), NULL),
                                     "warnings", breaches_json(program, bundle_artifacts(bundle))));
    return 0;
}
