/* Replays recordings of what upstream programs sent to HNS against the model, and counts: every
 * call that succeeded must succeed, every call that failed must fail with the recorded code
 * (injected where the recording injected it). replay [-v] FILE...; last line `N passed, N failed, N
 * skipped`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hns/replay.h"

enum { ADOPTED_ADAPTERS = 64, SHOWN_MAX = 40 };

static bool verbose;

/* ---- the model's side ---- */

static struct hns_model *new_model(void) {
    struct hns_model *model = hns_model_new(NULL);
    json_t *adapters = json_array(), *op;
    char alias[32];

    for (int i = -2; i < ADOPTED_ADAPTERS; i++) {
        (void)snprintf(alias, sizeof(alias), "adopted%d", i);
        json_array_append_new(adapters, json_pack("{s:s, s:s, s:[s], s:b}", "alias",
                                                  i == -2   ? "eth0"
                                                  : i == -1 ? "Ethernet"
                                                            : alias,
                                                  "mac", "00-15-5D-00-00-01", "addresses",
                                                  "10.200.0.11/24", "dhcp", 1));
    }
    op = json_pack("{s:s, s:o, s:b}", "op", "set", "adapters", adapters, "anySystem", 1);
    json_decref(hns_model_control(model, op, NULL));
    json_decref(op);
    return model;
}

/* The inputs of a recorded line in order, handles and ids as the model knows them. */
struct inputs {
    const char *arg[5];
    size_t n;
    char *owned;
};

static const char *own_handle(const struct replay *r, const char *recorded) {
    const char *mine = json_string_value(json_object_get(r->handles, recorded));

    return mine ? mine : recorded;
}

/* A POST that made an object makes it under the same id again. */
static char *with_id(const json_t *line, const char *request) {
    json_t *body = json_loads(request, 0, NULL), *answer = replay_output(line, 0);
    const char *id = replay_text(json_object_get(answer, "Output"), "ID");
    char *text = NULL;

    if (body && *id) {
        json_object_set_new(body, "ID", json_string(id));
        text = json_dumps(body, 0);
    }
    json_decref(answer);
    json_decref(body);
    return text;
}

static void take_inputs(const struct replay *r, const json_t *line, struct inputs *ret) {
    const char *fn = replay_text(line, "fn"), *key;
    const json_t *args = json_object_get(line, "args");
    json_t *value;

    memset(ret, 0, sizeof(*ret));
    json_object_foreach((json_t *)args, key, value) {
        const char *text = json_string_value(value);

        if (ret->n == 5)
            break;
        if (strstr(key, "Handle"))
            text = own_handle(r, text);
        else if (!strncmp(fn, "HcnCreate", 9) && !strcmp(key, "Id") &&
                 json_object_get(line, "made"))
            text = replay_text(line, "made");
        ret->arg[ret->n++] = text;
    }
    if (!strcmp(fn, "HNSCall") && !strcmp(ret->arg[0], "POST") && !strchr(ret->arg[1] + 1, 'x') &&
        (ret->owned = with_id(line, ret->arg[2])))
        ret->arg[2] = ret->owned;
}

/* ---- what a line said ---- */

static unsigned recorded_hr(const json_t *line) {
    return (unsigned)strtoul(replay_text(line, "hr"), NULL, 0);
}

/* The HRESULT, or version 1's ErrorCode. */
static unsigned outcome(unsigned hr, const char *fn, const json_t *first) {
    if (hr || strcmp(fn, "HNSCall") || json_is_true(json_object_get(first, "Success")))
        return hr;
    return (unsigned)json_integer_value(json_object_get(first, "ErrorCode"));
}

static unsigned recorded_outcome(const json_t *line) {
    json_t *first = replay_output(line, 0);
    unsigned hr = outcome(recorded_hr(line), replay_text(line, "fn"), first);

    json_decref(first);
    return hr;
}

static unsigned answer_outcome(const char *fn, const struct hns_answer *answer) {
    json_t *first = answer->out[0] ? json_loads(answer->out[0], JSON_DECODE_ANY, NULL) : NULL;
    unsigned hr = outcome(answer->hresult, fn, first);

    json_decref(first);
    return hr;
}

/* ---- one line ---- */

static json_t *list_of(const char *fn, json_t *first) {
    if (strcmp(fn, "HNSCall"))
        return json_incref(first);
    return json_incref(json_object_get(first, "Output"));
}

/* Before an enumeration: the scene becomes what the recorded answer lists. */
static void set_scene_of_list(struct replay *r, const json_t *line, int kind,
                              const struct inputs *in) {
    const char *fn = replay_text(line, "fn");
    json_t *first = replay_output(line, 0), *ids = list_of(fn, first), *mine, *listed;
    struct hns_answer answer;

    (void)hns_model_call(r->model, fn, in->arg, in->n, &answer);
    mine = answer.out[0] ? json_loads(answer.out[0], JSON_DECODE_ANY, NULL) : NULL;
    listed = list_of(fn, mine);
    if (json_is_array(ids))
        replay_listed(r, kind, ids, listed);
    json_decref(listed);
    json_decref(mine);
    json_decref(ids);
    json_decref(first);
    hns_answer_free(&answer);
}

