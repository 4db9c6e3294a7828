/* Checks images for preflight: whether they are for this build of Windows, and whether the disk has
 * enough space for them. */
#include "join/configuration/join_options.h"
#include "join/found/need.h"
#include "join/preflight/preflight_checks.h"
#include "join/programs/programs.h"
#include "services/artifacts/artifacts.h"

enum { LIMIT_MS = 5000, GIGABYTE = 1024 * 1024 * 1024, PREPARED_MAX = 65536 };

/* The disk space that containerd will need, in bytes. */
struct room {
    struct image_layer *layers; /* Each layer once, because images share layers */
    size_t count;
    uint64_t compressed; /* Compressed layers */
    uint64_t beside;     /* Layers for other builds in the bundle's archives */
    uint64_t copied;     /* The largest archive; they are imported one by one */
    uint64_t upper;      /* The largest compressed layer above a base layer */
};

/* Adds the layers of an image that are not counted yet. Returns the bytes of all its layers. */
static uint64_t add_layers(struct room *room, const struct image_facts *facts) {
    uint64_t sum = 0;

    for (size_t i = 0; i < facts->count; i++) {
        bool known = false;

        for (size_t k = 0; k < room->count && !known; k++)
            known = text_equal(room->layers[k].sha256, facts->layers[i].sha256);
        sum += facts->layers[i].size;
        if (known)
            continue;
        array_add(room->layers, room->count, facts->layers[i]);
        room->compressed += facts->layers[i].size;
        if (i && facts->layers[i].size > room->upper)
            room->upper = facts->layers[i].size;
    }
    return sum;
}

static enum check_verdict judge_drive(struct join *join, const char *drive, const struct room *room,
                                      uint64_t needed, struct check_finding *finding) {
    uint64_t free_bytes;

    if (host_free_space(join->host, drive, &free_bytes, &finding->why) < 0)
        return CHECK_UNKNOWN;
    if (free_bytes >= needed)
        return CHECK_FINE;
    check_hint(finding,
               "make room on %.2s, put containerd's root on another disk, or leave images out",
               drive);
    return check_say(finding, CHECK_BAD,
                     "the images have %.1f GB compressed, and until they are unpacked about %.1f "
                     "GB are needed; %.2s has %.1f GB free",
                     (double)room->compressed / GIGABYTE, (double)needed / GIGABYTE, drive,
                     (double)free_bytes / GIGABYTE);
}

/* containerd keeps the compressed layers beside the unpacked ones. On C:, two things need room for
 * a short time: the archive of a bundle, which is copied before its import, and in containerd's
 * TEMP an unpacked upper layer, before Windows takes it into the image. Microsoft's base images are
 * two and a half times as large when unpacked. Sources: containerd's
 * core/images/archive/importer.go, hcsshim's internal/wclayer/importlayer.go. */
static enum check_verdict judge_room(struct join *join, const struct room *room,
                                     struct check_finding *finding) {
    _cleanup_(freep) char *folder = NULL;
    uint64_t kept = room->compressed + room->beside + room->compressed / 2 * 5;
    uint64_t passing = room->copied + room->upper / 2 * 5;
    char drive[] = "C:\\";
    enum check_verdict verdict;

    if (!kept)
        return CHECK_FINE;
    if (find_containerd(join->host, &join->found, &finding->why) < 0 ||
        containerd_data_folder(join->host, &join->found.containerd, &folder, &finding->why) < 0)
        return CHECK_UNKNOWN;
    if (*folder == 'C' || *folder == 'c')
        return judge_drive(join, drive, room, kept + passing, finding);
    verdict = judge_drive(join, drive, room, passing, finding);
    *drive = *folder;
    return verdict == CHECK_FINE ? judge_drive(join, drive, room, kept, finding) : verdict;
}

/* ---- images in registries ---- */

