/* Which functions a test enters: built into the libwinjoin.so of `make mutants`, where the compiler
   calls __cyg_profile_func_enter() at the start of each function. WINJOIN_TRACE names a file; at
   the end the offsets of all functions that were entered are added to what is in it. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SILENT __attribute__((no_instrument_function, no_sanitize("address", "undefined")))
#define ENTERED_MAX (1U << 20) /* offsets / 16 of a library of 16 MiB at most */

static unsigned char entered[ENTERED_MAX];
static const char *file;
static uintptr_t base;

SILENT __attribute__((constructor)) static void trace_open(void) {
    Dl_info info;

    file = getenv("WINJOIN_TRACE");
    if (file && dladdr((const void *)&entered, &info))
        base = (uintptr_t)info.dli_fbase;
}

/* Functions begin at multiples of 16 (-falign-functions=16). */
SILENT void __cyg_profile_func_enter(void *function, void *caller) {
    uintptr_t at = ((uintptr_t)function - base) / 16;

    (void)caller;
    if (file && base && at < ENTERED_MAX)
        entered[at] = 1;
}

SILENT void __cyg_profile_func_exit(void *function, void *caller) {
    (void)function;
    (void)caller;
}

SILENT __attribute__((destructor)) static void trace_write(void) {
    FILE *out = file && base ? fopen(file, "ae") : NULL;

    if (!out)
        return;
    for (size_t i = 0; i < ENTERED_MAX; i++)
        if (entered[i])
            (void)fprintf(out, "0x%zx\n", i * 16);
    (void)fclose(out);
}
