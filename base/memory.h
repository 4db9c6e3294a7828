/* Allocation that aborts when memory is out, and one-owner cleanup of locals. */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Each of these never returns NULL: running out of memory prints one line and aborts (a journalled
 * one-shot program is recovered by running it again). The caller owns the result; free(). */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *ptr, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t max);
/* Bytes, and a NUL behind them; `data` may be NULL when len is 0. */
char *xmemdup(const void *data, size_t len);
/* NULL stays NULL. */
char *xstrdup_null(const char *s);

/* Overwrites a secret so that the compiler cannot leave it out. */
void secret_wipe(char *secret, size_t len);
/* The same, then frees it. NULL is allowed. */
void secret_free(char *secret, size_t len);
/* The same for a NUL-terminated secret. */
void secret_free_text(char *secret);

/* Runs f(&local) when the local goes out of scope. */
#define _cleanup_(f) __attribute__((cleanup(f)))

/* For _cleanup_: frees what the pointer local points to. */
void freep(void *ptr_to_ptr);
void secret_freep(char **secret);

/* free() for each of the pointers: what a structure owns, in a list. */
#define free_all(...)                                                                              \
    free_pointers((void *const[]){__VA_ARGS__},                                                    \
                  sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void free_pointers(void *const *pointers, size_t count);

/* Hands ownership on: yields the pointer and leaves NULL behind. */
#define take_ptr(p)                                                                                \
    ({                                                                                             \
        __typeof__(p) taken_ = (p);                                                                \
        (p) = NULL;                                                                                \
        taken_;                                                                                    \
    })

/* The same of a structure, which is empty then. */
#define take_struct(s)                                                                             \
    ({                                                                                             \
        __typeof__(s) taken_ = (s);                                                                \
        (s) = (__typeof__(s)){0};                                                                  \
        taken_;                                                                                    \
    })

/* Adds a value to an array of so many items, which is NULL at first and grows to twice as many:
 * both are evaluated several times. */
#define array_add(items, count, ...)                                                               \
    ((void)(((count) & ((count)-1)) ||                                                             \
            ((items) = xrealloc((items), ((count) ? 2 * (count) : 1) * sizeof *(items)))),         \
     (items)[(count)++] = __VA_ARGS__)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
