/* A queue of questions to probes: which cell each question is about, whether it is asked again, and
 * how long its answer is waited for. A carrier takes a whole queue to the probes and hands each
 * answer to the owner of the queue when it comes. */
#pragma once

#include "kube/client.h"

struct ask {
    struct ask_queue *queue;
    /* The path of agnhost's page through the API server's pod proxy (dial_path()); owned. */
    char *path;
    size_t whose;      /* The asker's index of the cell, node or row that the question is about. */
    unsigned what;     /* The asker's number of the question among those about `whose`. */
    unsigned until_ms; /* Milliseconds that the carrier waits for the answer. */
    bool over;         /* The question is not asked again. */
};
/* The caller zero-initializes a queue, and frees it with ask_queue_free(). */
struct ask_queue {
    struct ask *items;
    size_t count;
    /* A carrier calls this once for each answer, when it comes; both arguments are valid during the
     * call only. Each carrier fills `status`, `answer` and `answer_len`; only the proxy fills the
     * other fields. */
    void (*answered)(struct ask *ask, const struct kube_many *answer);
    void *context; /* Belongs to the asker; carriers do not use it. */
};
/* Adds a question, and takes over `path`. A NULL path means that there is no such question: nothing
 * is added, and the function returns false. */
bool ask_add(struct ask_queue *queue, char *path, size_t whose, unsigned what, unsigned until_ms);
void ask_queue_free(struct ask_queue *queue);

/* Sends questions through the API server's proxy to pods, `at_once` of them at the same time (0
 * means all). The numbers from `begin` up to `end`, without `end`, choose the questions: number i
 * is item i modulo the length of the queue, as if the queue repeated itself. */
void ask_by_proxy(struct kube_client *client, struct ask_queue *queue, size_t begin, size_t end,
                  size_t at_once);

/* A pod with its questions, which are put by exec, through the kubelet: the pod's shell asks the
 * pod's own netexec all of them at the same time. */
struct ask_pod {
    const char *namespace_, *name; /* Namespace and name of the pod; both are borrowed. */
    struct ask_queue queue;        /* A pod without questions is skipped. */
    bool asked;
    /* Why exec in this pod failed, as kube_exec() says it; NULL when it did not. Owned. */
    char *failure;
};
/* Asks each question `lanes` times in its pod. Serves 32 pods at the same time, and begins with no
 * further pod after `until` (a time of host_monotonic_ms()). */
void ask_by_exec(struct kube_client *client, struct ask_pod *pods, size_t count, unsigned lanes,
                 uint64_t until);
void ask_pods_free(struct ask_pod *pods, size_t count); /* Frees the pods and the array itself. */
/* ask_script_make() makes the line that the pod's shell runs; the caller frees it.
 * ask_script_read() reads what that line printed, and calls `answered` for each answer. */
char *ask_script_make(const struct ask_queue *queue, unsigned lanes);
void ask_script_read(struct ask_queue *queue, const char *out, size_t len);
