/* Implements memory.h. */
#include "base/memory.h"

#include <stdio.h>

static void *checked(void *ptr) {
    if (!ptr) {
        /* The program aborts anyway, so a failed write does not matter. */
        (void)fputs("error: out of memory\n", stderr);
        abort();
    }
    return ptr;
}

void *xmalloc(size_t size) {
    return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size) {
    return checked(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *ptr, size_t size) {
    return checked(realloc(ptr, size ? size : 1));
}

char *xmemdup(const void *data, size_t len) {
    char *copy = xmalloc(len + 1);

    if (len)
        memcpy(copy, data, len);
    copy[len] = '\0';
    return copy;
}

char *xstrndup(const char *s, size_t max) {
    return xmemdup(s, strnlen(s, max));
}

char *xstrdup(const char *s) {
    return xstrndup(s, strlen(s));
}

char *xstrdup_null(const char *s) {
    return s ? xstrdup(s) : NULL;
}

void secret_wipe(char *secret, size_t len) {
    if (len)
        memset(secret, 0, len);
    /* Keeps the compiler from removing the memset() as useless. */
    __asm__ __volatile__("" : : "r"(secret) : "memory");
}

void secret_free(char *secret, size_t len) {
    if (secret)
        secret_wipe(secret, len);
    free(secret);
}

void secret_free_text(char *secret) {
    if (secret)
        secret_free(secret, strlen(secret));
}

void free_pointers(void *const *pointers, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(pointers[i]);
}

void freep(void *ptr_to_ptr) {
    void **p = ptr_to_ptr;

    free(*p);
    *p = NULL;
}

void secret_freep(char **secret) {
    secret_free_text(*secret);
    *secret = NULL;
}
