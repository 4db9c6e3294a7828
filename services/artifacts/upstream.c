/* Reads digests of upstream's releases in all published forms; fetches and verifies programs. */
#include "services/artifacts/catalog.h"

#include "host/path.h"
#include "services/artifacts/bundle_archive.h"

enum { DIGEST_FILE_MAX = 1024 * 1024 };

/* ---- reading published digests ---- */

static bool take_hex(const char *text, size_t len, char ret[DIGEST_TEXT_MAX]) {
    if (len != DIGEST_TEXT_MAX - 1)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i] >= 'A' && text[i] <= 'F' ? (char)(text[i] - 'A' + 'a') : text[i];

        if (!c || !strchr("0123456789abcdef", c))
            return false;
        ret[i] = c;
    }
    ret[len] = '\0';
    return true;
}

/* Does the rest of a line name the file? After the digest comes nothing, "  FILE" or " *FILE"; a
 * folder before the name is ignored. */
static bool names_file(const char *rest, size_t len, const char *file) {
    size_t begin = 0, name = len;

    while (begin < len && strchr(" \t*", rest[begin]))
        begin++;
    while (name > begin && rest[name - 1] != '/')
        name--;
    return begin == len ||
           (strlen(file) == len - name && memcmp(rest + name, file, len - name) == 0);
}

int upstream_digest_read(const char *text, size_t len, const char *file, char ret[DIGEST_TEXT_MAX],
                         struct error *err) {
    bool is_list = false;

    if (len && text[0] == '{') {
        _cleanup_json_ json_t *release = NULL;

        if (json_read(text, len, "the release", &release, err) < 0)
            return -1;
        json_each(json_at(release, "assets"), i, asset) {
            const char *digest = json_text_or(asset, "digest", "");

            if (text_equal(json_text_at(asset, "name"), file) &&
                text_starts_with(digest, "sha256:") &&
                take_hex(digest + 7, strlen(digest + 7), ret))
                return 0;
        }
        return error_set(err, ERROR_ABSENT, "no SHA-256 of '%s' is published", file);
    }
    for (const char *line = text, *end = text + len; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t n = (size_t)((stop ? stop : end) - line), hex = 0;

        while (n && strchr(" \t\r", line[n - 1]))
            n--;
        while (hex < n && !strchr(" \t", line[hex]))
            hex++;
        if (take_hex(line, hex, ret)) {
            if (names_file(line + hex, n - hex, file))
                return 0;
            is_list = true;
        }
        line = stop ? stop + 1 : end;
    }
    return is_list ? error_set(err, ERROR_ABSENT, "no SHA-256 of '%s' is published", file)
                   : error_set(err, ERROR_MALFORMED, "it does not contain a SHA-256");
}

/* ---- downloads ---- */

/* What open_file() needs to check and unpack a file while others are still downloading. */
struct opening {
    const struct mirror *from;
    const struct artifacts *artifacts;
    const bool *wanted;
    char **ret; /* The caller's array, one entry for each artifact. */
    size_t *ret_len;
    int result;
    struct error why;
};

/* The files with the wanted artifacts. An archive is in the list once. */
struct downloads {
    struct mirror_file files[ARTIFACTS_MAX];
    const struct artifact *artifacts[ARTIFACTS_MAX]; /* One artifact of each file. */
    /* The published digests; "" where the caller knows the digest and verifies the file. */
    char digests[ARTIFACTS_MAX][DIGEST_TEXT_MAX];
    struct opening openings[ARTIFACTS_MAX];
    size_t count;
};

static void downloads_freep(struct downloads **downloads) {
    for (size_t i = 0; i < (*downloads)->count; i++)
        free((*downloads)->files[i].data);
    free(*downloads);
}

static size_t file_of(const struct downloads *downloads, const struct artifact *artifact) {
    size_t i = 0;

    while (i < downloads->count && !text_equal(downloads->files[i].path, artifact->path))
        i++;
    return i;
}

/* Returns the files to download for the wanted artifacts; `wanted` NULL means all artifacts. The
 * caller frees them with downloads_freep(). */
static struct downloads *find_files(const struct artifacts *artifacts, const bool *wanted) {
    struct downloads *found = xcalloc(1, sizeof *found);

    for (size_t i = 0; i < artifacts->count; i++) {
        const struct artifact *artifact = &artifacts->items[i];
        size_t at = file_of(found, artifact);

        if ((wanted && !wanted[i]) ||
            (at < found->count && (*artifact->sha256 || !*found->artifacts[at]->sha256)) ||
            (at == found->count && at == ARTIFACTS_MAX))
            continue;
        found->files[at] = (struct mirror_file){
            .name = artifact->name, .path = artifact->path, .max = ARTIFACT_SIZE_MAX};
        found->artifacts[at] = artifact;
        found->count += at == found->count;
    }
    return found;
}

