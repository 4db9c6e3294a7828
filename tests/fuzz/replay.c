/* Runs a fuzz target over files, without a fuzzer: the corpus is part of the ordinary tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long size;

    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET)) {
        (void)fprintf(stderr, "cannot read '%s'\n", path);
        return -1;
    }
    /* Exactly as long as the input, so that the sanitizer sees a read behind its end. */
    data = malloc((size_t)size ? (size_t)size : 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) {
        (void)fprintf(stderr, "cannot read '%s'\n", path);
        return -1;
    }
    (void)fclose(file); /* only read */
    (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (replay(argv[i]))
            return 1;
    return 0;
}