static void set_scene_of_path(struct replay *r, const struct inputs *in) {
    const char *path = in->arg[1];
    int kind = !strncmp(path, "/networks/", 10)    ? REPLAY_NETWORK
               : !strncmp(path, "/endpoints/", 11) ? REPLAY_ENDPOINT
                                                   : -1;
    char id[40];

    if (kind >= 0 && sscanf(path + (kind == REPLAY_NETWORK ? 10 : 11), "%36[^/]", id) == 1)
        replay_adopt(r, kind, id);
}

static void set_scene(struct replay *r, const json_t *line, const struct inputs *in) {
    const char *fn = replay_text(line, "fn"),
               *id = replay_text(json_object_get(line, "args"), "Id");
    int kind = replay_kind_of(fn);
    bool good = !recorded_outcome(line);

    if (!strcmp(fn, "HcsOpenComputeSystem"))
        json_decref(replay_control(r, json_pack("{s:s, s:b}", "op", "set", "anySystem", good)));
    if (good && !strncmp(fn, "HcnEnumerate", 12))
        set_scene_of_list(r, line, kind, in);
    else if (!strcmp(fn, "HNSCall") && good && !strcmp(in->arg[1], "/networks/") &&
             !strcmp(in->arg[0], "GET"))
        set_scene_of_list(r, line, REPLAY_NETWORK, in);
    else if (!strcmp(fn, "HNSCall") && good && !strcmp(in->arg[1], "/endpoints/") &&
             !strcmp(in->arg[0], "GET"))
        set_scene_of_list(r, line, REPLAY_ENDPOINT, in);
    else if (!strcmp(fn, "HNSCall") && good)
        set_scene_of_path(r, in);
    else if (!strncmp(fn, "HcnOpen", 7) && good)
        replay_adopt(r, kind, id);
    else if (!strncmp(fn, "HcnOpen", 7))
        replay_drop(r, kind, id);
}

/* A failure that the model would not give by itself: was it injected into the recording? Whether it
 * comes by itself is found out by trying, except where that would change more than one object. */
static void inject(struct replay *r, const json_t *line) {
    unsigned hr = recorded_hr(line), code = recorded_outcome(line);
    char text[16];

    (void)snprintf(text, sizeof(text), "0x%08x", code);
    json_decref(replay_control(r, json_pack("{s:s, s:s, s:s, s:i, s:b}", "op", "rule", "fn",
                                            replay_text(line, "fn"), "hr", text, "count", 1, "soft",
                                            !hr && code)));
    r->injected++;
}

static bool is_creation(const char *fn, const struct inputs *in) {
    return !strncmp(fn, "HcnCreate", 9) ||
           (!strcmp(fn, "HNSCall") && in->arg[0] && !strcmp(in->arg[0], "POST") &&
            !strstr(in->arg[1], "tach"));
}

/* What succeeded against the recording is taken back. */
static void undo(struct replay *r, const char *fn, const struct hns_answer *answer) {
    char *object = NULL;
    json_t *first = answer->out[0] ? json_loads(answer->out[0], JSON_DECODE_ANY, NULL) : NULL;
    const char *id = replay_text(json_object_get(first, "Output"), "ID");

    if (!strcmp(fn, "HNSCall"))
        replay_drop(r, REPLAY_NETWORK, id);
    else if ((object = hns_model_handle(r->model, answer->out[0])))
        replay_drop(r, replay_kind_of(fn), strchr(object, ' ') + 1);
    free(object);
    json_decref(first);
}

static bool fails_by_itself(struct replay *r, const json_t *line, const struct inputs *in) {
    const char *fn = replay_text(line, "fn");
    struct hns_answer answer;
    unsigned hr, wanted = recorded_outcome(line);

    if (!strncmp(fn, "HcnOpen", 7) || !strncmp(fn, "Hcs", 3) || wanted == 0x803b0014)
        return true;
    if (!is_creation(fn, in))
        return false;
    (void)hns_model_call(r->model, fn, in->arg, in->n, &answer);
    hr = answer_outcome(fn, &answer);
    if (!hr)
        undo(r, fn, &answer);
    hns_answer_free(&answer);
    return hr == wanted;
}

/* ---- comparing ---- */

/* What a caller reads back of an endpoint, a load balancer or a namespace must be what was recorded
 * (but a namespace's Resources: the old model listed an endpoint that was added twice twice). */