/* Fetches the published digest of each file whose content has no known digest. */
static int fetch_digests(const struct mirror *from, struct downloads *downloads,
                         struct error *err) {
    struct mirror_file files[ARTIFACTS_MAX] = {0};
    size_t of[ARTIFACTS_MAX], count = 0;
    int result;

    for (size_t i = 0; i < downloads->count; i++) {
        const struct artifact *artifact = downloads->artifacts[i];

        if (*artifact->sha256)
            continue;
        of[count] = i;
        files[count++] = (struct mirror_file){
            .name = artifact->name, .path = artifact->digest, .max = DIGEST_FILE_MAX};
    }
    result = mirror_fetch_all(from, files, count, err);
    for (size_t i = 0; i < count; i++) {
        const struct artifact *artifact = downloads->artifacts[of[i]];
        char *digest = downloads->digests[of[i]];

        if (result == 0 && upstream_digest_read(files[i].data, files[i].len,
                                                path_base(artifact->path), digest, err) < 0) {
            _cleanup_(freep) char *url = mirror_url(from, files[i].path);

            (void)error_prefix(err, "digest '%s'", url);
            result = error_prefix(err, "artifact '%s'", artifact->name);
        }
        downloads->files[of[i]].sha256 = *digest ? digest : NULL;
        free(files[i].data);
    }
    return result;
}

/* Compares a downloaded file with its published digest, and unpacks all wanted members of an
 * archive in one pass. */
static void open_file(void *context, const struct mirror_file *file) {
    struct opening *o = context;
    struct bundle_archive_member members[ARTIFACTS_MAX] = {0};
    size_t of[ARTIFACTS_MAX], count = 0;

    if (file->sha256 && !text_equal(file->digest, file->sha256)) {
        _cleanup_(freep) char *url = mirror_url(o->from, file->path);

        o->result = error_set(&o->why, ERROR_UNTRUSTED,
                              "verify '%s': its SHA-256 is %s, the published one is %s", url,
                              file->digest, file->sha256);
        return;
    }
    for (size_t i = 0; i < o->artifacts->count && count < ARTIFACTS_MAX; i++) {
        const struct artifact *artifact = &o->artifacts->items[i];

        if (!o->wanted[i] || !artifact->member || !text_equal(artifact->path, file->path))
            continue;
        of[count] = i;
        members[count++] =
            (struct bundle_archive_member){.path = artifact->member, .max = ARTIFACT_SIZE_MAX};
    }
    o->result = count ? bundle_archive_read_all(file->data, file->len, members, count, &o->why) : 0;
    for (size_t i = 0; i < count; i++) {
        o->ret[of[i]] = members[i].data;
        o->ret_len[of[i]] = members[i].len;
    }
}

int upstream_fetch(const struct mirror *from, const struct artifacts *artifacts, const bool *wanted,
                   char **ret, size_t *ret_len, struct error *err) {
    _cleanup_(downloads_freep) struct downloads *found = find_files(artifacts, wanted);

    for (size_t i = 0; i < found->count; i++) {
        found->openings[i] = (struct opening){from, artifacts, wanted, ret, ret_len, 0, {0}};
        found->files[i].arrived = open_file;
        found->files[i].arrived_context = &found->openings[i];
    }
    if (fetch_digests(from, found, err) < 0 ||
        mirror_fetch_all(from, found->files, found->count, err) < 0)
        return -1;
    for (size_t i = 0; i < artifacts->count; i++) {
        const struct artifact *artifact = &artifacts->items[i];
        size_t at = file_of(found, artifact);

        if (!wanted[i] || at == found->count)
            continue;
        if (found->openings[at].result < 0) {
            if (err)
                *err = found->openings[at].why;
            return error_prefix(err, "artifact '%s'", artifact->name);
        }
        if (ret[i])
            continue;
        ret[i] = xmemdup(found->files[at].data, found->files[at].len);
        ret_len[i] = found->files[at].len;
    }
    return 0;
}

int upstream_ask_digests(const struct mirror *from, struct artifacts *artifacts,
                         struct error *err) {
    _cleanup_(freep) struct http_exchange *asked = xcalloc(artifacts->count + 1, sizeof *asked);
    _cleanup_(freep) struct error *why = xcalloc(artifacts->count + 1, sizeof *why);
    int result = 0;

    for (size_t i = 0; i < artifacts->count; i++)
        asked[i] =
            (struct http_exchange){.request = {.url = mirror_url(from, artifacts->items[i].digest),
                                               .max_body = DIGEST_FILE_MAX,
                                               .follow_redirects = true},
                                   .err = &why[i]};
    http_perform_all(from->http, asked, artifacts->count, 0);
    for (size_t i = 0; i < artifacts->count; i++) {
        struct artifact *artifact = &artifacts->items[i];
        const struct http_response *answer = &asked[i].response;
        char digest[DIGEST_TEXT_MAX];

        if (why[i].kind == ERROR_INTERRUPTED)
            result = error_pass(err, &why[i]);
        if (why[i].kind == ERROR_NONE && answer->status == 200 &&
            upstream_digest_read(answer->body, answer->body_len, path_base(artifact->path), digest,
                                 ERROR_IGNORED) == 0)
            memcpy(artifact->sha256, digest, sizeof digest);
        http_response_free(&asked[i].response);
        free((char *)asked[i].request.url);
    }
    return result;
}

int upstream_check(const struct mirror *from, const struct artifacts *artifacts,
                   struct error *err) {
    _cleanup_(downloads_freep) struct downloads *found = find_files(artifacts, NULL);

    return fetch_digests(from, found, err);
}
