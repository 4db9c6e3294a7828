/* winjoin prepare: what is there when a clone joins, and what is not. */
#include "tests/scene/cri_scene.h"
#include "tests/scene/joining_scene.h"

#include "join/prepare/prepare.h"

#define IMAGE "mcr.microsoft.com/windows/nanoserver:ltsc2022"
#define UUID "C:\\ProgramData\\containerd\\root\\io.containerd.grpc.v1.introspection\\uuid"
#define ABSENT_IMAGE "mcr.microsoft.com/windows/none:1"

/* A container runtime with a registry behind it. */
struct images {
    unsigned pulled;
    bool has; /* IMAGE, now */
};

static enum host_service_state state_of_service(const char *name) {
    _cleanup_(host_service_free) struct host_service found = {0};

    assert_int_equal(host_service_query(r.host, name, &found, NULL), 0);
    return found.state;
}

static void answer_images(void *context, const void *said, size_t len, struct text *answer) {
    struct images *images = context;
    _cleanup_(http2_request_free) struct http2_request request = {0};
    /* ImageStatusResponse with an Image whose id is "x" */
    static const char found[] = "\x0a\3\x0a\1x";
    bool known;

    http2_request_read(said, len, &request);
    /* behind gRPC's prefix, and the heads of two fields */
    known = request.body.len > 9 && text_equal(request.body.data + 9, IMAGE);
    if (cri_scene_calls(&request, ":path: /runtime.v1.ImageService/ImageStatus\n")) {
        cri_scene_add(answer, found, known && images->has ? sizeof found - 1 : 0);
    } else if (cri_scene_calls(&request, ":path: /runtime.v1.ImageService/PullImage\n")) {
        if (!known) {
            text_add_bytes(answer, GRPC_GO_HELLO GRPC_GO_REFUSAL,
                           sizeof GRPC_GO_HELLO GRPC_GO_REFUSAL - 1);
            return;
        }
        images->pulled++;
        images->has = true;
        cri_scene_add(answer, "\x0a\1x", 3);
    }
}

static void prepare(const char *version, const char *image) {
    join_options_free(&program->options.join);
    program->options.join = (struct join_options){.start_spread = -1,
                                                  .kubernetes_version = xstrdup_null(version),
                                                  .source_base = xstrdup("none")};
    if (image)
        text_list_add(&program->options.join.images, image);
    record_free(program);
    json_decref(program->result);
    program->result = NULL;
    program->verb = verb_find(verbs, "prepare");
}

static void assert_file(const char *path, enum host_file_type type) {
    if (host_file_type(r.host, path) != type)
        fail_msg("'%s' is of type %d", path, (int)host_file_type(r.host, path));
}

/* All but what tells of runs. */
static json_t *things(void) {
    json_t *state = state_of(&r), *files = json_object_get(state, "files"), *file;
    const char *path;
    void *next;

    json_object_foreach_safe(files, next, path, file) {
        if (text_starts_with(path, LOGS_FOLDER) || text_starts_with(path, REPORTS_FOLDER) ||
            text_starts_with(path, JOINING_FOLDER) || text_equal(path, WINJOIN_FOLDER))
            json_object_del(files, path);
    }
    return state;
}

/* What names this machine, or a cluster. */
static void assert_nobody_is_named(void) {
    static const char *const names[] = {"win-7k2", "WIN-7K2", "10.0.0.7", "10.0.0.10", "BEGIN "};
    _cleanup_json_ json_t *state = things();
    json_t *files = json_object_get(state, "files");
    _cleanup_(freep) char *text = json_write(files);

    assert_non_null(strstr(text, "prepared.json"));
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strstr(text, names[i]))
            fail_msg("a file names '%s'", names[i]);
}

