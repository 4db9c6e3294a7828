/* Allocates memory, aborts the program when memory is used up, and frees local variables
 * automatically. */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* These functions never return NULL. When memory is exhausted, the program prints one line and
 * aborts. That is safe: its changes are in a journal, and a new run recovers. The caller owns the
 * result and calls free(). */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *ptr, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t max);
/* Copies `len` bytes and adds a NUL behind them. `data` may be NULL when `len` is 0. */
char *xmemdup(const void *data, size_t len);
/* Copies a string; NULL gives NULL. */
char *xstrdup_null(const char *s);

/* Overwrites a secret in memory in a form that the compiler does not remove. */
void secret_wipe(char *secret, size_t len);
/* Overwrites a secret and frees it. NULL is allowed. */
void secret_free(char *secret, size_t len);
/* Overwrites a NUL-terminated secret and frees it. NULL is allowed. */
void secret_free_text(char *secret);

/* Calls f(&local) when the local variable goes out of scope. */
#define _cleanup_(f) __attribute__((cleanup(f)))

/* Functions for _cleanup_: freep() frees the memory of a local pointer, and secret_freep()
 * overwrites it first. */
void freep(void *ptr_to_ptr);
void secret_freep(char **secret);

/* Calls free() for each pointer in the argument list, e.g. for all that a structure owns. */
#define free_all(...)                                                                              \
    free_pointers((void *const[]){__VA_ARGS__},                                                    \
                  sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void free_pointers(void *const *pointers, size_t count);

/* Moves ownership out of a pointer variable: yields the pointer and sets the variable to NULL. */
#define take_ptr(p)                                                                                \
    ({                                                                                             \
        __typeof__(p) taken_ = (p);                                                                \
        (p) = NULL;                                                                                \
        taken_;                                                                                    \
    })

/* Moves ownership out of a structure variable: yields the structure and zeroes the variable. */
#define take_struct(s)                                                                             \
    ({                                                                                             \
        __typeof__(s) taken_ = (s);                                                                \
        (s) = (__typeof__(s)){0};                                                                  \
        taken_;                                                                                    \
    })

/* Appends a value to a growing array of `count` items; `items` is NULL at first. The array's size
 * doubles at each power of two. `items` and `count` are evaluated several times. */
#define array_add(items, count, ...)                                                               \
    ((void)(((count) & ((count)-1)) ||                                                             \
            ((items) = xrealloc((items), ((count) ? 2 * (count) : 1) * sizeof *(items)))),         \
     (items)[(count)++] = __VA_ARGS__)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
