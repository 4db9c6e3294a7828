/* A queue of questions to probes: whose each is, how often, until when. A carrier takes a whole
 * queue to the probes, and hands each answer to the asker when it comes. */
#pragma once

#include "kube/client.h"

struct ask {
    struct ask_queue *queue;
    char *path;        /* of agnhost, through the API server's pod proxy (dial_path()); owned */
    size_t whose;      /* for the asker: which cell, node or row it is about, */
    unsigned what;     /* and which question of these */
    unsigned until_ms; /* how long its answer is waited for */
    bool over;         /* it is not asked again */
};
/* Zero-initialise; ask_queue_free(). */
struct ask_queue {
    struct ask *items;
    size_t count;
    /* Called once an answer, as a carrier gets them; both live for the call. `status`, `answer` and
     * `answer_len` are filled by each carrier, the others by the proxy alone. */
    void (*answered)(struct ask *ask, const struct kube_many *answer);
    void *context; /* the asker's */
};
/* `path` is taken over; NULL: there is no such question, and the answer is false. */
bool ask_add(struct ask_queue *queue, char *path, size_t whose, unsigned what, unsigned until_ms);
void ask_queue_free(struct ask_queue *queue);

/* By the API server's proxy to pods, `at_once` at the same time (0: all): the questions from place
 * `begin` to `end` of a line in which the whole queue stands again and again. */
void ask_by_proxy(struct kube_client *client, struct ask_queue *queue, size_t begin, size_t end,
                  size_t at_once);

/* By exec, which goes through the kubelet: the pod's shell puts its whole queue to its own netexec
 * at the same time. */
struct ask_pod {
    const char *namespace_, *name; /* borrowed */
    struct ask_queue queue;        /* of a pod without questions nothing is done */
    bool asked;
    char *failure; /* why that failed, as kube_exec() says it; or NULL */
};
/* Each question `lanes` times; 32 pods at the same time, and no more after `until`
 * (host_monotonic_ms). */
void ask_by_exec(struct kube_client *client, struct ask_pod *pods, size_t count, unsigned lanes,
                 uint64_t until);
void ask_pods_free(struct ask_pod *pods, size_t count); /* and the array itself */
/* The line for that shell; the caller frees. And what it printed, as answers. */
char *ask_script_make(const struct ask_queue *queue, unsigned lanes);
void ask_script_read(struct ask_queue *queue, const char *out, size_t len);
