/* Programs that are installed already against the digests that upstream publishes of them. */
#include "tests/scene/join_scene.h"

#include "join/plan/plan.h"
#include "join/programs/programs.h"
#include "join/upgrade/upgrade.h"
#include "pki/digest.h"
#include "tests/scene/program_image.h"
#include "services/artifacts/artifacts.h"

#define KUBELET "C:\\k\\kubelet.exe"
#define KUBE_PROXY "C:\\k\\kube-proxy.exe"
#define FLANNELD "C:\\k\\flanneld.exe"
#define K8S(version) "https://dl.k8s.io/release/" version "/bin/windows/amd64/"
#define FLANNEL "https://api.github.com/repos/flannel-io/flannel/releases/tags/"
enum { TOO_LONG = 1024 * 1024 + 1 };

static struct run r;

/* ---- upstream ---- */

struct page {
    const char *url;
    int status; /* 0: no connection; -1: Ctrl-C */
    const char *data;
    size_t len; /* 0: the whole body */
};
static struct page pages[8];
static size_t page_count;
static struct text asked; /* URLs, a line each */

static int answer_as_upstream(void *context, const struct http_request *request,
                              struct http_response *ret, struct error *err) {
    if (text_starts_with(request->url, SCENE_SERVER) || strstr(request->url, "127.0.0.1"))
        return scene_answer(context, request, ret, err);
    text_addf(&asked, "%s\n", request->url);
    assert_true(request->follow_redirects);
    assert_true(request->verify == HTTP_VERIFY_FULL && !request->ca_pem && !request->bearer_token);
    ret->status = 404;
    ret->retry_after = -1;
    for (size_t i = 0; i < page_count; i++) {
        const struct page *p = &pages[i];

        if (!text_equal(p->url, request->url))
            continue;
        if (p->status <= 0)
            return error_set(err, p->status ? ERROR_INTERRUPTED : ERROR_NETWORK, "refused");
        ret->status = p->status;
        ret->body_len = p->len ? p->len : strlen(p->data);
        ret->body = xmemdup(p->data, ret->body_len);
    }
    return 0;
}

static void serve(const char *url, int status, const char *data, size_t len) {
    assert_true(page_count < ARRAY_SIZE(pages));
    pages[page_count++] = (struct page){url, status, data, len};
}

static void open_scene(void) {
    open_run(&r, "overlay");
    answer_with(&r, answer_as_upstream);
    page_count = 0;
    text_clear(&asked);
}

static void close_scene(void) {
    close_run(&r);
    text_free(&asked);
}

/* A program's bytes; salt: bytes that say nothing. The caller frees. */
static char *program(const char *version, char salt, char digest[DIGEST_TEXT_MAX]) {
    _cleanup_(freep) char *lines = xasprintf("mod\texample.com/program\t%s\t\n", version);
    char *image = image_make(lines);

    image[IMAGE_SIZE - 1] = salt;
    digest_sha256(image, IMAGE_SIZE, digest);
    return image;
}

/* Puts it there, and fills in its digest. */
static void put(const char *path, const char *version, char salt, char digest[DIGEST_TEXT_MAX]) {
    _cleanup_(freep) char *image = program(version, salt, digest);

    assert_int_equal(host_write(r.host, path, image, IMAGE_SIZE, HOST_PUBLIC, NULL), 0);
}

static int published(struct artifacts *ret, struct error *err) {
    const struct mirror from = {.host = r.host, .http = r.http};
    struct text_list names = {0};
    int result;

    for (size_t i = 0; i < 5; i++)
        text_list_add(&names, (const char *[]){"containerd", "kubelet", "kube-proxy", "flanneld",
                                               "hybrid-overlay-node"}[i]);
    result = artifacts_published(&from, &names, NULL, ret, err);
    text_list_free(&names);
    return result;
}

