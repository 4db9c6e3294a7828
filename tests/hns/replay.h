/* What the files of the replay share: the recording, and the scene that somebody set outside of it.
 */
#pragma once

#include "tests/hns/hns.h"

struct replay {
    const char *name; /* of the recording's file */
    json_t *lines;    /* all of it */
    size_t at;        /* the line being replayed */
    struct hns_model *model;
    json_t *handles;     /* recorded -> the model's */
    json_t *known[5];    /* by kind: id -> properties as first recorded */
    json_t *known_v1[2]; /* networks, endpoints: id -> version 1 document */
    json_t *made;        /* ids that a recorded call made: never adopted */
    unsigned taken, refused, injected, adopted, dropped;
};

/* replay_scene.c: the recordings begin with objects there already, and some change between calls
 * (another scenario, a reset), by the old model's control port. The scene is made what the recorded
 * answer shows before the call is replayed. */
enum { REPLAY_NETWORK, REPLAY_ENDPOINT, REPLAY_NAMESPACE, REPLAY_LOAD_BALANCER, REPLAY_KINDS };
extern const char *const replay_kinds[];
void replay_learn(struct replay *r);
/* The model has it afterwards, when the recording shows what it was. */
void replay_adopt(struct replay *r, int kind, const char *id);
void replay_drop(struct replay *r, int kind, const char *id);
bool replay_has(struct replay *r, int kind, const char *id);
/* An answer listed exactly these ids. */
void replay_listed(struct replay *r, int kind, const json_t *ids, const json_t *model_ids);
void replay_version(struct replay *r);
void replay_mark(struct replay *r, const char *text);
json_t *replay_control(struct replay *r, json_t *op); /* takes op over */
const char *replay_text(const json_t *object, const char *key);
/* The JSON of output n of a recorded line; NULL when there is none. New reference. */
json_t *replay_output(const json_t *line, size_t n);
/* The kind that an export's name speaks of, -1 = none. */
int replay_kind_of(const char *function);
