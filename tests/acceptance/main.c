/* acceptance.exe [--adapter ALIAS] [--kubeconfig FILE] [--output FOLDER] [--only ID]
 *                [--join WORDS...]
 *
 * Without a word: what a server without a cluster can show. --adapter lets it make HNS networks on
 * this adapter, one mode after the other (offline for some seconds each). --join takes the words of
 * a `winjoin join` behind it: joins, looks, and resets. Exit code 0: no row failed; 1: one did; 3:
 * usage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <windows.h>

#include "base/memory.h"
#include "tests/acceptance/acceptance.h"

enum { ROWS_MAX = 512 };

static const char *lacking(const struct kit *kit, unsigned needs) {
    if (needs & NEEDS_WINDOWS && kit->wine)
        return "Wine does not have it";
    if (needs & NEEDS_NODE && !kit->joined)
        return "this server is not a node; join it first, or give --join";
    if (needs & NEEDS_ADAPTER && !kit->adapter)
        return "give --adapter ALIAS (ipconfig lists them); the server is offline for some seconds";
    if (needs & NEEDS_KUBECONFIG && !kit->kubeconfig)
        return "give --kubeconfig FILE, of the cluster's administrator";
    return needs & NEEDS_JOIN && !kit->join ? "give --join and the words of a join" : NULL;
}

static void play(struct kit *kit, const struct row *row) {
    const char *lacks = lacking(kit, row->needs);
    struct finding f = {0};

    if (kit->only && !strstr(row->id, kit->only))
        return;
    if (lacks)
        finding_skip(&f, "%s", lacks);
    else
        row->look(kit, row, &f);
    report_row(row, &f);
    text_free(&f.found);
    json_decref(f.differences);
}

static void play_all(struct kit *kit, const struct row *rows) {
    for (; rows->id; rows++)
        play(kit, rows);
}

static void play_some(struct kit *kit, const struct row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        play(kit, &rows[i]);
        free((void *)(size_t)rows[i].id);
    }
}

/* A node that winjoin has joined has a kubelet of it. */
static bool is_node(struct host *host) {
    struct host_service kubelet = {0};
    struct error err = {0};
    bool joined = host_service_query(host, "kubelet", &kubelet, &err) == 0 &&
                  kubelet.state != HOST_SERVICE_ABSENT && kubelet.description &&
                  text_starts_with(kubelet.description, "winjoin:");

    host_service_free(&kubelet);
    return joined;
}

static int usage(const char *word) {
    (void)fprintf(stderr,
                  "acceptance: %s\nusage: acceptance [--adapter ALIAS] [--kubeconfig FILE] "
                  "[--output FOLDER] [--only ID] [--join WORDS...]\n",
                  word);
    return 3;
}

/* The kit's own folder, without the last separator; the caller frees. */
static char *own_folder(struct host *host) {
    char *path = host_program_path(host);

    *strrchr(path, '\\') = '\0';
    return path;
}

static void play_kit(struct kit *kit) {
    static struct row rows[ROWS_MAX];
    _cleanup_(freep) char *work = xasprintf("%s\\work", kit->folder);
    _cleanup_(freep) char *build = xasprintf("%s\\build", work);
    struct error err = {0};

    /* The unit tests write to build/ where they are started. */
    if (host_make_folder(kit->host, build, HOST_PUBLIC, &err) < 0 || !SetCurrentDirectoryA(work))
        (void)fprintf(stderr, "acceptance: %s cannot be used: %s\n", work, err.message);

    kit->joined = is_node(kit->host);
    play_all(kit, machine_rows);
    play_all(kit, write_rows);
    play_all(kit, stranger_rows);
    play_all(kit, service_rows);
    play_some(kit, rows, unit_rows(kit, rows, ROWS_MAX));
    play_some(kit, rows, hns_rows(rows, ROWS_MAX));
    play_all(kit, join_rows);
    kit->joined = is_node(kit->host);
    play_all(kit, node_rows);
    play_all(kit, node_stranger_rows);
    play_all(kit, leave_rows);
    (void)SetCurrentDirectoryA(kit->folder); /* what follows has whole paths */
    if (host_remove_tree(kit->host, work, &err) < 0)
        (void)fprintf(stderr, "acceptance: %s\n", err.message);
}

int main(int argc, char **argv) {
    struct kit kit = {0};
    struct error err = {0};
    const char *output = NULL;

    if (argc == 2 && strcmp(argv[1], "--hosted") == 0)
        return services_hosted();
    if (argc == 3 && strcmp(argv[1], "--attack") == 0)
        return stranger_attacks(argv[2]);
    if (host_open(NULL, &kit.host, &err) < 0)
        return usage(err.message);
    for (int i = 1; i < argc && !kit.join; i++) {
        if (strcmp(argv[i], "--join") == 0)
            kit.join = argv + i + 1;
        else if (i + 1 == argc)
            return usage(argv[i]);
        else if (strcmp(argv[i], "--adapter") == 0)
            kit.adapter = argv[++i];
        else if (strcmp(argv[i], "--kubeconfig") == 0)
            kit.kubeconfig = argv[++i];
        else if (strcmp(argv[i], "--output") == 0)
            output = argv[++i];
        else if (strcmp(argv[i], "--only") == 0)
            kit.only = argv[++i];
        else
            return usage(argv[i]);
    }
    kit.folder = own_folder(kit.host);
    kit.winjoin = xasprintf("%s\\winjoin.exe", kit.folder);
    kit.wine = GetProcAddress(GetModuleHandleA("ntdll.dll"), "wine_get_version") != NULL;
    hns_record(kit.host);
    play_kit(&kit);
    int code = report_write(&kit, output ? output : kit.folder);
    free(kit.winjoin);
    free(kit.folder);
    host_free(kit.host);
    return code;
}
