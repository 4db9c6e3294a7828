/* The wait for a network that the cluster's own agent makes: what ends it, and what it says. */
#include "tests/scene/cri_scene.h"
#include "tests/scene/join_scene.h"

#include "join/phases/steps.h"
#include "node/chosen.h"

#define CONF "C:\\etc\\cni\\net.d\\10-calico.conf"

/* What the agent writes, a file every two seconds; NULL: no more. */
struct agent {
    const char *writes[3];
    size_t written;
    struct text told;
};

static void play(void *context, struct host *host) {
    struct agent *agent = context;
    const char *next = agent->written < 3 ? agent->writes[agent->written] : NULL;

    if (!next || host_monotonic_ms(host) < 2000 * (agent->written + 1))
        return;
    agent->written++;
    assert_int_equal(host_write(host, CONF, next, strlen(next), HOST_PUBLIC, NULL), 0);
}

static void listen(void *context, const struct join_event *event) {
    struct agent *agent = context;

    if (event->state == JOIN_WAITING)
        text_addf(&agent->told, "%s (%u s left)\n", event->message, event->left_ms / 1000);
}

/* The phase's detail; the caller frees. */
static char *await(struct run *r, struct agent *agent, int *ret_result, struct error *err) {
    struct join join = {.host = r->host,
                        .http = r->http,
                        .asked = &r->options,
                        .progress = {.listener = listen, .context = agent}};
    char *detail;

    r->options.network_plugin = xstrdup("external");
    assert_int_equal(join_open(&join, err), 0);
    if (join_need(&join, NEED_PLAN, err) < 0)
        fail_msg("%s", err->message);
    host_memory_on_sleep(r->host, play, agent);
    *ret_result = daemon_set_network_await(&join, err);
    detail = xstrdup(text_str(&join.progress.detail));
    join_close(&join);
    return detail;
}

static void an_agent_that_comes_late(void **state) {
    static const struct {
        const char *writes[3], *detail;
    } rows[] = {
        {{"{", "{\"name\":", "{\"name\":\"n\",\"type\":\"calico\"}"},
         "made by the cluster's own agent: calico in " CONF},
        {{"{\"name\":\"n\",\"type\":\"sdnoverlay\"}"},
         "made by the cluster's own agent: sdnoverlay in " CONF},
        {{"{}", "{\"name\":\"n\"}", "{\"name\":\"n\",\"plugins\":[{\"type\":\"calico\"}]}"},
         "made by the cluster's own agent: calico in " CONF},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct agent agent = {.writes = {rows[i].writes[0], rows[i].writes[1], rows[i].writes[2]}};
        _cleanup_(freep) char *detail = NULL;
        struct error err = {0};
        struct run r;
        int result;

        open_run(&r, "overlay");
        detail = await(&r, &agent, &result, &err);
        if (result < 0)
            fail_msg("%s", err.message);
        assert_string_equal(detail, rows[i].detail);
        assert_non_null(strstr(text_str(&agent.told), "for the cluster's network agent to write a "
                                                      "file in C:\\etc\\cni\\net.d (89"));
        text_free(&agent.told);
        close_run(&r);
    }
}

