/* Images that a join has pulled: while it goes on, three at once, and what becomes of those that do
 * not come. */
#include <ctype.h>

#include "tests/scene/cri_scene.h"
#include "tests/scene/joining_scene.h"

#define CNI "C:\\etc\\cni\\net.d\\10-winjoin.conf"
#define PATH ":path: /runtime.v1.ImageService/"
enum { IMAGES = 6 };

/* A container runtime with a registry behind it: "r.io/0" to "r.io/5", and "r.io/none". */
static struct registry {
    unsigned turns[IMAGES];  /* so often an image's pull is looked at before it ends */
    unsigned broken[IMAGES]; /* so often it breaks off first */
    const char *refusal;     /* of r.io/none; NULL: it has it */
    unsigned asked, pulled;
    bool under_way[IMAGES], has[IMAGES], has_last;
    unsigned most;        /* under way at once */
    bool early;           /* one came before the kubelet ran */
    bool late;            /* one came when the node took pods already */
    unsigned downloading; /* so often layers are said to be under way */
    bool waited;          /* how far it is was asked for */
    unsigned slow_ms;     /* by each look */
} registry;

/* The call that is told to fail may be this one, which is the test's own: it is made again. */
static bool service_runs(const char *name) {
    _cleanup_(host_service_free) struct host_service found = {0};

    if (host_service_query(r.host, name, &found, NULL) < 0)
        assert_int_equal(host_service_query(r.host, name, &found, NULL), 0);
    return found.state == HOST_SERVICE_RUNNING;
}

static void field(struct text *t, const char *name, const char *value) {
    text_add_char(t, '\0'); /* a literal that is not indexed (RFC 7541, 6.2.2) */
    text_add_char(t, (char)strlen(name));
    text_add(t, name);
    text_add_char(t, (char)strlen(value));
    text_add(t, value);
}

static void refuse(struct text *answer, const char *words) {
    _cleanup_(text_free) struct text fields = {0};

    text_add_char(&fields, '\x88');
    field(&fields, "content-type", "application/grpc");
    field(&fields, "grpc-status", "5");
    field(&fields, "grpc-message", words);
    text_add_bytes(answer, GRPC_GO_HELLO, sizeof GRPC_GO_HELLO - 1);
    text_add_bytes(answer, (char[]){0, 0, (char)fields.len, 1, 5, 0, 0, 0, 1}, 9);
    text_add_bytes(answer, fields.data, fields.len);
}

/* 3 of 10 MB more at each look: ListStatusesResponse with one Status, and that of a manifest. */
static void tell_downloads(struct text *answer) {
    static const char some[] = "\x0a\x16\x1a\x0alayer-sha:\x20\xc0\x8d\xb7\x01\x28\x80\xad\xe2\x04"
                               "\x0a\x0c\x1a\4mani\x20\1\x28\x80\x80\4",
                      more[] = "\x0a\x16\x1a\x0alayer-sha:\x20\x80\x9b\xee\x02\x28\x80\xad\xe2\x04";

    registry.waited = true;
    if (!registry.downloading)
        cri_scene_add(answer, "", 0);
    else if (registry.downloading-- > 1)
        cri_scene_add(answer, some, sizeof some - 1);
    else
        cri_scene_add(answer, more, sizeof more - 1);
}

static void end_pull(int at, struct text *answer) {
    registry.under_way[at] = false;
    if (registry.broken[at]) {
        registry.broken[at]--;
        return; /* it hangs up */
    }
    registry.has[at] = true;
    registry.pulled++;
    registry.early |= !service_runs("kubelet");
    registry.late |= host_file_type(r.host, CNI) != HOST_ABSENT;
    cri_scene_add(answer, "\x0a\1x", 3);
}

static void pull(int at, struct text *answer) {
    unsigned now = 0;

    if (!registry.under_way[at])
        registry.asked++;
    registry.under_way[at] = true;
    for (size_t i = 0; i < IMAGES; i++)
        now += registry.under_way[i];
    registry.most = now > registry.most ? now : registry.most;
    host_memory_advance(r.host, registry.slow_ms);
    if (registry.turns[at] && registry.turns[at]--)
        host_memory_pipe_not_yet(r.host);
    else
        end_pull(at, answer);
}

