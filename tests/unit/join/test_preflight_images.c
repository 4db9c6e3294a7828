/* What preflight says of the images of a registry and of a bundle: their builds, and the room for
 * them. */
#include "tests/scene/preflight_scene.h"

#include "tests/scene/preflight_images.h"

static const struct {
    const char *id;
    void (*arrange)(void);
    enum preflight_outcome outcome;
    const char *says;
} cases[] = {
    {"Images", image_of_2019, PREFLIGHT_WARNING,
     "a.example/x/app:7-ltsc2019 is not for build 20348 of Windows, but for 10.0.17763.1"},
    {"Images", image_of_2022, PREFLIGHT_PASS, ""},
    {"Images", large_image, PREFLIGHT_WARNING,
     "the images have 18.6 GB compressed, and until they are unpacked about 111.8 GB are needed; "
     "C: "
     "has 110.8"},
    {"Images", large_image_alone, PREFLIGHT_WARNING, "the images have 18.6 GB compressed"},
    {"Images", large_image_that_fits, PREFLIGHT_PASS, ""},
    {"Images", image_of_docker, PREFLIGHT_NOT_RUN, "a registry did not say"},
    {"Images", large_image_that_is_prepared, PREFLIGHT_PASS, ""},
    {"Images", brought_and_large, PREFLIGHT_WARNING,
     "the images have 18.6 GB compressed, and until they are unpacked about 111.8 GB are needed; "
     "C:"},
    {"Images", brought_and_fits, PREFLIGHT_PASS, ""},
    {"Images", brought_with_other_builds, PREFLIGHT_WARNING, "about 0.0 GB are needed; C: has 0.0"},
    {"Images", brought_with_other_builds_and_fits, PREFLIGHT_PASS, ""},
    {"Images", brought_to_another_drive, PREFLIGHT_WARNING, "about 65.2 GB are needed; D: has"},
    {"Images", brought_to_another_drive_that_fits, PREFLIGHT_PASS, ""},
    {"BundleImages", brought_of_2019, PREFLIGHT_ERROR,
     "the bundle's image a.example/x/app:7-ltsc2019 is not for build 20348 of Windows, but for "
     "10.0.17763.7"},
    {"BundleImages", brought_of_2025_by_its_configuration, PREFLIGHT_ERROR,
     "app:multi is not for build 20348 of Windows, but for 10.0.26100.1"},
    {"BundleImages", brought_of_2022, PREFLIGHT_PASS, ""},
    {"BundleImages", brought_that_is_odd, PREFLIGHT_PASS, ""},
    {"BundleImages", image_of_nobody, PREFLIGHT_PASS, ""},
    {"Images", image_of_nobody, PREFLIGHT_WARNING, "the registry has no image a.example/none/app"},
};

static void each_is_told(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct preflight_result *result;
        struct look look;

        open_fit();
        cases[i].arrange();
        open_look(&look, true);
        result = result_of(&look, cases[i].id);
        if (result->outcome != cases[i].outcome || !strstr(result->message, cases[i].says))
            fail_msg("%zu: %s: %s: %s", i, cases[i].id, preflight_outcome_names[result->outcome],
                     result->message);
        close_look(&look);
        close_run(&r);
    }
}

/* The tag that would fit, which a registry is asked for, and a bundle's name alone tells. */
static void the_tag_that_fits(void **state) {
    static const struct {
        const char *id;
        void (*arrange)(void);
        const char *hint;
    } hints[] = {
        {"Images", image_of_2019, "use a.example/x/app:7-ltsc2022"},
        {"BundleImages", brought_of_2019,
         "make the bundle again: winjoin bundle create --windows-build 20348 --image "
         "a.example/x/app:7-ltsc2022"},
        {"BundleImages", brought_of_2025_by_its_configuration,
         "make the bundle again: winjoin bundle create --windows-build 20348 --image "
         "a.example/x/app:multi"},
        {"BundleImages", sandbox_of_2019_in_a_zip,
         "make the bundle again: winjoin bundle create --windows-build 20348 --images"},
        {"BundleImages", sandbox_of_2019,
         "make the bundle again: winjoin bundle create --windows-build 20348 --images"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
        struct look look;

        open_fit();
        hints[i].arrange();
        open_look(&look, true);
        assert_string_equal(result_of(&look, hints[i].id)->hint, hints[i].hint);
        close_look(&look);
        close_run(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_told),
        cmocka_unit_test(the_tag_that_fits),
    };

    return cmocka_run_group_tests_name("preflight_images", tests, NULL, NULL);
}