static void an_agent_that_never_comes(void **state) {
    struct agent agent = {0};
    _cleanup_(freep) char *detail = NULL;
    struct error err = {0};
    struct run r;
    uint64_t start;
    int result;

    (void)state;
    open_run(&r, "overlay");
    start = host_monotonic_ms(r.host);
    detail = await(&r, &agent, &result, &err);
    assert_int_equal(result, -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_non_null(
        strstr(err.message, "the cluster's network agent has set up no network after 15 min: "));
    assert_non_null(strstr(err.hints[0], "--field-selector spec.nodeName=win-7k2"));
    assert_string_equal(detail, "");
    assert_in_range(host_monotonic_ms(r.host) - start, 900000, 902000);
    text_free(&agent.told);
    close_run(&r);
}

/* Some agents give out prefixes of their own; others take the Node's, and a join says so when that
 * does not come. */
static void who_gives_the_prefix(void **state) {
    static const struct {
        const char *daemon_set, *mode, *says;
    } rows[] = {
        {"calico-node-windows", "overlay", "Calico has set up no network after 15 min"},
        {"antrea-agent-windows", "transparent", "node \"win-7k2\" has no podCIDR"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};
        struct run r;

        open_run(&r, NULL);
        r.scene.no_prefix = true;
        r.scene.daemon_set = rows[i].daemon_set;
        text_list_add(&r.options.ignore_preflight_errors, "NetworkAgent"); /* no Hyper-V */
        text_list_add(&r.options.skip_phases, "preflight");
        assert_int_equal(join_once(&r, &err), -1);
        if (!strstr(err.message, rows[i].says))
            fail_msg("%s: %s", rows[i].daemon_set, err.message);
        assert_int_equal(err.kind, ERROR_TIMED_OUT);
        close_run(&r);
    }
}

static void who_stops_it_is_heard(void **state) {
    struct agent agent = {0};
    _cleanup_(freep) char *detail = NULL;
    struct error err = {0};
    struct run r;
    int result;

    (void)state;
    open_run(&r, "overlay");
    host_memory_interrupt(r.host);
    detail = await(&r, &agent, &result, &err);
    assert_int_equal(result, -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    text_free(&agent.told);
    close_run(&r);
}

/* ---- what is missing for Services ---- */

static void listen_to_warnings(void *context, const struct join_event *event) {
    if (event->state == JOIN_WARNING)
        text_addf(context, "%s\n", event->message);
}

/* Calico needs a kube-proxy beside it. */
static void a_cluster_without_kube_proxy_is_told(void **state) {
    static const char *const kube_proxy[] = {NULL, "kube-proxy-windows"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(kube_proxy); i++) {
        struct text told = {0};
        struct error err = {0};
        struct join join;
        struct run r;

        open_run(&r, NULL);
        r.scene.daemon_set = "calico-node-windows";
        r.scene.second_set = kube_proxy[i];
        join = (struct join){.host = r.host,
                             .http = r.http,
                             .asked = &r.options,
                             .progress = {.listener = listen_to_warnings, .context = &told}};
        assert_int_equal(join_open(&join, &err), 0);
        if (join_run_phase(&join, "configuration", &err) < 0)
            fail_msg("%s", err.message);
        assert_int_equal(strstr(text_str(&told), "pods on this node reach no Service") != NULL,
                         !kube_proxy[i]);
        join_close(&join);
        text_free(&told);
        close_run(&r);
    }
}

/* ---- the whole join ---- */

static struct agent *comes; /* with the join that is played */
static struct text pending; /* what was said of the network, in order */

static void play_all(void *context, struct host *host) {
    struct run *r = context;

    scene_on_sleep(&r->scene, host);
    if (pending.len) /* a Node is there */
        play(comes, host);
}

static int answer_patches(void *context, const struct http_request *request,
                          struct http_response *ret, struct error *err) {
    struct run *r = context;
    _cleanup_json_ json_t *body = NULL;

    if (!text_equal(request->method, "PATCH"))
        return scene_answer(&r->scene, request, ret, err);
    assert_non_null(strstr(request->url, "/api/v1/nodes/win-7k2/status"));
    assert_int_equal(json_read(request->body, request->body_len, "patch", &body, err), 0);
    assert_string_equal(json_text_at(body, "status.conditions.0.type"), "NetworkUnavailable");
    text_addf(&pending, "%s ", json_text_at(body, "status.conditions.0.status"));
    return scene_json(ret, 200, scene_node(&r->scene));
}

static unsigned pulled;

/* An image that comes some time after the network. */
static void answer_images(void *context, const void *said, size_t len, struct text *answer) {
    static unsigned later = 20;
    struct run *r = context;
    _cleanup_(http2_request_free) struct http2_request request = {0};

    http2_request_read(said, len, &request);
    if (cri_scene_calls(&request, "/PullImage\n")) {
        if (host_file_type(r->host, CONF) == HOST_ABSENT || later--) {
            host_memory_pipe_not_yet(r->host);
            return;
        }
        assert_int_equal(host_file_type(r->host, CHOSEN_FILE), HOST_ABSENT);
        assert_string_equal(text_str(&pending), "True ");
        pulled++;
    }
    cri_scene_add(answer, "", 0);
}

/* It hangs up, each time, once the agent has come. */
static void answer_no_image(void *context, const void *said, size_t len, struct text *answer) {
    const struct run *r = context;
    _cleanup_(http2_request_free) struct http2_request request = {0};

    http2_request_read(said, len, &request);
    if (host_file_type(r->host, CONF) == HOST_ABSENT && cri_scene_calls(&request, "/PullImage\n"))
        host_memory_pipe_not_yet(r->host);
    else if (!cri_scene_calls(&request, "/PullImage\n"))
        cri_scene_add(answer, "", 0);
}

/* winjoin-network, which lets pods come, has no file while a required image is missing. */
static void a_required_image_keeps_pods_away(void **state) {
    struct agent agent = {.writes = {"{\"name\":\"n\",\"type\":\"calico\"}"}};
    struct error err = {0};
    struct run r;

    (void)state;
    comes = &agent;
    open_run(&r, "overlay");
    r.scene.conf = CONF;
    r.options.network_plugin = xstrdup("external");
    http_free(r.http);
    r.http = http_memory_new(answer_patches, &r);
    host_memory_on_sleep(r.host, play_all, &r);
    text_list_add(&r.options.images_required, "r.io/first:1");
    host_memory_set_pipe_answer(r.host, answer_no_image, &r);
    assert_int_equal(join_once(&r, &err), -1);
    assert_non_null(strstr(err.message, "pull image 'r.io/first:1'"));
    assert_int_equal(host_file_type(r.host, CONF), HOST_FILE);
    assert_int_equal(host_file_type(r.host, CHOSEN_FILE), HOST_ABSENT);
    text_free(&pending);
    close_run(&r);
}

/* No pod comes to the node before its network stands and its images are there, and all may then. */
static void pods_are_kept_away_until_it_stands(void **state) {
    struct agent agent = {.writes = {"{\"name\":\"n\",\"type\":\"calico\"}"}};
    struct error err = {0};
    struct run r;

    (void)state;
    comes = &agent;
    open_run(&r, "overlay");
    r.scene.conf = CONF;
    r.options.network_plugin = xstrdup("external");
    http_free(r.http);
    r.http = http_memory_new(answer_patches, &r);
    host_memory_on_sleep(r.host, play_all, &r);
    text_list_add(&r.options.images, "r.io/first:1");
    host_memory_set_pipe_answer(r.host, answer_images, &r);
    if (join_once(&r, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(text_str(&pending), "True False ");
    assert_int_equal(pulled, 1);
    text_free(&pending);
    close_run(&r);
}

static void keep_left(void *context, const char *what, const char *how, const struct error *) {
    if (text_equal(what, "left"))
        text_set(context, xstrdup(how));
}

/* A reset takes nothing of the agent's; it says how that goes. */
static void what_the_agent_leaves_is_named(void **state) {
    static const char chosen[] =
        "{\"mode\":\"l2bridge\",\"plugin\":\"external\",\"agent\":\"calico\",\"podCIDR\":"
        "\"<podCIDR>\",\"management\":\"10.0.0.21/24\",\"serviceCIDRs\":[\"10.96.0.0/12\"],"
        "\"node\":\"win-7k2\"}";
    _cleanup_(freep) char *left = NULL;
    const struct reset_options options = {.progress = keep_left, .progress_context = &left};
    struct reset_result result = {0};
    struct run r;

    (void)state;
    open_run(&r, "l2bridge");
    assert_int_equal(host_write(r.host, CHOSEN_FILE, chosen, strlen(chosen), HOST_SECRET, NULL), 0);
    assert_int_equal(reset_run(r.host, &options, &result, NULL), 0);
    assert_non_null(left);
    assert_true(text_starts_with(left, "Calico's HNS networks"));
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_agent_that_comes_late),
        cmocka_unit_test(an_agent_that_never_comes),
        cmocka_unit_test(who_gives_the_prefix),
        cmocka_unit_test(who_stops_it_is_heard),
        cmocka_unit_test(a_cluster_without_kube_proxy_is_told),
        cmocka_unit_test(a_required_image_keeps_pods_away),
        cmocka_unit_test(pods_are_kept_away_until_it_stands),
        cmocka_unit_test(what_the_agent_leaves_is_named),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests_name("network of a DaemonSet", tests, NULL, NULL);
}