static void a_server_is_prepared(void **state) {
    struct images images = {0};

    (void)state;
    assert_int_equal(host_write(r.host, UUID, "a-b", 3, HOST_PUBLIC, NULL), 0);
    host_memory_set_pipe_answer(r.host, answer_images, &images);
    prepare("v1.37.1", IMAGE);
    succeeds(verb_prepare);
    assert_file(UUID, HOST_ABSENT); /* or all clones have the same */
    assert_string_equal(result_text("kind"), "PrepareResult");
    assert_string_equal(result_text("kubernetesVersion"), "v1.37.1");
    assert_string_equal(result_text("mode"), "overlay");
    assert_has(&out, "\nthis server is prepared: take an image of it, or run winjoin join\n");
    assert_int_equal(images.pulled, 1);
    assert_file(PREPARED_FILE, HOST_FILE);
    assert_file("C:\\Program Files\\containerd\\config.toml", HOST_FILE);
    assert_file("C:\\var\\lib\\kubelet\\pods", HOST_FOLDER);
    assert_file("C:\\etc\\kubernetes\\kubelet.conf", HOST_ABSENT);
    assert_int_equal(state_of_service("containerd"), HOST_SERVICE_STOPPED);
    assert_int_equal(state_of_service("kubelet"), HOST_SERVICE_ABSENT);
    assert_nobody_is_named();
}

static void a_second_run_changes_nothing(void **state) {
    struct images images = {0};
    json_t *before, *after;

    (void)state;
    host_memory_set_pipe_answer(r.host, answer_images, &images);
    prepare("v1.37.1", IMAGE);
    succeeds(verb_prepare);
    before = things();
    prepare("v1.37.1", IMAGE);
    succeeds(verb_prepare);
    assert_has(&out, "\nnothing to do: this server was prepared already\n");
    assert_false(json_is_true(json_object_get(program->result, "changed")));
    after = things();
    assert_same(before, after, "a second run");
    assert_int_equal(images.pulled, 1);
    json_decref(before);
    json_decref(after);
    prepare("v1.37.1", NULL); /* another wish */
    succeeds(verb_prepare);
    assert_true(json_is_true(json_object_get(program->result, "changed")));
}

static void an_image_that_nobody_has(void **state) {
    struct images images = {0};
    struct error err;

    (void)state;
    host_memory_set_pipe_answer(r.host, answer_images, &images);
    prepare("v1.37.1", ABSENT_IMAGE);
    assert_int_equal(verb(verb_prepare, &err), -1);
    assert_int_equal(err.kind, ERROR_HOST);
    assert_non_null(strstr(err.message, "pull image '" ABSENT_IMAGE "'"));
    assert_int_equal(state_of_service("containerd"), HOST_SERVICE_STOPPED);
    assert_file(PREPARED_FILE, HOST_ABSENT);
}

