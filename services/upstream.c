/* Where upstream publishes a node's programs: the catalogue, and one program fetched and proved. */
#include "services/upstream.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "services/bundle_archive.h"

enum { DIGEST_FILE_MAX = 1024 * 1024 };

/* ---- catalogue ---- */

/* {v} is "v1.37.1", {n} "1.37.1", {name} the program. */
struct release {
    const char *version; /* the one that is taken; NULL: the cluster's Kubernetes version */
    const char *path;    /* "HOST/PATH" */
    const char *digest;  /* the same */
};

/* Kubernetes: https://kubernetes.io/releases/download/ */
static const struct release kubernetes = {
    NULL, "dl.k8s.io/release/{v}/bin/windows/amd64/{name}.exe",
    "dl.k8s.io/release/{v}/bin/windows/amd64/{name}.exe.sha256"};
/* containerd: docs/getting-started.md. 2.x: kubelets after 1.37 require RuntimeConfig. */
static const struct release containerd = {
    "v2.4.2",
    "github.com/containerd/containerd/releases/download/{v}/containerd-{n}-windows-amd64.tar.gz",
    "github.com/containerd/containerd/releases/download/{v}/"
    "containerd-{n}-windows-amd64.tar.gz.sha256sum"};
/* https://github.com/containernetworking/plugins/releases */
static const struct release cni_plugins = {
    "v1.9.1",
    "github.com/containernetworking/plugins/releases/download/{v}/"
    "cni-plugins-windows-amd64-{v}.tgz",
    "github.com/containernetworking/plugins/releases/download/{v}/"
    "cni-plugins-windows-amd64-{v}.tgz.sha256"};
/* flannel publishes no digest of its own; GitHub does, of each asset. */
static const struct release flannel = {
    "v0.28.4", "github.com/flannel-io/flannel/releases/download/{v}/flanneld.exe",
    "api.github.com/repos/flannel-io/flannel/releases/tags/{v}"};

static const struct program {
    const char *name;
    const struct release *release;
    const char *member; /* of an archive */
} programs[] = {
    {"kubelet", &kubernetes, NULL},
    {"kube-proxy", &kubernetes, NULL},
    {"containerd", &containerd, "bin/containerd.exe"},
    {"containerd-shim-runhcs-v1", &containerd, "bin/containerd-shim-runhcs-v1.exe"},
    {"ctr", &containerd, "bin/ctr.exe"},
    {"win-overlay", &cni_plugins, "win-overlay.exe"},
    {"win-bridge", &cni_plugins, "win-bridge.exe"},
    {"host-local", &cni_plugins, "host-local.exe"},
    {"flanneld", &flannel, NULL},
};

static const struct program *find(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
        if (text_equal(programs[i].name, name))
            return &programs[i];
    return NULL;
}

static char *expand(const char *pattern, const char *name, const char *version) {
    const char *number = version + (*version == 'v');
    struct text out = {0};

    for (const char *p = pattern; *p; p++) {
        if (text_starts_with(p, "{v}"))
            text_addf(&out, "v%s", number);
        else if (text_starts_with(p, "{n}"))
            text_add(&out, number);
        else if (text_starts_with(p, "{name}"))
            text_add(&out, name);
        else {
            text_add_char(&out, *p);
            continue;
        }
        p = strchr(p, '}');
    }
    return text_take(&out);
}

bool upstream_locate(struct artifact *artifact) {
    const struct program *program = find(artifact->name);

    if (!program)
        return false;
    free(artifact->path);
    free(artifact->member);
    artifact->path = expand(program->release->path, program->name, artifact->version);
    artifact->member = xstrdup_null(program->member);
    return true;
}

void upstream_artifacts(const char *kubernetes_version, const struct text_list *names,
                        struct artifacts *ret) {
    ret->items = xcalloc(names->count + 1, sizeof *ret->items);
    ret->count = 0;
    for (size_t i = 0; i < names->count; i++) {
        const struct program *program = find(names->items[i]);
        struct artifact_target target;
        struct artifact *to = &ret->items[ret->count];

        if (!program || !artifact_target_find(program->name, &target))
            continue;
        to->version = program->release->version
                          ? xstrdup(program->release->version)
                          : xstrndup(kubernetes_version, strcspn(kubernetes_version, "+"));
        to->name = xstrdup(program->name);
        to->target = xstrdup(target.target);
        (void)upstream_locate(to);
        ret->count++;
    }
}

/* ---- digests ---- */

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

