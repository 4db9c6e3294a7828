/* Which HNS version can do what: decided as it is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsetup/hns/hns_features.h"

/* "9.3-9.x, 10.2": from 9.3 within 9, and from 10.2 on. */
static bool says(const char *ranges, struct hns_version version) {
    for (const char *at = ranges; *at;) {
        char *end;
        unsigned major = (unsigned)strtoul(at, &end, 10);
        unsigned minor = (unsigned)strtoul(end + 1, &end, 10);
        bool within = *end == '-';

        if (version.major == major ? version.minor >= minor : !within && version.major > major)
            return true;
        at = end + strcspn(end, ",");
        at += strspn(at, ", ");
    }
    return false;
}

static void each_is_decided_as_printed(void **state) {
    (void)state;
    for (int feature = 0; feature < HNS_FEATURE_COUNT; feature++) {
        const struct hns_feature_info *info = &hns_features[feature];
        size_t has = 0, all = 0;

        for (unsigned major = 8; major < 18; major++)
            for (unsigned minor = 0; minor < 20; minor++) {
                const struct hns_version version = {major, minor};

                if (hns_has(version, feature) != says(info->since, version))
                    fail_msg("%s: %u.%u, and '%s' is printed", info->name, major, minor,
                             info->since);
                has += hns_has(version, feature);
                all++;
            }
        assert_in_range(has, 1, all - 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_decided_as_printed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
