/* Texts exchanged in documents on their way to the model, and mostly back in its answers: what a
 * wrong program would have sent, while every program believes that it sent the right thing. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/hns/hnsd.h"

enum { REWRITES = 16 };

static struct rewrite {
    char *function, *find, *replace;
    bool seen, lost;
} rewrites[REWRITES];
static size_t count;

static void forget(void) {
    while (count) {
        struct rewrite *r = &rewrites[--count];

        free(r->function);
        free(r->find);
        free(r->replace);
    }
}

json_t *hnsd_rewrite_add(const json_t *request) {
    const char *function = json_text_at(request, "fn"), *find = json_text_at(request, "find");
    const char *replace = json_text_at(request, "replace");

    if (!function && !find && !replace)
        forget();
    else if (!function || !find || !*find || !replace || count == REWRITES)
        return json_pack("{s:s}", "error", "rewrite wants fn, find and replace");
    else
        rewrites[count++] = (struct rewrite){xstrdup(function), xstrdup(find), xstrdup(replace),
                                             json_is_true(json_object_get(request, "seen")),
                                             json_is_true(json_object_get(request, "lost"))};
    return json_object();
}

static char *exchanged(const char *text, const char *find, const char *replace) {
    struct text out = {.cap = HNSD_FRAME_MAX};

    for (const char *at; (at = strstr(text, find)); text = at + strlen(find)) {
        text_add_bytes(&out, text, (size_t)(at - text));
        text_add(&out, replace);
    }
    text_add(&out, text);
    return text_take(&out);
}

bool hnsd_rewrite_loses(const struct hnsd_request *call) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < call->n_args && rewrites[i].lost; k++)
            if (!strcmp(rewrites[i].function, call->function) && call->args[k] &&
                strstr(call->args[k], rewrites[i].find))
                return true;
    return false;
}

void hnsd_rewrite_call(struct hnsd_request *call, char *made[HNSD_ARGS_MAX]) {
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < call->n_args && !strcmp(rewrites[i].function, call->function); k++) {
            if (!call->args[k] || !strstr(call->args[k], rewrites[i].find))
                continue;
            char *text = exchanged(call->args[k], rewrites[i].find, rewrites[i].replace);

            free(made[k]);
            call->args[k] = made[k] = text;
        }
    }
}

void hnsd_rewrite_answer(struct hns_answer *answer) {
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < answer->n; k++) {
            if (!answer->out[k] || !*rewrites[i].replace || rewrites[i].seen)
                continue;
            char *text = exchanged(answer->out[k], rewrites[i].replace, rewrites[i].find);

            free(answer->out[k]);
            answer->out[k] = text;
        }
    }
}