static int read_release(const char *text, size_t len, const char *file, char ret[DIGEST_TEXT_MAX],
                        struct error *err) {
    _cleanup_json_ json_t *release = NULL;
    const json_t *asset;
    size_t i;

    if (json_read(text, len, "the release", &release, err) < 0)
        return -1;
    json_array_foreach(json_at(release, "assets"), i, asset) {
        const char *digest = json_text_at(asset, "digest");

        if (!text_equal(json_text_at(asset, "name"), file))
            continue;
        if (digest && text_starts_with(digest, "sha256:") &&
            take_hex(digest + 7, strlen(digest + 7), ret))
            return 0;
    }
    return error_set(err, ERROR_ABSENT, "no SHA-256 of '%s' is published", file);
}

static size_t word_length(const char *text, size_t len) {
    size_t n = 0;

    while (n < len && !strchr(" \t", text[n]))
        n++;
    return n;
}

/* What follows the digest: nothing, "  FILE" or " *FILE"; a folder before the name does not count.
 */
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

    if (len && text[0] == '{')
        return read_release(text, len, file, ret, err);
    for (const char *line = text, *end = text + len; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t n = (size_t)((stop ? stop : end) - line), hex;

        while (n && strchr(" \t\r", line[n - 1]))
            n--;
        hex = word_length(line, n);
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

/* ---- one program ---- */

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int fetch_digest(const struct mirror *from, const struct artifact *artifact,
                        char ret[DIGEST_TEXT_MAX], struct error *err) {
    const struct program *program = find(artifact->name);
    _cleanup_(freep) char *at = NULL, *url = NULL, *text = NULL;
    size_t len;

    if (!program)
        return error_set(err, ERROR_UNSUPPORTED, "'%s' is not published by upstream",
                         artifact->name);
    at = expand(program->release->digest, artifact->name, artifact->version);
    url = mirror_url(from, at);
    if (mirror_fetch(from, at, DIGEST_FILE_MAX, &text, &len, err) < 0)
        return -1;
    return upstream_digest_read(text, len, file_name(artifact->path), ret, err) < 0
               ? error_prefix(err, "digest '%s'", url)
               : 0;
}

static int fetch_file(const struct mirror *from, const struct artifact *artifact, char **ret,
                      size_t *ret_len, struct error *err) {
    _cleanup_(freep) char *data = NULL;
    char published[DIGEST_TEXT_MAX] = "", digest[DIGEST_TEXT_MAX];

    if (!*artifact->sha256 && fetch_digest(from, artifact, published, err) < 0)
        return -1;
    if (mirror_fetch(from, artifact->path, ARTIFACT_SIZE_MAX, &data, ret_len, err) < 0)
        return -1;
    digest_sha256(data, *ret_len, digest);
    if (*published && !text_equal(digest, published)) {
        _cleanup_(freep) char *url = mirror_url(from, artifact->path);

        return error_set(err, ERROR_UNTRUSTED,
                         "refuse '%s': its SHA-256 is %s, the published one is %s", url, digest,
                         published);
    }
    *ret = take_ptr(data);
    return 0;
}

void upstream_archive_free(struct upstream_archive *archive) {
    free(archive->path);
    free(archive->data);
    *archive = (struct upstream_archive){0};
}

int upstream_read(const struct mirror *from, const struct artifact *artifact,
                  struct upstream_archive *last, char **ret, size_t *ret_len, struct error *err) {
    if (!artifact->member)
        return fetch_file(from, artifact, ret, ret_len, err);
    if (!text_equal(last->path, artifact->path)) {
        upstream_archive_free(last);
        if (fetch_file(from, artifact, &last->data, &last->len, err) < 0 ||
            bundle_archive_check(last->data, last->len, err) < 0)
            return -1;
        last->path = xstrdup(artifact->path);
    }
    return bundle_archive_read(last->data, last->len, artifact->member, ARTIFACT_SIZE_MAX, ret,
                               ret_len, err);
}

int upstream_check(const struct mirror *from, const struct artifacts *artifacts,
                   struct error *err) {
    const char *checked = NULL;
    char digest[DIGEST_TEXT_MAX];

    for (size_t i = 0; i < artifacts->count; i++) {
        const struct artifact *artifact = &artifacts->items[i];

        if (text_equal(checked, artifact->path)) /* another member of the same archive */
            continue;
        if (fetch_digest(from, artifact, digest, err) < 0)
            return error_prefix(err, "artifact '%s'", artifact->name);
        checked = artifact->path;
    }
    return 0;
}
