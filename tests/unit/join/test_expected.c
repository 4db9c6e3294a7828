/* All that a join does on the host and leaves there, all that a reset does, and all that a dry run
 * says, compared with files of tests/unit/expected: an order, a default, a call, a word that
 * changes is seen (expected_scene.h). */
#include "tests/scene/join_scene.h"

#include "tests/scene/expected_scene.h"
#include "join/plan/plan.h"

static struct run r;

static void tell_event(void *context, const struct join_event *event) {
    static const char *const states[] = {
        [JOIN_BEGIN] = "begin", [JOIN_WAITING] = "waiting", [JOIN_WARNING] = "warning",
        [JOIN_DONE] = "done",   [JOIN_SKIPPED] = "skipped", [JOIN_FAILED] = "failed"};

    text_addf(context, "%s %s: %s\n", states[event->state], event->phase ? event->phase->id : "-",
              event->message);
    if (*event->hint)
        text_addf(context, "  hint: %s (%u of %u ms)\n", event->hint, event->waited_ms,
                  event->left_ms);
}

static void tell_undone(void *context, const char *what, const char *how, const struct error *why) {
    text_addf(context, "%s: %s%s%s\n", what, how, why ? ": " : "", why ? why->message : "");
}

static int join_told(struct text *ret, struct error *err) {
    struct join join = {.host = r.host,
                        .http = r.http,
                        .asked = &r.options,
                        .progress = {.listener = tell_event, .context = ret}};
    int result = join_open(&join, err);

    if (result == 0)
        result = join_run(&join, err);
    join_close(&join);
    return result;
}

static void put_more_programs(void) {
    static const char *const programs[] = {"C:\\k\\flanneld.exe", "C:\\k\\hybrid-overlay-node.exe",
                                           "C:\\opt\\cni\\bin\\azure-vnet.exe",
                                           "C:\\opt\\cni\\bin\\azure-vnet-ipam.exe"};

    for (size_t n = 0; n < ARRAY_SIZE(programs); n++)
        assert_int_equal(host_write(r.host, programs[n], "MZ", 2, HOST_PUBLIC, NULL), 0);
}

static const struct {
    const char *name, *mode, *plugin;
    const char *conf; /* of a plugin that brings its own; else NULL */
} joins[] = {
    {"join-overlay", "overlay", NULL, NULL},
    {"join-l2bridge", "l2bridge", "sdnbridge", NULL},
    {"join-azure", "l2tunnel", "azure-vnet", "C:\\etc\\cni\\net.d\\10-winjoin.conflist"},
};

/* So long a join waits at most where all answer at once: three seconds in which Windows may bring
 * the adapter's address back, and a look more at that and at each of two services. */
enum { WAITED_MS = 3000 + 200 + 2 * 100 };

static void joins_and_resets(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(joins); i++) {
        struct text t = {.cap = 1 << 20};
        struct reset_options options = {.progress = tell_undone, .progress_context = &t};
        struct reset_result result;
        struct error err = {0};
        size_t from;

        open_run(&r, joins[i].mode);
        if (joins[i].conf)
            put_more_programs();
        r.scene.no_prefix = joins[i].conf != NULL;
        r.scene.conf = joins[i].conf;
        r.scene.other_node = "10.244.7.0/24 10.0.0.77";
        r.options.network_plugin = xstrdup_null(joins[i].plugin);
        from = strlen(host_memory_log(r.host));
        if (join_told(&t, &err) < 0)
            fail_msg("%s: %s", joins[i].name, err.message);
        assert_true(host_monotonic_ms(r.host) <= WAITED_MS);
        add_calls(&t, "calls", host_memory_log(r.host) + from);
        {
            _cleanup_json_ json_t *left = state_of(&r);

            text_add(&t, "==== left\n");
            add_document(&t, left);
        }
        text_add(&t, "==== reset\n");
        from = strlen(host_memory_log(r.host));
        if (reset_run(r.host, &options, &result, &err) < 0)
            fail_msg("%s: reset: %s", joins[i].name, err.message);
        add_calls(&t, "calls", host_memory_log(r.host) + from);
        assert_expected(joins[i].name, text_str(&t));
        text_free(&t);
        close_run(&r);
    }
}

static const struct {
    const char *name, *mode, *plugin;
} plans[] = {
    {"plan-flannel", "overlay", "flannel"},
    {"plan-ovn-kubernetes", "overlay", "ovn-kubernetes"},
    {"plan-azure-vnet", "l2tunnel", "azure-vnet"},
    {"plan-external", "l2bridge", "external"},
};

static void open_plan(size_t i) {
    open_run(&r, plans[i].mode);
    put_more_programs();
    r.options.dry_run = true;
    r.options.network_plugin = xstrdup(plans[i].plugin);
    text_list_add(&r.options.pod_cidrs, "10.244.3.0/24");
}

static void a_dry_run_says_all(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(plans); i++) {
        struct text t = {.cap = 1 << 20};
        struct error err = {0};
        _cleanup_(freep) char *text = NULL;
        json_t *plan = NULL;

        open_plan(i);
        {
            struct join join = {.host = r.host,
                                .http = r.http,
                                .asked = &r.options,
                                .progress = {.listener = tell_event, .context = &t}};
            int result = join_open(&join, &err);

            if (result == 0)
                result = join_run_phases(&join, true, &err);
            if (result == 0)
                result = join_plan_make(&join, &plan, &err);
            if (result < 0)
                fail_msg("%s: %s", plans[i].name, err.message);
            join_close(&join);
        }
        text = join_plan_text(plan);
        text_addf(&t, "==== text\n%s==== document\n", text);
        add_document(&t, plan);
        assert_expected(plans[i].name, text_str(&t));
        json_decref(plan);
        text_free(&t);
        close_run(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_and_resets),
        cmocka_unit_test(a_dry_run_says_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
