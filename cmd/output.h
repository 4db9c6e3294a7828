/* The only place that prints: results to stdout, errors, hints and warnings to stderr. */
#pragma once

#include "cmd/program.h"

/* Text for a person, as it is; nothing with -o json or yaml. */
void output_text(const struct program *program, const char *text);
void output_format(const struct program *program, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
/* Bytes as they are, whatever -o says (kubeconfig, completion). */
void output_bytes(const void *data, size_t len);
/* true when all that was printed has arrived; who follows reads it now. */
bool output_flush(void);
/* The verb's document: kept until the end, printed for -o json and -o yaml. Takes the reference. */
void output_result(struct program *program, json_t *document);
/* A document of many, on a line of its own, at once. */
void output_line(const json_t *document);
/* true for -o json and -o yaml. */
bool output_is_document(const struct program *program);
/* With --output-file: from here on results go to that file instead of standard output. Fails as
 * output_path(). */
int output_open(struct program *program, struct error *err);
/* Prints the document, with `error` in it when failure is one; writes the file of --output-file,
 * whole or not at all, for its owner alone where the verb's results may hold a secret. With nothing
 * to write the file stays as it is. Fails as host_write(). */
int output_finish(struct program *program, const struct error *failure, struct error *err);
/* The same at the end, where bytes that did not arrive are an error: -1, said unless their reader
 * has seen enough. */
int output_end(void);
/* error: ..., hint: ... */
void output_error(const struct error *err);
void output_warning(const char *format, ...) __attribute__((format(gnu_printf, 1, 2)));
void output_warnings(const struct text_list *list);
/* Where a result goes that a person wants in a file of this name: absolute, for struct host. Fails
 * with ERROR_USAGE for an empty name, a folder, a symbolic link (which would be replaced) and a
 * folder that does not exist; `what` names the flag or word. The caller frees. */
int output_path(struct program *program, const char *what, const char *given, char **ret,
                struct error *err);
/* Colour and ticks are wanted on stdout (respectively stderr). */
bool output_color(const struct program *program, bool on_stderr);
bool output_utf8(const struct program *program, bool on_stderr);
