/* The phase that starts containerd and waits for its pipe. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/phases.h"
#include "join/programs/programs.h"
#include "join/services/service_start.h"
#include "services/cri.h"

enum { START_TIMEOUT_MS = 30000 };

struct starting {
    struct join *join;
    const char *pipe; /* containerd's */
};

static enum wait_look look_pipe(void *context, struct wait *wait, struct error *err) {
    const struct starting *s = context;

    if (host_pipe_exists(s->join->host, s->pipe))
        return LOOK_DONE;
    if (service_watch_look(&s->join->watch, NULL, err) < 0)
        return LOOK_FAILED;
    wait->limit_ms = service_watch_limit(&s->join->watch, START_TIMEOUT_MS);
    (void)error_set(err, ERROR_TIMED_OUT, "for the pipe %s", s->pipe);
    return LOOK_AGAIN;
}

static int wait_pipe(struct join *join, const char *pipe, struct error *err) {
    struct starting starting = {.join = join, .pipe = pipe};
    struct wait wait = {.limit_ms = START_TIMEOUT_MS,
                        .pause_ms = 250,
                        .look = look_pipe,
                        .tell = join_tell_missing,
                        .context = &starting,
                        .tell_context = &join->progress};
    enum wait_look end = wait_until(join->host, &wait, err);

    if (end != LOOK_AGAIN)
        return end;
    (void)error_set(err, ERROR_TIMED_OUT, "wait for '%s': containerd did not open it", pipe);
    return error_hint(err, "its log: %s", service_containerd.log_folder);
}

int phase_containerd(struct join *join, struct error *err) {
    _cleanup_(freep) char *pipe = cri_pipe_path(
        join->found.options.cri_socket ? join->found.options.cri_socket : KUBELET_CRI_SOCKET);
    struct service_settings settings;

    if (journal_own_folder(&join->journal, service_containerd.data_folder, err) < 0)
        return -1;
    programs_service_settings(join->host, &join->found, &settings);
    if (service_start(&join->watch, &join->journal, &service_containerd, &settings, err) < 0 ||
        wait_pipe(join, pipe, err) < 0)
        return -1;
    text_addf(&join->progress.detail, "running, %s", pipe);
    return 0;
}
