/* Images that Pods will need. containerd pulls them while the join continues; the Node becomes
 * Ready after they are pulled. */
#include "join/phases/steps.h"

#include "services/artifacts/artifacts.h"
#include "services/cri.h"

enum { PULL_MS = 1800000, TURN_MS = 100, TELL_MS = 1000, AT_ONCE = 3, TRIES = 3 };
enum { LONG_UNPACKING_MS = 60000 };

struct pull {
    const char *image;
    bool required;
    unsigned tries;
    struct grpc_call *call; /* NULL means this slot is free */
};

struct image_pulls {
    char *pipe;
    size_t count, begun, ended, pulled;
    struct pull running[AT_ONCE];
    /* Begin of the wait, and time of the last progress message, in monotonic milliseconds. */
    uint64_t begin_ms, told_ms;
    /* Bytes of the current downloads, and bytes that were downloaded since the first message. */
    unsigned long long there, moved;
    unsigned unpacking_ms; /* Time in which nothing was downloaded */
};

/* ---- one image ---- */

/* Errors that another try would not change, as containerd and Windows write them. */
static const struct {
    const char *words, *hint;
} lasting[] = {
    {"no match for platform",
     "name a tag that is for this build of Windows: winjoin preflight says which"},
    {"access denied", "give containerd the registry's key"},
    {"Unauthorized", "give containerd the registry's key"},
    {"not enough space", "make room on the disk of C:\\ProgramData\\containerd"},
    {"no space left", "make room on the disk of C:\\ProgramData\\containerd"},
    {"NOT_FOUND", "look at the image's name and tag"},
};

static const char *lasting_hint(const struct error *why) {
    for (size_t i = 0; i < ARRAY_SIZE(lasting); i++)
        if (strstr(why->message, lasting[i].words))
            return lasting[i].hint;
    return NULL;
}

static int begin(struct join *join, struct pull *pull, struct error *err);

/* Handles a failed pull: another try, a failure of the join, or a warning. A new try continues with
 * the layers that containerd's content store has already. */
static int failed(struct join *join, struct pull *pull, struct error *why, struct error *err) {
    const char *hint = lasting_hint(why);

    if (why->kind == ERROR_INTERRUPTED || host_deadline_passed(join->host))
        return error_pass(err, why);
    if (!hint && why->kind == ERROR_HOST && pull->tries < TRIES)
        return begin(join, pull, err);
    join->images->ended++;
    (void)error_prefix(why, "pull image '%s'", pull->image);
    if (pull->required) {
        (void)error_hint(why, "%s", hint ? hint : "run the same command again: it continues");
        return error_pass(err, why);
    }
    join_warn(&join->progress, "%s; the first pod that needs it waits for it%s%s", why->message,
              hint ? ": " : "", hint ? hint : "");
    return 0;
}

static int begin(struct join *join, struct pull *pull, struct error *err) {
    struct error why = {0};

    pull->tries++;
    if (cri_image_pull(join->host, join->images->pipe, pull->image, PULL_MS, &pull->call, &why) < 0)
        return failed(join, pull, &why, err);
    join->images->ended += !pull->call;
    return 0;
}

/* ---- all images ---- */

static int fill(struct join *join, struct error *err) {
    const struct text_list *first = &join->found.options.images_required;
    struct image_pulls *p = join->images;

    for (size_t slot = 0; slot < AT_ONCE; slot++)
        while (!p->running[slot].call && p->begun < p->count) {
            size_t at = p->begun++;
            bool required = at < first->count;

            p->running[slot] = (struct pull){
                .image = required ? first->items[at]
                                  : join->found.options.images.items[at - first->count],
                .required = required};
            if (begin(join, &p->running[slot], err) < 0)
                return -1;
        }
    return 0;
}

int images_begin(struct join *join, struct error *err) {
    const struct join_options *o = &join->found.options;

    images_end(join);
    if (!o->images_required.count && !o->images.count)
        return 0;
    join->images = xcalloc(1, sizeof *join->images);
    join->images->pipe = service_proof_pipe(join);
    join->images->count = o->images_required.count + o->images.count;
    return fill(join, err);
}

int images_go_on(struct join *join, unsigned wait_ms, struct error *err) {
    struct image_pulls *p = join->images;

    if (!p)
        return 0;
    for (struct pull *pull = p->running; pull < p->running + AT_ONCE; pull++) {
        _cleanup_(text_free) struct text answer = {0};
        struct error why = {0};
        bool done = false;
        int result =
            pull->call ? grpc_turn(join->host, pull->call, wait_ms, &done, &answer, &why) : 0;

        if (result == 0 && !done)
            continue;
        grpc_end(join->host, pull->call);
        pull->call = NULL;
        if (result == 0) {
            p->pulled++;
            p->ended++;
        } else if (failed(join, pull, &why, err) < 0) {
            return -1;
        }
    }
    return fill(join, err);
}

void images_end(struct join *join) {
    struct image_pulls *p = take_ptr(join->images);

    for (size_t slot = 0; p && slot < AT_ONCE; slot++)
        if (p->running[slot].call)
            grpc_end(join->host, p->running[slot].call);
    if (p)
        free(p->pipe);
    free(p);
}

/* Shows the progress of the downloads. containerd no longer lists a layer that is complete, so its
 * last bytes since the previous message are not counted. */
