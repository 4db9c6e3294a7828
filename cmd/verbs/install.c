/* winjoin install: copies this program to its place, with --as-kubeadm also as kubeadm.exe. A real
 * kubeadm.exe is renamed first, and --remove restores it. */
#include "cmd/program.h"
#include "host/path.h"
#include "node/folders.h"

#define KUBEADM_KEPT "kubeadm.exe.kept"
enum { PROGRAM_MAX = 256 * 1024 * 1024 };

struct place {
    char *folder, *winjoin, *kubeadm, *kept;
    json_t *rows; /* The files that were changed, for the result. */
};

/* Sets *ret_real when the file is there and is not winjoin. Each winjoin that can act as kubeadm
 * contains kubeadm_mark, and no real kubeadm does. */
static int look(struct host *host, const char *path, bool *ret_real, struct error *err) {
    size_t len, mark = strlen(kubeadm_mark);
    _cleanup_(freep) char *data = NULL;

    *ret_real = false;
    if (host_file_type(host, path) == HOST_ABSENT)
        return 0;
    if (host_read(host, path, PROGRAM_MAX, &data, &len, err) < 0)
        return -1;
    *ret_real = true;
    for (size_t i = 0; i + mark <= len && *ret_real; i++)
        *ret_real = memcmp(data + i, kubeadm_mark, mark) != 0;
    return 0;
}

static void tell(const struct program *program, const struct place *place, const char *what,
                 const char *path) {
    output_format(program, "%-9s %s\n", what, path);
    json_array_append_new(place->rows, json_pack("{s:s, s:s}", "path", path, "outcome", what));
}

static int copy_self(const struct program *program, const struct place *place, const char *self,
                     const char *to, struct error *err) {
    _cleanup_(freep) char *data = NULL;
    size_t len;

    if (text_equal_nocase(self, to)) {
        tell(program, place, "present", to);
        return 0;
    }
    if (host_read(program->host, self, PROGRAM_MAX, &data, &len, err) < 0 ||
        host_write(program->host, to, data, len, HOST_PUBLIC, err) < 0)
        return error_prefix(err, "copy winjoin to '%s'", to);
    tell(program, place, "installed", to);
    return 0;
}

static int remove_kubeadm(const struct program *program, const struct place *place,
                          struct error *err) {
    bool real, there = host_file_type(program->host, place->kubeadm) != HOST_ABSENT;

    if (look(program->host, place->kubeadm, &real, err) < 0)
        return -1;
    if (real)
        return error_set(err, ERROR_CONFLICT, "'%s' is not winjoin: it stays", place->kubeadm);
    if (there && host_remove(program->host, place->kubeadm, err) < 0)
        return -1;
    if (there)
        tell(program, place, "removed", place->kubeadm);
    if (host_file_type(program->host, place->kept) == HOST_ABSENT)
        return 0;
    if (host_refuse_untrusted(program->host, place->kept, err) < 0 ||
        host_rename(program->host, place->kept, place->kubeadm, err) < 0)
        return -1;
    tell(program, place, "restored", place->kubeadm);
    return 0;
}

static int install(const struct program *program, const struct place *place, struct error *err) {
    _cleanup_(freep) char *self = host_program_path(program->host);
    struct host *host = program->host;
    /* The administrator chose this folder with --to, so its access rights stay. */
    bool chosen = program->options.to && !node_folder_find(place->folder), real = false;

    if (!self)
        return error_set(err, ERROR_HOST, "install winjoin: its own path is not known");
    if (program->options.as_kubeadm && look(host, place->kubeadm, &real, err) < 0)
        return -1;
    if (real && !program->options.yes) {
        (void)error_set(err, ERROR_CONFLICT, "'%s' exists and is not winjoin", place->kubeadm);
        return error_hint(err, "--force keeps it as " KUBEADM_KEPT
                               "; winjoin install --as-kubeadm --remove gives it back");
    }
    if (real) {
        if (host_rename(host, place->kubeadm, place->kept, err) < 0)
            return -1;
        tell(program, place, "kept", place->kept);
    }
    if ((chosen ? host_refuse_untrusted(host, place->folder, err)
                : node_folder_close(host, place->folder, err)) < 0 ||
        copy_self(program, place, self, place->winjoin, err) < 0)
        return -1;
    return program->options.as_kubeadm ? copy_self(program, place, self, place->kubeadm, err) : 0;
}

int verb_install(struct program *program, struct error *err) {
    const char *to = program->options.to ? program->options.to : "C:\\k";
    _cleanup_(freep) char *full = terminal_full_path(to);
    struct place place = {0};
    int result;

    if (program->options.remove && !program->options.as_kubeadm)
        return error_set(err, ERROR_USAGE,
                         "--remove is for --as-kubeadm: winjoin.exe is deleted as any file, after "
                         "winjoin reset");
    place.rows = json_array();
    result = path_normalize(full, &place.folder, err);
    if (result < 0)
        (void)error_prefix(err, "--to");
    else if (program->options.to && host_file_type(program->host, place.folder) != HOST_FOLDER)
        result = error_set(err, ERROR_USAGE, "--to: '%s' is not a folder", to);
    if (result == 0) {
        place.winjoin = xasprintf("%s\\winjoin.exe", place.folder);
        place.kubeadm = xasprintf("%s\\kubeadm.exe", place.folder);
        place.kept = xasprintf("%s\\" KUBEADM_KEPT, place.folder);
        result = program->options.remove ? remove_kubeadm(program, &place, err)
                                         : install(program, &place, err);
    }
    output_result(program, json_pack("{s:s, s:s, s:o}", JSON_DOCUMENT("InstallResult"), "files",
                                     take_ptr(place.rows)));
    free_all(place.folder, place.winjoin, place.kubeadm, place.kept);
    return result;
}