struct asking {
    struct mirror from;
    unsigned build;
    /* `silent` means that no registry is asked; `itself`, that the image's own is. */
    bool silent, itself;
    struct text_list prepared; /* Images that `winjoin prepare` has unpacked */
    struct room room;
    bool unknown; /* One of the images is for an unknown build */
};

static void asking_free(struct asking *a) {
    text_list_free(&a->prepared);
    free(a->room.layers);
}

/* Checks one image. After a registry could not be asked, no other is asked, because containerd may
 * reach them by a mirror that this check does not use. */
static enum check_verdict ask(struct asking *a, const char *image, struct check_finding *finding) {
    _cleanup_(image_facts_free) struct image_facts facts = {0};
    enum image_fit fit = IMAGE_UNKNOWN;

    if (a->unknown || text_list_has(&a->prepared, image))
        return CHECK_FINE;
    if (!a->silent)
        fit = image_fit_ask(&a->from, image, a->build, &facts, &finding->why);
    if (fit == IMAGE_UNFIT) {
        _cleanup_(freep) char *list = text_list_join(&facts.versions, ", ");
        _cleanup_(freep) char *other = image_for_build_ask(&a->from, image, a->build);

        if (other)
            check_hint(finding, "use %s", other);
        return check_say(finding, CHECK_BAD, "%s is not for build %u of Windows, but for %s", image,
                         a->build, list);
    }
    if (fit == IMAGE_UNKNOWN && finding->why.kind == ERROR_ABSENT && a->itself)
        return check_say(finding, CHECK_BAD, "the registry has no image %s", image);
    (void)add_layers(&a->room, &facts);
    a->unknown = fit == IMAGE_UNKNOWN;
    return CHECK_FINE;
}

enum check_verdict check_images(struct join *join, struct check_finding *finding) {
    const struct join_options *o = &join->found.options;
    const struct text_list *lists[] = {&o->images_required, &o->images};
    const struct artifacts *brought = bundle_images(join->found.bundle);
    const char *source = o->source_base;
    _cleanup_json_ json_t *prepared = NULL;
    _cleanup_(asking_free) struct asking a = {.from = {.host = join->host,
                                                       .http = join->http,
                                                       .url = source,
                                                       .follows_redirects = true,
                                                       .limit_ms = LIMIT_MS},
                                              .build = join->found.facts.build,
                                              .silent = text_equal(source, JOIN_SOURCE_NONE),
                                              .itself = !source};
    enum check_verdict verdict;

    if (host_read_json(join->host, PREPARED_FILE, PREPARED_MAX, &prepared, ERROR_IGNORED) == 0)
        json_read_texts(json_object_get(prepared, "images"), &a.prepared);
    /* All of the bundle's image archive goes into containerd's store, even what is not unpacked. */
    for (size_t i = 0; i < brought->count; i++) {
        const struct artifact *image = &brought->items[i];
        _cleanup_(image_facts_free) struct image_facts facts = {0};
        uint64_t own;

        if (text_list_has(&a.prepared, image->name))
            continue;
        (void)bundle_image_fit(join, image, &facts);
        own = add_layers(&a.room, &facts);
        if (image->size > a.room.copied)
            a.room.copied = image->size;
        if (!own)
            a.room.compressed += image->size;
        else if (image->size > own)
            a.room.beside += image->size - own;
    }
    for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
        for (size_t i = 0; i < lists[l]->count; i++) {
            if (artifact_find(brought, lists[l]->items[i]))
                continue;
            verdict = ask(&a, lists[l]->items[i], finding);
            if (verdict != CHECK_FINE)
                return verdict;
        }
    error_clear(&finding->why);
    verdict = judge_room(join, &a.room, finding);
    if (verdict != CHECK_FINE || !a.unknown)
        return verdict;
    return a.silent ? check_say(finding, CHECK_NOT_RUN, "--source-base none: no registry is asked")
                    : check_say(finding, CHECK_NOT_RUN,
                                "a registry did not say for which builds an image is");
}
