/* Sends a queue of questions to probe pods by the API server's proxy or by exec. */
#include "diag/ask/ask.h"
#include "kube/exec.h"

/* ---- the queue, and the API server's proxy to pods ---- */

/* The largest answer of a probe, in bytes: a name, an address, an error or an echo. */
enum { ANSWER_MAX = 64 * 1024 };

bool ask_add(struct ask_queue *queue, char *path, size_t whose, unsigned what, unsigned until_ms) {
    if (path)
        array_add(queue->items, queue->count,
                  (struct ask){queue, path, whose, what, until_ms, false});
    return path;
}

void ask_queue_free(struct ask_queue *queue) {
    for (size_t i = 0; i < queue->count; i++)
        free(queue->items[i].path);
    free(take_ptr(queue->items));
    queue->count = 0;
}

static void on_ended(void *context, const struct kube_many *answer) {
    struct ask *ask = context;

    ask->queue->answered(ask, answer);
}

void ask_by_proxy(struct kube_client *client, struct ask_queue *queue, size_t begin, size_t end,
                  size_t at_once) {
    struct kube_many *items = xcalloc(end - begin + 1, sizeof *items);
    size_t count = 0;

    for (size_t i = begin; i < end; i++) {
        struct ask *ask = &queue->items[i % queue->count];

        if (!ask->over)
            items[count++] = (struct kube_many){.method = "GET",
                                                .path = ask->path,
                                                .timeout_ms = ask->until_ms,
                                                .max_body = ANSWER_MAX,
                                                .ended = on_ended,
                                                .context = ask};
    }
    kube_perform_many(client, items, count, at_once);
    kube_many_free(items, count);
    free(items);
}

/* ---- exec: the pod's shell puts all questions to the pod's own netexec at the same time ---- */

enum {
    /* A question with this many '0' in a row lets the shell make them itself. */
    ZEROS = 1000,
    OUTPUT_MAX = 256 * 1024,
    TOGETHER = 32,
    /* The time that the start of the program in the pod may take, added to that of its
     * questions. */
    EXEC_MS = 6000,
};

/* curl writes the question's number and the HTTP status behind each body, and printf writes body,
 * number and status at once, so that answers do not mix. No path holds a quote: characters that
 * could steer the shell are percent-encoded. */
char *ask_script_make(const struct ask_queue *queue, unsigned lanes) {
    struct text t = {0};

    if (lanes > 1) { /* A loop keeps the command line short. */
        text_add(&t, "for lane in");
        for (unsigned i = 1; i <= lanes; i++)
            text_addf(&t, " %u", i);
        text_add(&t, "; do ");
    }
    for (size_t i = 0; i < queue->count; i++) {
        const char *question = strstr(queue->items[i].path, "/proxy/"), *port = question, *at;
        size_t zeros = 0;

        if (!question || strchr(question, '\''))
            continue;
        while (port > queue->items[i].path && port[-1] >= '0' && port[-1] <= '9')
            port--;
        text_addf(&t, "(x=$(curl 'http://127.0.0.1:%.*s/", (int)(question - port), port);
        /* The shell makes the filling of large packets: all questions of a pod must fit into one
         * command line. */
        question += strlen("/proxy/");
        for (at = question; *at && zeros < ZEROS; at += zeros ? zeros : 1)
            zeros = strspn(at, "0");
        if (zeros < ZEROS)
            text_add(&t, question);
        else
            text_addf(&t, "%.*s'$(printf %%0%zud 0)'%s", (int)(at - question - (ptrdiff_t)zeros),
                      question, zeros, at);
        text_addf(&t, "' -s -m %u -w ' %zu %%{http_code}'); printf '%%s\\n' \"${x}\") & ",
                  queue->items[i].until_ms / 1000, i);
    }
    text_add(&t, lanes > 1 ? "done; wait" : "wait");
    return text_take(&t);
}

/* Reads the end of a line such as "BODY 17 200" (question 17, status 200). Returns where the body
 * ends; NULL when the line has no such end. */
static const char *read_end(const char *line, const char *end, size_t *ret_question,
                            long *ret_status) {
    const char *at = end;
    unsigned long long numbers[2] = {0, 0};

    for (int i = 0; i < 2; i++) {
        unsigned long long scale = 1;
        unsigned digits = 0;

        for (; at > line && at[-1] >= '0' && at[-1] <= '9' && digits < 6; at--, digits++) {
            numbers[i] += scale * (unsigned long long)(at[-1] - '0');
            scale *= 10;
        }
        if (!digits || at == line || at[-1] != ' ')
            return NULL;
        at--;
    }
    *ret_status = (long)numbers[0];
    *ret_question = (size_t)numbers[1];
    return at;
}

void ask_script_read(struct ask_queue *queue, const char *out, size_t len) {
    const char *body = out, *line = out, *end;

    for (; (end = memchr(line, '\n', len - (size_t)(line - out))); line = end + 1) {
        struct kube_many answer = {0};
        size_t question;
        const char *stop = read_end(line, end, &question, &answer.status);

        if (!stop)
            continue;
        if (question < queue->count && answer.status) {
            answer.answer = xstrndup(body, (size_t)(stop - body));
            answer.answer_len = strlen(answer.answer);
            queue->answered(&queue->items[question], &answer);
            free(answer.answer);
        }
        body = end + 1;
    }
}

void ask_by_exec(struct kube_client *client, struct ask_pod *pods, size_t count, unsigned lanes,
                 uint64_t until) {
    struct ask_pod *some[TOGETHER];
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct kube_exec execs[TOGETHER] = {0};
        struct kube_exec_result results[TOGETHER] = {0};
        const char *argvs[TOGETHER][4];
        struct error errs[TOGETHER] = {0};

        if (pods[i].queue.count)
            some[n++] = &pods[i];
        if (!n || (n < TOGETHER && i + 1 < count))
            continue;
        if (host_monotonic_ms(client->host) > until)
            break;
        for (size_t k = 0; k < n; k++) {
            const char *const argv[] = {"sh", "-c", ask_script_make(&some[k]->queue, lanes), NULL};

            memcpy(argvs[k], argv, sizeof argv);
            execs[k] = (struct kube_exec){.namespace_ = some[k]->namespace_,
                                          .pod = some[k]->name,
                                          /* The neighbor container has a shell. */
                                          .container = "neighbor",
                                          .argv = argvs[k],
                                          .timeout_ms = some[k]->queue.items[0].until_ms + EXEC_MS,
                                          .max_output = OUTPUT_MAX};
        }
        kube_exec(client, execs, results, errs, n);
        client->requests += (unsigned)n;
        for (size_t k = 0; k < n; k++) {
            some[k]->asked = true;
            if (errs[k].kind != ERROR_NONE)
                some[k]->failure = xstrdup(errs[k].message);
            else
                ask_script_read(&some[k]->queue, text_str(&results[k].out), results[k].out.len);
            kube_exec_result_free(&results[k]);
            free((char *)argvs[k][2]);
        }
        n = 0;
    }
}

void ask_pods_free(struct ask_pod *pods, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ask_queue_free(&pods[i].queue);
        free(pods[i].failure);
    }
    free(pods);
}