static void answer(void *, const void *said, size_t len, struct text *answer) {
    _cleanup_(http2_request_free) struct http2_request request = {0};
    const char *digit;
    bool last;

    http2_request_read(said, len, &request);
    digit = request.body.len ? request.body.data + request.body.len - 1 : "";
    last = !isdigit((unsigned char)*digit);
    if (cri_scene_calls(&request, ":path: /containerd.services.content.v1.Content/ListStatuses\n"))
        tell_downloads(answer);
    else if (cri_scene_calls(&request, PATH "ImageStatus\n"))
        cri_scene_add(answer, "\x0a\3\x0a\1x",
                      (last ? registry.has_last : registry.has[*digit - '0']) ? 5 : 0);
    else if (cri_scene_calls(&request, PATH "PullImage\n") && !last)
        pull(*digit - '0', answer);
    else if (cri_scene_calls(&request, PATH "PullImage\n")) {
        registry.asked++;
        registry.has_last = !registry.refusal;
        if (registry.refusal)
            refuse(answer, registry.refusal);
        else
            cri_scene_add(answer, "\x0a\1x", 3);
    }
}

static int open_images(void **state) {
    int result = open_joining(state);

    registry = (struct registry){0};
    host_memory_set_pipe_answer(r.host, answer, NULL);
    set_options(&r, "overlay");
    return result;
}

static void want(size_t count) {
    for (size_t i = 0; i < count; i++)
        text_list_add_owned(&r.options.images, xasprintf("r.io/%zu", i));
}

static void joins(void) {
    struct error err = {0};

    if (join_once(&r, &err) < 0)
        fail_msg("%s", err.message);
}

static void the_join_goes_on_meanwhile(void **state) {
    (void)state;
    want(1);
    registry.turns[0] = 30;
    registry.downloading = 2;
    joins();
    assert_int_equal(registry.pulled, 1);
    assert_false(registry.early);
    assert_false(registry.late);
    assert_int_equal(host_file_type(r.host, CNI), HOST_FILE);
    assert_has(&all_told, "for images: 0 of 1 there; downloading 3 of 10 MB");
    assert_has(&all_told, "for images: 0 of 1 there; downloading 6 of 10 MB at ");
    assert_has(&all_told, " MB/s, ");
    assert_has(&all_told, "1 of 1 image pulled");
    set_options(&r, "overlay"); /* again: nothing is pulled */
    want(1);
    joins();
    assert_int_equal(registry.asked, 1);
    assert_has(&all_told, "0 of 1 image pulled");
}

static void three_at_once(void **state) {
    (void)state;
    want(IMAGES);
    for (size_t i = 0; i < IMAGES; i++)
        registry.turns[i] = 4;
    joins();
    assert_int_equal(registry.pulled, IMAGES);
    assert_int_equal(registry.most, 3);
    assert_has(&all_told, "6 of 6 images pulled");
}

/* The phases between containerd's and the wait make room for those behind the third. */
static void the_queue_goes_on_meanwhile(void **state) {
    (void)state;
    want(IMAGES);
    joins();
    assert_int_equal(registry.pulled, IMAGES);
    assert_has(&all_told, "6 of 6 images pulled");
    assert_false(registry.waited); /* the last had come before the join looked */
}

static void one_that_breaks_off_is_tried_again(void **state) {
    (void)state;
    want(2);
    registry.broken[0] = 2;
    registry.broken[1] = 3;
    joins();
    assert_true(registry.has[0]);
    assert_false(registry.has[1]);
    assert_int_equal(registry.asked, 6);
    assert_has(&all_told, "pull image 'r.io/1': pipe '");
    assert_has(&all_told, "; the first pod that needs it waits for it\n");
}

/* Said by containerd 2 (core/remotes, core/images, core/content) and by Windows. */
static const struct {
    const char *refusal, *hint;
} refusals[] = {
    {"failed to resolve image: r.io/none: not found", "look at the image's name and tag"},
    {"no match for platform in manifest: not found", "name a tag that is for this build"},
    {"pull access denied, repository does not exist", "give containerd the registry's key"},
    {"write C:\\x: There is not enough space on the disk.",
     "make room on the disk of C:\\ProgramData\\containerd"},
};

