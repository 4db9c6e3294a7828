/* ctr ... images import FILE: reads an OCI archive as containerd's own does, and notes the image
 * for the stand-in of containerd. What is cut, or for another build than the rig's Windows, is
 * refused. */
#include <windows.h>

#include <stdio.h>

#include "base/json.h"
#include "base/memory.h"
#include "services/artifacts/bundle_archive.h"
#include "services/artifacts/image.h"
#include "tests/standins/containerd/cri.h"

enum { BUILD = 20348, ARCHIVE_MAX = 64 * 1024 * 1024, INDEX_MAX = 65536 };

static int fail(const char *why) {
    (void)fprintf(stderr, "ctr: %s\n", why);
    return 1;
}

static size_t read_file(const WCHAR *path, char *data) {
    FILE *file = _wfopen(path, L"rb");
    size_t len = file ? fread(data, 1, ARCHIVE_MAX, file) : 0;

    if (file)
        (void)fclose(file); /* only read */
    return len;
}

static int note(const char *name) {
    FILE *list = fopen(IMPORTED_IMAGES, "ab");
    int written = list ? fprintf(list, "%s\n", name) : -1;

    if (!list || fclose(list) || written < 0)
        return fail("cannot note it");
    (void)printf("unpacking %s...done\n", name);
    return 0;
}

static int import(const char *data, size_t len) {
    _cleanup_(image_facts_free) struct image_facts facts = {0};
    _cleanup_(freep) char *index = NULL;
    _cleanup_json_ json_t *json = NULL;
    const char *name;
    struct error err = {0};
    size_t index_len;

    if (bundle_archive_read_all(data, len, NULL, 0, &err) < 0 ||
        image_facts_of_archive(data, len, BUILD, &facts, &err) < 0 ||
        bundle_archive_read(data, len, "index.json", INDEX_MAX, &index, &index_len, &err) < 0 ||
        json_read(index, index_len, "index", &json, &err) < 0)
        return fail(err.message);
    if (!facts.runs)
        return fail("image might be filtered out");
    name = json_string_value(
        json_object_get(json_at(json, "manifests.0.annotations"), "io.containerd.image.name"));
    return name ? note(name) : fail("it has no name");
}

int wmain(int argc, WCHAR **argv) {
    _cleanup_(freep) char *data = xmalloc(ARCHIVE_MAX);

    if (argc < 4 || wcscmp(argv[argc - 3], L"images") || wcscmp(argv[argc - 2], L"import"))
        return fail("usage: ctr ... images import FILE");
    return import(data, read_file(argv[argc - 1], data));
}
