/* Counts what is looked up in documents and compared, and what is sorted (each item once). It takes
 * the place of the functions that do so, which a program may where it has a shared library: under
 * the sanitizers alone. */
#pragma once

#include "base/json.h"
#include "base/text.h"

static size_t counted;

#ifdef __SANITIZE_ADDRESS__
#include <dlfcn.h>

enum { COUNTS = 1 };

#define COUNTED(type, name, parameters, arguments, operations)                                     \
    type name parameters {                                                                         \
        static type(*real) parameters;                                                             \
                                                                                                   \
        if (!real)                                                                                 \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                             \
        counted += (operations);                                                                   \
        return real arguments;                                                                     \
    }
COUNTED(json_t *, json_object_get, (const json_t *object, const char *key), (object, key), 1)
COUNTED(json_t *, json_array_get, (const json_t *array, size_t index), (array, index), 1)
COUNTED(int, json_equal, (const json_t *a, const json_t *b), (a, b), 1)
COUNTED(bool, text_equal, (const char *a, const char *b), (a, b), 1)
COUNTED(void, qsort,
        (void *items, size_t count, size_t size, int (*compare)(const void *, const void *)),
        (items, count, size, compare), count)
#else
enum { COUNTS = 0 };
#endif

enum { FEW = 250, MANY = 8 * FEW };

/* Eight times as many things cost eight times as many operations. */
static inline void assert_linear(const char *what, size_t few, size_t many) {
    if (COUNTS && (!few || many > few * 8 * 11 / 10))
        fail_msg("%zu operations for %d %s, %zu for %d", few, FEW, what, many, MANY);
}