static void tell(struct join *join, uint64_t now) {
    struct image_pulls *p = join->images;
    _cleanup_(text_free) struct text said = {0};
    struct cri_downloads d = {0};
    bool known = cri_downloads(join->host, p->pipe, &d, ERROR_IGNORED) == 0;
    double seconds = (double)(now - p->begin_ms) / 1000.0, rate;

    if (p->told_ms && d.there > p->there)
        p->moved += d.there - p->there;
    if (p->told_ms && known && !d.count)
        p->unpacking_ms += (unsigned)(now - p->told_ms);
    p->there = d.there;
    p->told_ms = now;
    rate = seconds > 0 ? (double)p->moved / seconds : 0;
    if (d.count)
        text_addf(&said, "; downloading %.0f of %.0f MB", (double)d.there / 1e6,
                  (double)d.total / 1e6);
    if (d.count && rate > 0)
        text_addf(&said, " at %.1f MB/s, %.0f s left for these", rate / 1e6,
                  (double)(d.total - d.there) / rate);
    if (known && !d.count)
        text_add(&said, "; unpacking");
    join_tell_waiting(&join->progress, (unsigned)(now - p->begin_ms), 0, "",
                      "for images: %zu of %zu there%s", p->ended, p->count, text_str(&said));
}

int images_await(struct join *join, struct error *err) {
    struct image_pulls *p = join->images;

    if (!p)
        return 0;
    p->begin_ms = host_monotonic_ms(join->host);
    while (p->ended < p->count) {
        uint64_t now = host_monotonic_ms(join->host);

        if (host_interrupted(join->host)) {
            images_end(join);
            return error_set(err, ERROR_INTERRUPTED, "interrupted");
        }
        if (!p->told_ms || now - p->told_ms >= TELL_MS)
            tell(join, now);
        if (images_go_on(join, TURN_MS, err) < 0) {
            images_end(join);
            return -1;
        }
    }
    if (p->unpacking_ms >= LONG_UNPACKING_MS)
        join_warn(&join->progress,
                  "unpacking the images took %u s beside their download: exclude "
                  "C:\\ProgramData\\containerd from Defender's scans (preflight's check Defender), "
                  "take a faster disk, or do it once for an image (winjoin prepare)",
                  p->unpacking_ms / 1000);
    join_fact(&join->progress, "pulled", json_integer((json_int_t)p->pulled));
    text_addf(&join->progress.detail, ", %zu of %zu image%s pulled", p->pulled, p->count,
              PLURAL(p->count));
    images_end(join);
    return 0;
}

/* ---- images of a bundle ---- */

enum { IMPORT_MS = 1800000 };
#define ARCHIVE WINJOIN_FOLDER "\\image.tar"

/* Imports an archive with ctr. The archive must belong to administrators. */
static int import(struct join *join, const char *ctr, const char *archive, struct error *err) {
    _cleanup_(freep) char *pipe = service_proof_pipe(join), *output = NULL;
    const char *argv[] = {ctr,      "--address", pipe,    "--namespace", "k8s.io",
                          "images", "import",    archive, NULL};
    const struct host_process process = {
        .argv = argv, .timeout_ms = IMPORT_MS, .with_errors = true};
    int code = 0;

    if (host_refuse_untrusted(join->host, archive, err) < 0 ||
        host_run(join->host, &process, &code, &output, err) < 0)
        return -1;
    output[strcspn(output, "\r\n")] = '\0';
    return code ? error_set(err, ERROR_HOST, "ctr ends with %d: %.200s", code, output) : 0;
}

/* Imports one image of the bundle. Other users may be able to write to the bundle, so a copy that
 * only administrators can change is verified and imported. */
static int import_one(struct join *join, const char *ctr, const struct artifact *image,
                      struct error *err) {
    _cleanup_(freep) char *pipe = service_proof_pipe(join);
    const char *hint;
    bool there = false;
    int result;

    if (cri_image_has(join->host, pipe, image->name, &there, err) < 0)
        return -1;
    /* A run that was stopped after the import may have left its copy. */
    if (there)
        return host_remove(join->host, ARCHIVE, err);
    join_tell_waiting(&join->progress, 0, 0, "", "for image '%s' of the bundle: %.0f MB",
                      image->name, (double)image->size / 1e6);
    if (bundle_image_copy(join->found.bundle, image, ARCHIVE, err) < 0)
        return -1;
    result = import(join, ctr, ARCHIVE, err);
    hint = result < 0 ? lasting_hint(err) : NULL;
    if (hint)
        (void)error_hint(err, "%s", hint);
    else if (result < 0)
        (void)error_hint(
            err, "an image must be for this build: winjoin bundle create --windows-build %u",
            join->found.facts.build);
    if (result < 0)
        (void)error_prefix(err, "import image '%s'", image->name);
    if (host_remove(join->host, ARCHIVE, result < 0 ? ERROR_IGNORED : err) < 0)
        return -1;
    return result;
}

int bundle_images_import(struct join *join, struct error *err) {
    const struct artifacts *images = bundle_images(join->found.bundle);
    struct artifact_target sandbox, ctr;
    bool sandbox_is_here;

    if (!artifact_target_find(ARTIFACT_IMAGE, &sandbox) || !artifact_target_find("ctr", &ctr))
        return 0;
    sandbox_is_here = host_file_type(join->host, sandbox.target) == HOST_FILE;
    if (!sandbox_is_here && !images->count)
        return 0;
    if (host_file_type(join->host, ctr.target) != HOST_FILE) {
        join_warn(&join->progress, "'%s' is not imported: '%s' is missing",
                  sandbox_is_here ? sandbox.target : images->items[0].name, ctr.target);
        return 0;
    }
    if (sandbox_is_here && import(join, ctr.target, sandbox.target, err) < 0)
        return error_prefix(err, "import '%s'", sandbox.target);
    if (sandbox_is_here)
        text_add(&join->progress.detail, ", sandbox image imported");
    for (size_t i = 0; i < images->count; i++)
        if (import_one(join, ctr.target, &images->items[i], err) < 0)
            return -1;
    if (images->count)
        text_addf(&join->progress.detail, ", %zu image%s of the bundle there", images->count,
                  PLURAL(images->count));
    return 0;
}