/* Each in the version that its file says; of an archive none. */
static void digests_of_what_is_installed(void **state) {
    static const char *const versions[] = {"v1.36.2", "v1.37.1", "v0.27.0"};
    static const char *const names[] = {"kubelet", "kube-proxy", "flanneld"};
    _cleanup_(artifacts_free) struct artifacts found = {0};
    _cleanup_(freep) char *release = NULL;
    char digests[3][DIGEST_TEXT_MAX], other[DIGEST_TEXT_MAX];
    struct error err = {0};

    (void)state;
    open_scene();
    put("C:\\Program Files\\containerd\\containerd.exe", "v2.4.2", 0, other);
    put(KUBELET, versions[0], 0, digests[0]);
    put(KUBE_PROXY, versions[1], 0, digests[1]);
    put(FLANNELD, versions[2], 0, digests[2]);
    release = xasprintf("{\"assets\":[{\"name\":\"flanneld-amd64\",\"digest\":\"sha256:%s\"},"
                        "{\"name\":\"flanneld.exe\",\"digest\":\"sha256:%s\"}]}",
                        other, digests[2]);
    serve(K8S("v1.36.2") "kubelet.exe.sha256", 200, digests[0], 0);
    serve(K8S("v1.37.1") "kube-proxy.exe.sha256", 200, digests[1], 0);
    serve(FLANNEL "v0.27.0", 200, release, 0);
    assert_int_equal(published(&found, &err), 0);
    assert_string_equal(text_str(&asked),
                        K8S("v1.36.2") "kubelet.exe.sha256\n" K8S(
                            "v1.37.1") "kube-proxy.exe.sha256\n" FLANNEL "v0.27.0\n");
    assert_int_equal(found.count, 3);
    for (size_t i = 0; i < found.count; i++) {
        bool same = false;

        assert_string_equal(found.items[i].name, names[i]);
        assert_string_equal(found.items[i].version, versions[i]);
        assert_string_equal(found.items[i].sha256, digests[i]);
        assert_int_equal(artifact_is_installed(r.host, &found.items[i], &same, &err), 0);
        assert_true(same);
        put(found.items[i].target, versions[i], 1, other);
        assert_int_equal(artifact_is_installed(r.host, &found.items[i], &same, &err), 0);
        assert_false(same);
    }
    close_scene();
}

/* The others are known all the same, and nothing is asked for twice. */
static void answers_that_are_no_digest(void **state) {
    char digest[DIGEST_TEXT_MAX], other[DIGEST_TEXT_MAX];
    _cleanup_(freep) char *named = NULL, *longer = NULL, *cut = NULL, *many = NULL;

    (void)state;
    open_scene();
    put(KUBELET, "v1.37.1", 0, digest);
    put(KUBE_PROXY, "v1.37.1", 0, other);
    named = xasprintf("%s  kubelet\n", digest);
    longer = xasprintf("%s0", digest);
    cut = xasprintf("%.63sg", digest);
    many = xcalloc(1, TOO_LONG);
    memset(many, '\n', TOO_LONG);
    memcpy(many, digest, strlen(digest));
    {
        const struct page rows[] = {
            {NULL, 200, digest, 0}, /* the one that is */
            {NULL, 200, many, TOO_LONG - 1},
            {NULL, 200, many, TOO_LONG},
            {NULL, 404, digest, 0},
            {NULL, 403, digest, 0},
            {NULL, 503, digest, 0},
            {NULL, 206, digest, 0},
            {NULL, 200, named, 0},
            {NULL, 200, longer, 0},
            {NULL, 200, cut, 0},
            {NULL, 200, "<html>captive portal</html>", 0},
            {NULL, 200, "", 0},
            {NULL, 200, "{", 0},
            {NULL, 0, NULL, 0},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
            _cleanup_(artifacts_free) struct artifacts found = {0};
            struct error err = {0};

            page_count = 0;
            text_clear(&asked);
            serve(K8S("v1.37.1") "kubelet.exe.sha256", rows[i].status, rows[i].data, rows[i].len);
            serve(K8S("v1.37.1") "kube-proxy.exe.sha256", 200, other, 0);
            assert_int_equal(published(&found, &err), 0);
            assert_int_equal(err.kind, ERROR_NONE);
            assert_int_equal(found.count, 2);
            if (!text_equal(found.items[0].sha256, i < 2 ? digest : ""))
                fail_msg("row %zu: '%s'", i, found.items[0].sha256);
            assert_string_equal(found.items[1].sha256, other);
            assert_string_equal(text_str(&asked), K8S("v1.37.1") "kubelet.exe.sha256\n" K8S(
                                                      "v1.37.1") "kube-proxy.exe.sha256\n");
        }
    }
    close_scene();
}

