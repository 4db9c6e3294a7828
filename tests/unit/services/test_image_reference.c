/* The names of images. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "services/artifacts/image.h"

/* Those of distribution/reference's grammar. */
static void references(void **state) {
    static const char *const good[] = {"registry.k8s.io/pause:3.10.1",
                                       "pause:3.10",
                                       "localhost/pause:3",
                                       "pause",
                                       "localhost:5000/pause:3",
                                       "[fd00::1]:5000/team/pause:3_x",
                                       "Registry.Local/a__b/c-d",
                                       "r.test/a@sha256:0123456789abcdef0123456789abcdef",
                                       "r.test:443/a:1@sha256:0123456789abcdef0123456789abcdef"};
    static const char *const bad[] = {"",
                                      "a:b:c",
                                      "r.test/Pause:1",
                                      "https://r.test/pause:1",
                                      "r.test//pause:1",
                                      "r.test/pause:",
                                      "r.test/pause:.1",
                                      "r.test:port/pause:1",
                                      "r.test:/pause:1",
                                      "/pause:1",
                                      "r.test/:1",
                                      "pause:1/",
                                      "r.test/-a:1",
                                      "r.test/a.:1",
                                      "r.test/a@sha256:012",
                                      "r.test/a@",
                                      "r.test/a:1@x",
                                      "[fd00::1/a:1",
                                      "r.test/a b:1",
                                      "${REGISTRY}/pause:1",
                                      "r.test/a:1,r.test/b:1"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        if (!image_is_reference(good[i]))
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        if (image_is_reference(bad[i]))
            fail_msg("%s", bad[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(references)};

    return cmocka_run_group_tests_name("image references", tests, NULL, NULL);
}
