/* Commands on a host in memory that checks each of their calls for what an ordinary user could have
 * had a hand in by then (tests/memory/access.c). */
#include "tests/scene/upgrade_scene.h"

#include "node/keeper/network_keeper.h"
#include "tests/scene/access_scene.h"

/* As a process of its own: nothing is known of what an earlier one asked. */
static void checked(struct run *r, const char *mode, const char *what,
                    int once(struct run *r, struct error *err)) {
    struct error err = {0};

    host_memory_check_access(r->host);
    if (once(r, &err) < 0)
        fail_msg("%s, %s: %s", mode, what, err.message);
}

static int upgrade(struct run *r, struct error *err) {
    return upgrade_once(r, false, false, NULL, err);
}

static const struct row {
    const char *name, *mode, *plugin;
    const char *conf; /* of a plugin that brings its own; else NULL */
    bool no_prefix;
} rows[] = {
    {"overlay", "overlay", NULL, NULL, false},
    {"l2bridge", "l2bridge", "sdnbridge", NULL, false},
    {"azure", "l2tunnel", "azure-vnet", "C:\\etc\\cni\\net.d\\10-winjoin.conflist", true},
    {"external", "l2bridge", "external", "C:\\etc\\cni\\net.d\\10-calico.conf", false},
};

/* The cluster's own agent writes its configuration, too. */
static void play(void *context, struct host *host) {
    const struct api_scene *scene = context;

    scene_on_sleep(context, host);
    if (scene->conf && strstr(scene->conf, "calico") &&
        host_file_type(host, scene->conf) == HOST_ABSENT && scene_runs(scene, "containerd"))
        assert_int_equal(host_write(host, scene->conf, "{\"name\":\"n\",\"type\":\"calico\"}", 28,
                                    HOST_PUBLIC, NULL),
                         0);
}

/* An hour of winjoin-network, in which HNS restarts. */
static void play_hour(void *context, struct host *host) {
    const uint64_t *begin = context;
    static bool restarted;

    if (host_monotonic_ms(host) < *begin + 60000)
        restarted = false;
    else if (!restarted) {
        host_memory_restart_hns(host);
        restarted = true;
    }
    if (host_monotonic_ms(host) > *begin + 3600 * 1000)
        host_memory_interrupt(host);
}

static void tell(void *context, char level, const char *text) {
    (void)context, (void)level, (void)text;
}

static void keep_for_an_hour(struct run *r, const char *name) {
    struct network_keeper keeper = {.host = r->host, .tell = tell};
    uint64_t begin = host_monotonic_ms(r->host);
    struct error err = {0};

    host_memory_check_access(r->host);
    host_memory_on_sleep(r->host, play_hour, &begin);
    if (network_keeper_begin(&keeper, &err) < 0 || network_keeper_run(&keeper, &err) < 0)
        fail_msg("%s: winjoin-network: %s", name, err.message);
    network_keeper_free(&keeper);
}

static void put_more_programs(struct run *r) {
    static const char *const programs[] = {"C:\\k\\flanneld.exe", "C:\\k\\hybrid-overlay-node.exe",
                                           "C:\\opt\\cni\\bin\\azure-vnet.exe",
                                           "C:\\opt\\cni\\bin\\azure-vnet-ipam.exe"};

    for (size_t n = 0; n < ARRAY_SIZE(programs); n++)
        assert_int_equal(host_write(r->host, programs[n], "MZ", 2, HOST_PUBLIC, NULL), 0);
}

static void ask_for(struct run *r, const struct row *row) {
    set_options(r, row->mode);
    r->options.network_plugin = xstrdup_null(row->plugin);
}

static void open_row(struct run *r, const struct row *row) {
    open_run(r, row->mode);
    put_more_programs(r);
    put_found_folders(r->host);
    r->scene.no_prefix = row->conf && row->no_prefix;
    r->scene.conf = row->conf;
    r->scene.other_node = "10.244.7.0/24 10.0.0.77";
    host_memory_on_sleep(r->host, play, &r->scene);
    ask_for(r, row);
    checked(r, row->name, "join", join_once);
}

static void joins_and_resets(void **state) {
    size_t lines = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct run r;

        open_row(&r, &rows[i]);
        ask_for(&r, &rows[i]);
        checked(&r, rows[i].name, "the same join again", join_once);
        checked(&r, rows[i].name, "reset", reset_once);
        lines += print_openings(r.host, rows[i].name);
        close_run(&r);
    }
    assert_int_equal(lines, 0);
}

static void an_hour_of_the_network(void **state) {
    size_t lines = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct run r;

        if (rows[i].conf)
            continue;
        open_row(&r, &rows[i]);
        keep_for_an_hour(&r, rows[i].name);
        lines += print_openings(r.host, rows[i].name);
        assert_non_null(strstr(host_memory_log(r.host), "service_stop kube-proxy"));
        close_run(&r);
    }
    assert_int_equal(lines, 0);
}

static void an_upgrade(void **state) {
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    checked(&r, "overlay", "upgrade", upgrade);
    assert_no_openings(r.host, "upgrade");
    close_node(&r, before);
}

/* The check itself sees what a list lets users change, whoever made the file. */
static void an_open_file_is_seen(void **state) {
    _cleanup_(freep) char *content = NULL, *found = NULL;
    struct run r;
    size_t len;

    (void)state;
    open_row(&r, &rows[0]);
    assert_no_openings(r.host, "join");
    assert_int_equal(host_access_set(r.host, "C:\\k\\kubelet.exe", "D:(A;;FA;;;WD)", NULL), 0);
    assert_int_equal(host_read(r.host, "C:\\k\\kubelet.exe", 100, &content, &len, NULL), 0);
    found = text_list_join(host_memory_openings(r.host), "\n");
    assert_non_null(strstr(found, "change C:\\k\\kubelet.exe"));
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_and_resets),
        cmocka_unit_test(an_hour_of_the_network),
        cmocka_unit_test(an_upgrade),
        cmocka_unit_test(an_open_file_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