static const char *differs(const json_t *line, const struct hns_answer *answer) {
    static const char *const members[] = {"Name",         "IpConfigurations",     "Policies",
                                          "FrontendVIPs", "HostComputeEndpoints", "PortMappings",
                                          "SourceVIP"};
    const char *fn = replay_text(line, "fn"), *found = NULL;
    json_t *theirs, *ours;

    if (strncmp(fn, "HcnQuery", 8) || replay_kind_of(fn) == REPLAY_NETWORK || !answer->out[0])
        return NULL;
    theirs = replay_output(line, 0);
    ours = json_loads(answer->out[0], 0, NULL);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && !found; i++) {
        json_t *a = json_object_get(theirs, members[i]), *b = json_object_get(ours, members[i]);

        if (a && !json_equal(a, b))
            found = members[i];
    }
    json_decref(theirs);
    json_decref(ours);
    return found;
}

static void remember_handle(struct replay *r, const json_t *line, const struct hns_answer *answer) {
    const char *fn = replay_text(line, "fn");
    const char *theirs = json_string_value(json_array_get(json_object_get(line, "out"), 0));

    if (theirs && answer->out[0] &&
        (!strncmp(fn, "HcnOpen", 7) || !strncmp(fn, "HcnCreate", 9) || !strncmp(fn, "HcsOpen", 7) ||
         !strncmp(fn, "HcsRegister", 11)))
        json_object_set_new(r->handles, theirs, json_string(answer->out[0]));
}

static void judge(struct replay *r, const json_t *line, const struct hns_answer *answer) {
    const char *fn = replay_text(line, "fn"), *member;
    unsigned theirs = recorded_outcome(line), ours = answer_outcome(fn, answer);

    member = theirs == ours && !ours ? differs(line, answer) : NULL;
    if (theirs == ours && !member) {
        r->taken++;
        return;
    }
    if (r->refused++ < SHOWN_MAX || verbose)
        (void)printf("%s: n=%d %s: recorded 0x%08x, model 0x%08x %s%s\n", r->name,
                     (int)json_integer_value(json_object_get(line, "n")), fn, theirs, ours,
                     member ? "another " : "",
                     member                                    ? member
                     : answer->n && answer->out[answer->n - 1] ? answer->out[answer->n - 1]
                                                               : "");
}

static void replay_line(struct replay *r, const json_t *line) {
    const char *fn = replay_text(line, "fn");
    struct inputs in;
    struct hns_answer answer;

    replay_version(r);
    take_inputs(r, line, &in);
    set_scene(r, line, &in);
    if (recorded_outcome(line) && !fails_by_itself(r, line, &in))
        inject(r, line);
    (void)hns_model_call(r->model, fn, in.arg, in.n, &answer);
    remember_handle(r, line, &answer);
    judge(r, line, &answer);
    hns_answer_free(&answer);
    free(in.owned);
}

/* ---- files ---- */

static json_t *read_lines(const char *path) {
    FILE *file = fopen(path, "r");
    json_t *lines = json_array(), *line;

    if (!file) {
        json_decref(lines);
        return NULL;
    }
    while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)))
        json_array_append_new(lines, line);
    (void)fclose(file);
    return lines;
}

static void run(struct replay *r) {
    const json_t *line;

    r->model = new_model();
    r->handles = json_object();
    r->made = json_object();
    for (int k = 0; k < 5; k++)
        r->known[k] = json_object();
    for (int k = 0; k < 2; k++)
        r->known_v1[k] = json_object();
    replay_learn(r);
    json_array_foreach(r->lines, r->at, line) {
        if (json_object_get(line, "mark"))
            replay_mark(r, replay_text(line, "mark"));
        if (json_object_get(line, "fn") && strcmp(replay_text(line, "dll"), "exec"))
            replay_line(r, line);
    }
    for (int k = 0; k < 5; k++)
        json_decref(r->known[k]);
    for (int k = 0; k < 2; k++)
        json_decref(r->known_v1[k]);
    json_decref(r->handles);
    json_decref(r->made);
    hns_model_free(r->model);
}

int main(int argc, char **argv) {
    unsigned taken = 0, refused = 0, passed = 0, failed = 0;
    int first = argc > 1 && !strcmp(argv[1], "-v") ? 2 : 1;

    verbose = first == 2;
    for (int i = first; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');
        struct replay r = {.name = slash ? slash + 1 : argv[i], .lines = read_lines(argv[i])};

        if (json_array_size(r.lines))
            run(&r);
        (void)printf("%-32s %5u taken %4u refused (%u injected, scene: %u adopted %u dropped)\n",
                     r.name, r.taken, r.refused, r.injected, r.adopted, r.dropped);
        taken += r.taken;
        refused += r.refused;
        if (r.taken && !r.refused)
            passed++;
        else
            failed++; /* a file without a call is not a recording */
        json_decref(r.lines);
    }
    (void)printf("%u calls taken, %u refused\n", taken, refused);
    (void)printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