static void a_clone_joins_and_a_reset_undoes_both(void **state) {
    struct images images = {0};
    json_t *before, *after;
    struct error err = {0};

    (void)state;
    before = things();
    host_memory_set_pipe_answer(r.host, answer_images, &images);
    prepare("v1.37.1", IMAGE);
    succeeds(verb_prepare);
    set_options(&r, "overlay");
    if (join_once(&r, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(state_of_service("containerd"), HOST_SERVICE_RUNNING);
    assert_int_equal(state_of_service("kubelet"), HOST_SERVICE_RUNNING);
    host_memory_set_pipe_answer(r.host, NULL, NULL);
    if (reset_once(&r, &err) < 0)
        fail_msg("%s", err.message);
    after = things();
    assert_same(before, after, "prepare, join, reset");
    json_decref(before);
    json_decref(after);
}

static void assert_noted(const char *kind, const char *target, const char *phase) {
    _cleanup_json_ json_t *notes = NULL;

    assert_int_equal(host_read_json(r.host, WRITTEN_FILE, 1 << 20, &notes, NULL), 0);
    assert_string_equal(
        json_text_at(json_object_get(json_object_get(notes, kind), target), "phase"), phase);
}

/* status and diag name the phase of the note in `winjoin join phase NAME`. */
static void a_join_notes_its_own_phase(void **state) {
    struct error err = {0};

    (void)state;
    prepare("v1.37.1", NULL);
    succeeds(verb_prepare);
    /* The preparation has no phase "files". */
    assert_noted("file", CONTAINERD_CONFIG_PATH, "containerd");
    assert_noted("service", "winjoin-network", "pod-network");
    set_options(&r, "overlay");
    if (join_once(&r, &err) < 0)
        fail_msg("%s", err.message);
    assert_noted("file", CONTAINERD_CONFIG_PATH, "files");
}

/* Calls of the host since `from` in its log that have this in their line. */
static unsigned calls(size_t from, const char *part) {
    unsigned count = 0;

    for (const char *at = host_memory_log(r.host) + from; (at = strstr(at, part)); at++)
        count++;
    return count;
}

/* A bundle of one program. */
static void put_bundle(const char *name, const char *version, const char *content) {
    char sha256[DIGEST_TEXT_MAX];
    _cleanup_(freep) char *lock = NULL;

    digest_sha256(content, strlen(content), sha256);
    lock =
        xasprintf("{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{"
                  "\"name\":\"%s\",\"version\":\"%s\",\"sha256\":\"%s\",\"size\":%zu,"
                  "\"path\":\"program.exe\"}]}",
                  name, version, sha256, strlen(content));
    assert_int_equal(
        host_write(r.host, "D:\\b\\program.exe", content, strlen(content), HOST_PUBLIC, NULL), 0);
    assert_int_equal(
        host_write(r.host, "D:\\b\\winjoin.lock", lock, strlen(lock), HOST_PUBLIC, NULL), 0);
}

static void joins_within(const char *what, unsigned programs, unsigned containerd, unsigned pulled,
                         const struct images *images) {
    size_t from = strlen(host_memory_log(r.host));
    struct error err = {0};

    set_options(&r, "overlay");
    text_list_add(&r.options.images_required, IMAGE);
    text_set(&r.options.bundle, xstrdup("D:\\b"));
    if (join_once(&r, &err) < 0) /* ERROR_RESTART: Windows is to be started again */
        fail_msg("%s: %s", what, err.message);
    if (calls(from, ".exe public 2 bytes") != programs ||
        calls(from, "service_put containerd") != containerd || images->pulled != pulled)
        fail_msg("%s: %u programs written, containerd made %u times, %u images pulled:\n%s", what,
                 calls(from, ".exe public 2 bytes"), calls(from, "service_put containerd"),
                 images->pulled, strstr(host_memory_log(r.host) + from, "write "));
}

/* On a prepared server a join writes no program, makes no containerd, pulls no image and asks for
 * no restart. */
static void a_join_finds_what_was_prepared(void **state) {
    struct images images = {0};
    struct error err = {0};

    (void)state;
    host_memory_set_pipe_answer(r.host, answer_images, &images);
    put_bundle("crictl", "v1", "MZ");
    joins_within("bare", 1, 1, 1, &images);
    host_memory_set_pipe_answer(r.host, NULL, NULL);
    if (reset_once(&r, &err) < 0)
        fail_msg("%s", err.message);
    images = (struct images){0};
    host_memory_set_pipe_answer(r.host, answer_images, &images);
    prepare("v1.37.1", IMAGE);
    text_set(&program->options.join.bundle, xstrdup("D:\\b"));
    succeeds(verb_prepare);
    assert_int_equal(images.pulled, 1);
    joins_within("prepared", 0, 0, 1, &images);
}

/* A kubelet that is newer than the cluster is refused, and the bundle's fetched in its place; an
 * older one is taken as far as Kubernetes lets it. */
static void clusters_of_other_versions(void **state) {
    static const struct {
        const char *server;
        const char *why; /* NULL: joined */
        bool fetched;    /* the bundle brings another kubelet */
    } rows[] = {{"v1.36.2", "is higher than the control plane version", false},
                {"v1.36.2", NULL, true},
                {"v1.38.0", NULL, false},
                {"v1.40.0", NULL, false},
                {"v1.41.0", "more than 3 minor versions older", false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *said = xasprintf("Kubernetes %s\n", rows[i].server);
        struct error err = {0};
        json_t *before, *after;
        size_t from;

        prepare("v1.37.1", NULL);
        succeeds(verb_prepare);
        before = things();
        from = strlen(host_memory_log(r.host));
        set_options(&r, "overlay");
        r.scene.server_version = rows[i].server;
        if (rows[i].fetched) {
            put_bundle("kubelet", rows[i].server, said);
            text_set(&r.options.bundle, xstrdup("D:\\b"));
            host_memory_set_program(r.host, "kubelet.exe", 0, said);
        }
        if (join_once(&r, &err) < 0 ? !rows[i].why || !strstr(err.message, rows[i].why)
                                    : rows[i].why != NULL)
            fail_msg("%s: %s", rows[i].server, err.message);
        assert_int_equal(calls(from, "write C:\\k\\kubelet.exe"), rows[i].fetched);
        after = things();
        if (rows[i].why)
            assert_same(before, after, rows[i].server);
        json_decref(before);
        json_decref(after);
        if (reset_once(&r, &err) < 0)
            fail_msg("%s", err.message);
        host_memory_set_program(r.host, "kubelet.exe", 0, "Kubernetes v1.37.1\n");
    }
}

/* Wherever a join fails: the preparation is as it was, and a reset undoes that, too. */
static void a_failed_join_leaves_the_preparation(void **state) {
    json_t *bare = things(), *prepared, *after;
    size_t undone = 0;

    (void)state;
    for (unsigned n = 2; n < 470; n += 13) {
        struct error err = {0};

        prepare("v1.37.1", NULL);
        succeeds(verb_prepare);
        prepared = things();
        set_options(&r, "overlay");
        r.options.on_failure = xstrdup("rollback");
        host_memory_fail(r.host, n);
        (void)join_once(&r, &err);
        host_memory_fail(r.host, 0);
        after = things();
        if (err.kind)
            assert_same(prepared, after, host_memory_failed(r.host));
        undone += strstr(err.hints[0], "everything was undone but the preparation") ||
                  strstr(err.hints[1], "everything was undone but the preparation");
        json_decref(prepared);
        json_decref(after);
        if (reset_once(&r, &err) < 0)
            fail_msg("%s", err.message);
        after = things();
        assert_same(bare, after, "reset");
        json_decref(after);
    }
    json_decref(bare);
    assert_true(undone > 10);
}

/* What the kubelet wrote into its prepared folder is a failed join's, too. */
static void what_programs_wrote_goes_with_the_join(void **state) {
    static const char key[] = "C:\\var\\lib\\kubelet\\pki\\kubelet-server-current.pem";
    struct error err = {0};
    json_t *before, *after;

    (void)state;
    prepare("v1.37.1", NULL);
    succeeds(verb_prepare);
    before = things();
    set_options(&r, "overlay");
    r.scene.unprepared = true; /* kube-proxy is refused */
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(host_write(r.host, key, "KEY", 3, HOST_SECRET, NULL), 0);
    r.options.on_failure = xstrdup("rollback");
    assert_int_equal(host_remove(r.host, KUBELET_KUBECONFIG_FILE, NULL), 0);
    assert_int_equal(join_once(&r, &err), -1);
    after = things();
    assert_same(before, after, "rollback");
    json_decref(before);
    json_decref(after);
}

static void the_name_of_the_server_does_not_matter(void **state) {
    struct host_facts facts;

    (void)state;
    assert_int_equal(host_facts(r.host, &facts, NULL), 0);
    (void)text_format(facts.host_name, sizeof facts.host_name, "A_NAME_OF_MORE_THAN_15");
    host_memory_set_facts(r.host, &facts);
    prepare("v1.37.1", NULL);
    succeeds(verb_prepare);
    assert_null(strstr(text_str(&out), "A_NAME"));
    assert_null(strstr(text_str(&err_out), "A_NAME"));
}

static void what_is_refused(void **state) {
    struct error err;

    (void)state;
    prepare(NULL, NULL);
    assert_int_equal(verb(verb_prepare, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_string_equal(err.message, "which version of Kubernetes to prepare is not given");
    prepare("v1.37.1", NULL);
    program->options.join.network_mode = xstrdup("overlai");
    assert_int_equal(verb(verb_prepare, &err), -1);
    prepare("v1.37.1", NULL);
    assert_int_equal(
        host_write(r.host, "C:\\etc\\kubernetes\\kubelet.conf", "x", 1, HOST_SECRET, NULL), 0);
    assert_int_equal(verb(verb_prepare, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_string_equal(err.message, "prepare this machine: it has joined a cluster");
}

static void status_says_what_is_prepared(void **state) {
    (void)state;
    prepare("v1.37.1", NULL);
    succeeds(verb_prepare);
    record_free(program);
    json_decref(program->result);
    program->result = NULL;
    program->verb = verb_find(verbs, "status");
    (void)verb(verb_status, &(struct error){0});
    assert_string_equal(result_text("state"), "prepared");
    assert_string_equal(result_text("prepared.kubernetesVersion"), "v1.37.1");
    assert_false(json_is_true(json_object_get(program->result, "joined")));
}

static void put_record(const char *path, const char *text) {
    assert_int_equal(host_write(r.host, path, text, strlen(text), HOST_SECRET, NULL), 0);
}

static const char *state_now(void) {
    record_free(program);
    json_decref(program->result);
    program->result = NULL;
    program->verb = verb_find(verbs, "status");
    (void)verb(verb_status, &(struct error){0});
    return result_text("state");
}

/* What a server was before its last reset is of another node. */
static void a_node_that_was_reset_is_prepared(void **state) {
    (void)state;
    prepare("v1.37.1", NULL);
    succeeds(verb_prepare);
    put_record(REPORTS_FOLDER "\\join-20200101-000000.json",
               "{\"exitCode\": 0, \"time\": \"2020-01-01T00:00:01Z\"}");
    assert_string_equal(state_now(), "joined");
    put_record(REPORTS_FOLDER "\\reset-20200102-000000.json", "{\"exitCode\": 1}");
    assert_string_equal(state_now(), "joined");
    put_record(REPORTS_FOLDER "\\reset-20200103-000000.json", "{\"exitCode\": 0}");
    assert_string_equal(state_now(), "prepared");
    assert_null(json_at(program->result, "lastJoin"));
    put_record(LOGS_FOLDER "\\join-20200102-000000.log", "2020-01-02T00:00:00Z INFO  kubelet: x\n");
    assert_string_equal(state_now(), "prepared");
    put_record(LOGS_FOLDER "\\join-20200104-000000.log", "2020-01-04T00:00:00Z INFO  kubelet: x\n");
    assert_string_equal(state_now(), "failed");
}

#define PREPARE_TEST(name) cmocka_unit_test_setup_teardown(name, open_joining, close_joining)

int main(void) {
    const struct CMUnitTest tests[] = {
        PREPARE_TEST(a_server_is_prepared),
        PREPARE_TEST(a_second_run_changes_nothing),
        PREPARE_TEST(an_image_that_nobody_has),
        PREPARE_TEST(a_clone_joins_and_a_reset_undoes_both),
        PREPARE_TEST(what_is_refused),
        PREPARE_TEST(status_says_what_is_prepared),
        PREPARE_TEST(a_node_that_was_reset_is_prepared),
        PREPARE_TEST(a_join_notes_its_own_phase),
        PREPARE_TEST(a_join_finds_what_was_prepared),
        PREPARE_TEST(clusters_of_other_versions),
        PREPARE_TEST(a_failed_join_leaves_the_preparation),
        PREPARE_TEST(what_programs_wrote_goes_with_the_join),
        PREPARE_TEST(the_name_of_the_server_does_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