static void what_lasts_is_not_tried_again(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
        struct error err = {0};

        registry = (struct registry){.refusal = refusals[i].refusal};
        set_options(&r, "overlay");
        text_list_add(&r.options.images_required, "r.io/none");
        assert_int_equal(join_once(&r, &err), -1);
        assert_int_equal(err.kind, ERROR_HOST);
        if (registry.asked != 1 || !strstr(err.message, "pull image 'r.io/none'") ||
            !strstr(err.message, refusals[i].refusal) || !strstr(err.hints[0], refusals[i].hint))
            fail_msg("asked %u times: %s; %s", registry.asked, err.message, err.hints[0]);
        assert_int_equal(host_file_type(r.host, CNI), HOST_ABSENT); /* it takes no pods */
    }
    registry.refusal = NULL; /* the same command, when the registry has it */
    set_options(&r, "overlay");
    text_list_add(&r.options.images_required, "r.io/none");
    joins();
    assert_int_equal(host_file_type(r.host, CNI), HOST_FILE);
}

static void others_come_when_one_does_not(void **state) {
    (void)state;
    registry.refusal = refusals[0].refusal;
    text_list_add(&r.options.images, "r.io/none");
    want(1);
    joins();
    assert_int_equal(registry.pulled, 1);
    assert_has(&all_told, "; the first pod that needs it waits for it: look at the image's name");
}

static void a_skipped_phase_does_not_lose_them(void **state) {
    (void)state;
    want(1);
    registry.turns[0] = 30;
    text_list_split(&r.options.skip_phases, "pod-network,flanneld,kube-proxy,ready,verify", ',');
    joins();
    assert_int_equal(registry.pulled, 1);
}

static void interrupt(void *context, const void *said, size_t len, struct text *reply) {
    answer(context, said, len, reply);
    if (registry.waited)
        host_memory_interrupt(r.host);
}

static void an_interruption_ends_them(void **state) {
    struct error err = {0};

    (void)state;
    want(1);
    registry.turns[0] = 1000;
    host_memory_set_pipe_answer(r.host, interrupt, NULL);
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_string_equal(err.message,
                        "interrupted while waiting for images: 0 of 1 there; unpacking");
    assert_int_equal(registry.pulled, 0);
}

/* Whatever fails meanwhile: no pod comes before they do, and the next join brings the rest. */
static void any_call_may_fail(void **state) {
    size_t failed = 0;

    for (unsigned n = 150; n < 420; n += 9) {
        struct error err = {0};

        assert_int_equal(close_joining(state), 0);
        assert_int_equal(open_images(state), 0);
        want(4);
        for (size_t i = 0; i < 4; i++)
            registry.turns[i] = 3;
        host_memory_fail(r.host, n);
        failed += join_once(&r, &err) < 0;
        host_memory_fail(r.host, 0);
        set_options(&r, "overlay");
        want(4);
        joins();
        assert_int_equal(registry.pulled, 4);
        assert_false(registry.late);
    }
    assert_in_range(failed, 10, 30);
}

static void slow_unpacking_is_said(void **state) {
    static const char said[] = "unpacking the images took ";

    (void)state;
    want(1);
    registry.turns[0] = 10;
    registry.slow_ms = 2000;
    joins();
    assert_null(strstr(text_str(&all_told), said));
    registry.has[0] = false;
    registry.turns[0] = 40;
    set_options(&r, "overlay");
    want(1);
    joins();
    assert_has(&all_told, said);
}

#define IMAGES_TEST(name) cmocka_unit_test_setup_teardown(name, open_images, close_joining)

int main(void) {
    const struct CMUnitTest tests[] = {
        IMAGES_TEST(the_join_goes_on_meanwhile),
        IMAGES_TEST(three_at_once),
        IMAGES_TEST(the_queue_goes_on_meanwhile),
        IMAGES_TEST(one_that_breaks_off_is_tried_again),
        IMAGES_TEST(what_lasts_is_not_tried_again),
        IMAGES_TEST(others_come_when_one_does_not),
        IMAGES_TEST(a_skipped_phase_does_not_lose_them),
        IMAGES_TEST(an_interruption_ends_them),
        IMAGES_TEST(any_call_may_fail),
        IMAGES_TEST(slow_unpacking_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