static void an_interrupted_question(void **state) {
    _cleanup_(artifacts_free) struct artifacts found = {0};
    char digest[DIGEST_TEXT_MAX];
    struct error err = {0};

    (void)state;
    open_scene();
    put(KUBELET, "v1.37.1", 0, digest);
    put(KUBE_PROXY, "v1.37.1", 0, digest);
    serve(K8S("v1.37.1") "kubelet.exe.sha256", -1, NULL, 0);
    assert_int_equal(published(&found, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    close_scene();
}

/* Absent, of no version, or of one that is no release's. */
static void files_that_nothing_is_asked_of(void **state) {
    _cleanup_(artifacts_free) struct artifacts found = {0};
    char digest[DIGEST_TEXT_MAX];
    struct error err = {0};

    (void)state;
    open_scene();
    assert_int_equal(host_remove(r.host, KUBE_PROXY, NULL), 0);
    put(FLANNELD, "(devel)\t\nbuild\tvcs=git\nbuild\tvcs.revision=0123456789abcdef", 0, digest);
    assert_int_equal(published(&found, &err), 0);
    if (found.count || asked.len)
        fail_msg("%zu: %s", found.count, text_str(&asked));
    close_scene();
}

/* ---- a join ---- */

/* What came of the phase: its detail, and the warnings. */
static int run_phase(struct text *said, struct error *err) {
    struct join join;
    _cleanup_json_ json_t *result = NULL;
    int ended;

    open_join(&r, &join);
    ended = join_run_phase(&join, "artifacts", err);
    result = join_result_json(&join);
    text_clear(said);
    if (json_text_at(row_of(result, "artifacts"), "detail"))
        text_add(said, json_text_at(row_of(result, "artifacts"), "detail"));
    for (size_t i = 0; i < join.progress.warnings.count; i++)
        text_addf(said, "\n%s", join.progress.warnings.items[i]);
    join_close(&join);
    note_end(err);
    return ended;
}

static void the_same_bytes_stay(void **state) {
    char digests[2][DIGEST_TEXT_MAX];
    struct text said = {0};
    struct error err = {0};

    (void)state;
    open_scene();
    put(KUBELET, "v1.37.1", 0, digests[0]);
    put(KUBE_PROXY, "v1.37.1", 0, digests[1]);
    serve(K8S("v1.37.1") "kubelet.exe.sha256", 200, digests[0], 0);
    assert_int_equal(run_phase(&said, &err), 0);
    assert_null(strstr(text_str(&said), "kubelet"));
    assert_non_null(strstr(text_str(&said), "; not compared with a digest: "));
    assert_non_null(strstr(text_str(&said), "kube-proxy"));
    assert_null(strstr(text_str(&said), "downloaded"));
    serve(K8S("v1.37.1") "kube-proxy.exe.sha256", 200, digests[1], 0);
    assert_int_equal(run_phase(&said, &err), 0);
    assert_null(strstr(text_str(&said), "kube"));
    text_free(&said);
    close_scene();
}

/* It is fetched, in the cluster's version, and a reset gives the old one back. */
static void other_bytes_are_fetched_again(void **state) {
    char here[DIGEST_TEXT_MAX], ours[DIGEST_TEXT_MAX], coming[DIGEST_TEXT_MAX],
        now[DIGEST_TEXT_MAX];
    _cleanup_(freep) char *ours_data = NULL, *coming_data = NULL;

    (void)state;
    for (unsigned there = 0; there < 2; there++) {
        _cleanup_json_ json_t *before = NULL, *after = NULL;
        _cleanup_(freep) char *data = NULL;
        struct text said = {0};
        struct error err = {0};
        size_t len;

        open_scene();
        put(KUBELET, "v1.36.2", 1, here);
        freep(&ours_data);
        freep(&coming_data);
        ours_data = program("v1.36.2", 0, ours);
        coming_data = program("v1.37.1", 0, coming);
        serve(K8S("v1.36.2") "kubelet.exe.sha256", 200, ours, 0);
        serve(K8S("v1.37.1") "kubelet.exe.sha256", 200, coming, 0);
        if (there)
            serve(K8S("v1.37.1") "kubelet.exe", 200, coming_data, IMAGE_SIZE);
        before = state_of(&r);
        assert_int_equal(run_phase(&said, &err), there ? 0 : -1);
        assert_non_null(strstr(text_str(&said),
                               "'" KUBELET "' is not what upstream publishes as v1.36.2: it "
                               "is downloaded again"));
        assert_int_equal(host_read(r.host, KUBELET, IMAGE_SIZE, &data, &len, &err), 0);
        digest_sha256(data, len, now);
        assert_string_equal(now, there ? coming : here);
        assert_string_equal(text_str(&asked),
                            K8S("v1.36.2") "kubelet.exe.sha256\n" K8S(
                                "v1.37.1") "kubelet.exe.sha256\n" K8S("v1.37.1") "kubelet.exe\n");
        if (there) {
            assert_non_null(strstr(text_str(&said), "1 of 1 verified, 1 installed"));
            assert_int_equal(reset_once(&r, &err), 0);
        }
        after = state_of(&r);
        assert_same(before, after, "a kubelet of other bytes");
        text_free(&said);
        close_scene();
    }
}

/* Whether an upgrade to the version that is installed would replace the kubelet. */
static bool upgrade_replaces_kubelet(struct error *err) {
    struct join_options options = {.verify = xstrdup("none"), .dry_run = true};
    struct upgrade upgrade = {0};
    struct join join = {
        .host = r.host, .http = r.http, .asked = &options, .progress.listener = note_event};
    _cleanup_(freep) char *plan = NULL;

    if (upgrade_open(&join, &upgrade, err) < 0 || join_run_phases(&join, true, err) < 0)
        fail_msg("upgrade: %s", err->message);
    plan = upgrade_plan_text(&join);
    upgrade_close(&join);
    join_options_free(&options);
    return strstr(plan, "kubelet.exe") != NULL;
}

/* The version is the same, and nobody noted the bytes that an administrator had put there. */
static void an_upgrade_compares_too(void **state) {
    char digest[DIGEST_TEXT_MAX], other[DIGEST_TEXT_MAX];
    struct error err = {0};

    (void)state;
    open_scene();
    put(KUBELET, "v1.37.1", 0, digest);
    serve(K8S("v1.37.1") "kubelet.exe.sha256", 200, digest, 0);
    if (join_once(&r, &err) < 0)
        fail_msg("join: %s", err.message);
    assert_false(upgrade_replaces_kubelet(&err));
    put(KUBELET, "v1.37.1", 1, other);
    assert_true(upgrade_replaces_kubelet(&err));
    close_scene();
}

/* A bundle, a lock, or the word that nothing is to be downloaded: upstream is not asked. */
static void nothing_is_asked(void **state) {
    static const char lock[] =
        "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{\"name\":"
        "\"kubelet\",\"version\":\"v1.37.1\",\"sha256\":\"%s\",\"size\":%d,\"path\":\"k.exe\"}]}";
    static const char *const cases[] = {"lock", "bundle", "none"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char digest[DIGEST_TEXT_MAX];
        _cleanup_(freep) char *text = NULL;
        struct text said = {0};
        struct error err = {0};

        open_scene();
        put(KUBELET, "v1.37.1", 0, digest);
        put("D:\\b\\k.exe", "v1.37.1", 0, digest);
        text = xasprintf(lock, digest, IMAGE_SIZE);
        assert_int_equal(
            host_write(r.host, "D:\\b\\winjoin.lock", text, strlen(text), HOST_PUBLIC, NULL), 0);
        if (text_equal(cases[i], "lock"))
            r.options.lock = xstrdup("D:\\b\\winjoin.lock");
        if (text_equal(cases[i], "bundle"))
            r.options.bundle = xstrdup("D:\\b");
        if (text_equal(cases[i], "none"))
            r.options.source_base = xstrdup("none");
        assert_int_equal(run_phase(&said, &err), 0);
        assert_int_equal(asked.len, 0);
        assert_non_null(strstr(text_str(&said), "; not compared with a digest: "));
        assert_int_equal(strstr(text_str(&said), "kubelet") != NULL, text_equal(cases[i], "none"));
        text_free(&said);
        close_scene();
    }
}

/* However often a join looks; behind the phase other programs may be there. */
static void upstream_is_asked_once(void **state) {
    char digest[DIGEST_TEXT_MAX], other[DIGEST_TEXT_MAX];
    struct bundle *bundle = NULL;
    struct error err = {0};
    struct join join;

    (void)state;
    open_scene();
    put(KUBELET, "v1.37.1", 0, digest);
    serve(K8S("v1.37.1") "kubelet.exe.sha256", 200, digest, 0);
    open_join(&r, &join);
    assert_int_equal(join_need(&join, NEED_PLAN, &err), 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(programs_bundle(&join, &bundle, &err), 0);
        assert_null(bundle);
    }
    assert_int_equal(join_run_phase(&join, "artifacts", &err), 0);
    assert_string_equal(text_str(&asked), K8S("v1.37.1") "kubelet.exe.sha256\n");
    put(KUBELET, "v1.37.1", 1, other);
    assert_int_equal(programs_bundle(&join, &bundle, &err), 0);
    assert_non_null(bundle);
    assert_string_equal(text_str(&asked), K8S("v1.37.1") "kubelet.exe.sha256\n" K8S(
                                              "v1.37.1") "kubelet.exe.sha256\n");
    join_close(&join);
    close_scene();
}

static void a_proxy_of_upstream_is_asked(void **state) {
    char digest[DIGEST_TEXT_MAX];
    struct text said = {0};
    struct error err = {0};

    (void)state;
    open_scene();
    put(KUBELET, "v1.37.1", 0, digest);
    r.options.source_base = xstrdup("https://proxy.test/up");
    assert_int_equal(run_phase(&said, &err), 0);
    assert_string_equal(text_str(&asked), "https://proxy.test/up/dl.k8s.io/release/v1.37.1/bin/"
                                          "windows/amd64/kubelet.exe.sha256\n");
    text_free(&said);
    close_scene();
}

static void a_dry_run_tells_it(void **state) {
    _cleanup_json_ json_t *before = NULL, *after = NULL, *plan = NULL;
    _cleanup_(freep) char *warnings = NULL;
    char here[DIGEST_TEXT_MAX], other[DIGEST_TEXT_MAX];
    struct error err = {0};
    struct join join;

    (void)state;
    open_scene();
    put(KUBELET, "v1.37.1", 1, here);
    free(program("v1.37.1", 0, other));
    serve(K8S("v1.37.1") "kubelet.exe.sha256", 200, other, 0);
    r.options.dry_run = true;
    before = host_memory_state(r.host);
    open_join(&r, &join);
    if (join_run_phases(&join, true, &err) < 0 || join_plan_make(&join, &plan, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(json_array_size(json_object_get(plan, "artifacts")), 1);
    assert_string_equal(json_text_at(json_array_get(json_object_get(plan, "artifacts"), 0), "name"),
                        "kubelet");
    warnings = text_list_join(&join.progress.warnings, "\n");
    assert_non_null(strstr(warnings, "it is downloaded again"));
    join_close(&join);
    after = host_memory_state(r.host);
    assert_same(before, after, "a dry run");
    close_scene();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_of_what_is_installed),
        cmocka_unit_test(answers_that_are_no_digest),
        cmocka_unit_test(an_interrupted_question),
        cmocka_unit_test(files_that_nothing_is_asked_of),
        cmocka_unit_test(the_same_bytes_stay),
        cmocka_unit_test(other_bytes_are_fetched_again),
        cmocka_unit_test(an_upgrade_compares_too),
        cmocka_unit_test(nothing_is_asked),
        cmocka_unit_test(upstream_is_asked_once),
        cmocka_unit_test(a_proxy_of_upstream_is_asked),
        cmocka_unit_test(a_dry_run_tells_it),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests_name("programs that upstream publishes", tests, NULL, NULL);
}
