/* What diag reads and shows alike, be it of this node or of a whole cluster. */
#pragma once

#include "cmd/program.h"
#include "diag/reports/report.h"

/* true for -o text, the default. */
bool diag_is_text(const struct program *program);
/* How a report's text is written on this standard output. */
struct diag_text_style diag_style(const struct program *program);
/* Prints a report in the format of -o; `compared` (or NULL) is part of the document and of the
 * text. Takes the text and the document (NULL where output_is_document() says no). */
void diag_print(struct program *program, char *text, json_t *document, const json_t *compared);
/* How a comparison ends: ERROR_FLOWS where it is worse now. */
int diag_judge_changes(const json_t *compared, struct error *err);

/* The text of the report of --replay or --compare, alone or in a collection; `flag` names it in an
 * error, which is ERROR_USAGE. The caller frees. */
int diag_file_read(struct program *program, const char *flag, const char *given, char **ret,
                   size_t *ret_len, struct error *err);
/* Makes an error of a file's content that of the flag: ERROR_USAGE. -1. */
int diag_file_refuse(const char *flag, const char *given, struct error *err);
/* Writes a collection and says where it is. */
int diag_file_write(struct program *program, const char *path, const char *data, size_t len,
                    struct error *err);

/* --watch. diag_check_watch() refuses flags and formats that do not go with it (ERROR_USAGE).
 * diag_repeat() calls `once` until it fails, until Ctrl-C, which is how it is meant to end, or
 * until nobody reads the output. diag_tell_failure() reports once why a test could not be made:
 * the next one may work; `told` is what it reported last. */
int diag_check_watch(const struct program *program, struct error *err);
int diag_repeat(struct program *program, int (*once)(void *context, struct error *err),
                void *context, struct error *err);
void diag_tell_failure(struct program *program, char *told, size_t size, const struct error *why);
