/* The containerd of this node: ours, or one that an image brought. */
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"

int find_containerd(struct host *host, struct join_found *found, struct error *err) {
    _cleanup_(containerd_settings_free) struct containerd_settings settings = {0};
    _cleanup_(freep) char *socket = NULL;

    if (found->containerd.pipe)
        return 0;
    if (containerd_settings_find(host, &settings, err) < 0)
        return -1;
    socket = text_replace(xasprintf("npipe://%s", settings.pipe), "\\", '/');
    if (!found->options.cri_socket && !text_equal_nocase(socket, KUBELET_CRI_SOCKET))
        found->options.cri_socket = take_ptr(socket);
    found->containerd = take_struct(settings);
    return 0;
}
