/* What the files of hnsd share: frames on the wire, the record of calls, the child that makes
 * packets. */
#pragma once

#include "tests/hns/hns.h"

/* hnsd_wire.c. One request of a forwarding DLL (little endian): u32 length, then fields u32 length
 * + bytes (length 0xffffffff: NULL): program, pid, tid, dll, function, signature, one a input. The
 * answer: u32 length, u32 HRESULT, one field an output. Signature letters: s text, h handle, g
 * GUID, u number, p pointer (not sent), d layer; out: H handle, o text, U number, G GUID. */
enum { HNSD_ARGS_MAX = 8, HNSD_FRAME_MAX = 32 * 1024 * 1024 };
struct hnsd_request {
    char *bytes; /* what the fields point into */
    const char *exe, *pid, *tid, *dll, *function, *signature;
    const char *args[HNSD_ARGS_MAX];
    size_t n_args;
};
/* 0, or -1 when the other side went away or spoke nonsense. hnsd_request_free() in any case. */
int hnsd_read(int fd, struct hnsd_request *ret);
void hnsd_request_free(struct hnsd_request *request);
/* Pads or cuts the outputs to what the signature has. */
void hnsd_write(int fd, const struct hnsd_request *request, const struct hns_answer *answer);
size_t hnsd_outputs(const char *signature);

/* hnsd_record.c: one JSON line a call, {"n","t","exe","pid","tid","dll","fn","args","object","hr",
 * "out"}; marks are {"mark","t"}. */
int hnsd_record_open(const char *path); /* NULL closes; -1 = cannot */
void hnsd_record_call(const struct hnsd_request *request, const char *object,
                      const struct hns_answer *answer);
void hnsd_record_mark(const char *text);

/* hnsd_rewrite.c, under the model's lock. Operation rewrite {fn, find, replace, seen?,
 * lost?}: in the inputs of that function find becomes replace; in every answer replace becomes
 * find, unless it may be seen; a call that is lost is answered well and never arrives. Without
 * members: none any more. A new reference. */
json_t *hnsd_rewrite_add(const json_t *request);
bool hnsd_rewrite_loses(const struct hnsd_request *call);
/* made: what the call's inputs point into now; the caller frees each. */
void hnsd_rewrite_call(struct hnsd_request *call, char *made[HNSD_ARGS_MAX]);
void hnsd_rewrite_answer(struct hns_answer *answer);

/* hnsd_child.c: the command of --apply, kept running; one JSON line in, one out. */
int hnsd_child_start(const char *command);
bool hnsd_child_runs(void);
/* New reference: the child's answer; {"ok":false,"error":...} when it has none. Serialises itself.
 */
json_t *hnsd_child_ask(const json_t *request);
/* The same with the model's state, taken once it is this caller's turn: never an older state after
 * a newer one. Says on stderr what went wrong. */
void hnsd_child_apply(json_t *(*state)(void));
/* Closes its input and waits for it, five seconds at most. */
void hnsd_child_stop(void);
