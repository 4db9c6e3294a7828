/* Folders and programs of the host that a pod uses, held open against deletion: the rig's pods live
 * in another Wine, which this one's sharing rules do not reach. */
#include "tests/standins/containerd/mounts.h"

#include <stdint.h>
#include <windows.h>

#include "base/memory.h"
#include "base/text.h"

static json_t *held; /* uid of a pod -> handles */

static void hold(json_t *handles, const char *path) {
    HANDLE handle = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                                OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);

    if (handle != INVALID_HANDLE_VALUE)
        (void)json_array_append_new(handles, /* fails on no memory only */
                                    json_integer((json_int_t)(intptr_t)handle));
}

void mounts_hold(const json_t *pod) {
    json_t *handles = json_array(), *entry;
    size_t i;

    if (!held)
        held = json_object();
    json_array_foreach(json_at(pod, "object.spec.volumes"), i, entry) {
        const char *path = json_text_at(entry, "hostPath.path");
        if (path)
            hold(handles, path);
    }
    json_array_foreach(json_at(pod, "object.spec.containers"), i, entry) {
        const char *program = json_text_at(entry, "command.0");
        if (program) /* one of the image's own is not there, and not held */
            hold(handles, program);
    }
    (void)json_object_set_new(held, json_text_at(pod, "uid"), handles); /* no memory only */
}

void mounts_release(const json_t *pod) {
    const char *uid = json_text_at(pod, "uid");
    json_t *handle;
    size_t i;

    json_array_foreach(json_object_get(held, uid), i, handle)
        CloseHandle((HANDLE)(intptr_t)json_integer_value(handle));
    (void)json_object_del(held, uid); /* may not be there */
}
