/* How exec carries a queue: a shell in the pod puts all questions to its own netexec at the same
 * time. */
#include "diag/ask/ask.h"

#include "kube/exec.h"

enum {
    ZEROS = 1000, /* so many in a question the shell makes itself */
    OUTPUT_MAX = 256 * 1024,
    TOGETHER = 32,
    EXEC_MS = 6000, /* what a program's start may take beside the questions */
};

/* A question within the quotes of a shell. What large packets are filled with is left to it: all
 * questions of a pod are one command line. */
static void add_question(struct text *t, const char *question) {
    const char *at = question;
    size_t zeros = 0;

    for (; *at && zeros < ZEROS; at += zeros ? zeros : 1)
        zeros = strspn(at, "0");
    if (zeros < ZEROS)
        text_add(t, question);
    else
        text_addf(t, "%.*s'$(printf %%0%zud 0)'%s", (int)(at - question - (ptrdiff_t)zeros),
                  question, zeros, at);
}

/* Status and number stand behind a body, and printf writes all of it at once: answers do not mix. A
 * quote is in no path: what could steer the shell is percent-encoded. */
char *ask_script_make(const struct ask_queue *queue, unsigned lanes) {
    struct text t = {0};

    if (lanes > 1) { /* the command line does not grow with them */
        text_add(&t, "for lane in");
        for (unsigned i = 1; i <= lanes; i++)
            text_addf(&t, " %u", i);
        text_add(&t, "; do ");
    }
    for (size_t i = 0; i < queue->count; i++) {
        const char *question = strstr(queue->items[i].path, "/proxy/"), *port = question;

        if (!question || strchr(question, '\''))
            continue;
        while (port > queue->items[i].path && port[-1] >= '0' && port[-1] <= '9')
            port--;
        text_addf(&t, "(x=$(curl 'http://127.0.0.1:%.*s/", (int)(question - port), port);
        add_question(&t, question + strlen("/proxy/"));
        text_addf(&t, "' -s -m %u -w ' %zu %%{http_code}'); printf '%%s\\n' \"${x}\") & ",
                  queue->items[i].until_ms / 1000, i);
    }
    text_add(&t, lanes > 1 ? "done; wait" : "wait");
    return text_take(&t);
}

/* "BODY 17 200" of a line's end: where its body ends; NULL when this is no such line. */
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

static void ask_some(struct kube_client *client, struct ask_pod **pods, size_t count,
                     unsigned lanes) {
    struct kube_exec execs[TOGETHER] = {0};
    struct kube_exec_result results[TOGETHER] = {0};
    const char *argvs[TOGETHER][4];
    struct error errs[TOGETHER] = {0};

    for (size_t i = 0; i < count; i++) {
        const char *const argv[] = {"sh", "-c", ask_script_make(&pods[i]->queue, lanes), NULL};

        memcpy(argvs[i], argv, sizeof argv);
        execs[i] = (struct kube_exec){.namespace_ = pods[i]->namespace_,
                                      .pod = pods[i]->name,
                                      .container = "neighbor", /* it has a shell */
                                      .argv = argvs[i],
                                      .timeout_ms = pods[i]->queue.items[0].until_ms + EXEC_MS,
                                      .max_output = OUTPUT_MAX};
    }
    kube_exec_all(client, execs, results, errs, count);
    client->requests += (unsigned)count;
    for (size_t i = 0; i < count; i++) {
        pods[i]->asked = true;
        if (errs[i].kind != ERROR_NONE)
            pods[i]->failure = xstrdup(errs[i].message);
        else
            ask_script_read(&pods[i]->queue, text_str(&results[i].out), results[i].out.len);
        kube_exec_result_free(&results[i]);
        free((char *)argvs[i][2]);
    }
}

void ask_by_exec(struct kube_client *client, struct ask_pod *pods, size_t count, unsigned lanes,
                 uint64_t until) {
    struct ask_pod *some[TOGETHER];
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (pods[i].queue.count)
            some[n++] = &pods[i];
        if (!n || (n < TOGETHER && i + 1 < count))
            continue;
        if (host_monotonic_ms(client->host) > until)
            break;
        ask_some(client, some, n, lanes);
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
