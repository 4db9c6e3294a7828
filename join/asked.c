/* What is wrong with a call is said before anything else happens. */
#include "join/asked.h"

#include "join/configuration/join_options.h"
#include "join/discovery/discovery.h"
#include "join/kubelet/patches.h"
#include "join/programs/programs.h"

static int check_discovery(const struct join *join, struct error *err) {
    struct discovery_options options;

    if (!discovery_is_asked(join->asked))
        return 0;
    discovery_options_make(join->asked, &options);
    if (discovery_check(&options, err) < 0)
        return -1;
    return discovery_check_file(&options, join->host, err);
}

static int check_patches(const struct join *join, struct error *err) {
    _cleanup_(patches_free) struct patches patches = {0};

    if (!join->found.options.patches)
        return 0;
    return patches_read(join->host, join->found.options.patches, &patches, err);
}

int join_asked_check(struct join *join, struct error *err) {
    struct bundle *bundle = NULL; /* kept in the join for the phase that needs it */

    if (join_options_check(&join->found.options, err) < 0 || check_discovery(join, err) < 0 ||
        check_patches(join, err) < 0)
        return -1;
    return join->found.options.bundle ? programs_bundle(join, &bundle, err) : 0;
}
