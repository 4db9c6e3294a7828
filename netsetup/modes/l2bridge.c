/* L2bridge: pods' packets leave with their own address; each host routes to other nodes' pods. */
#include "netsetup/modes/bridge.h"

const struct network_mode network_mode_l2bridge = {
    .name = "l2bridge",
    .hns_type = "L2Bridge",
    .dual_stack_plugin = "sdnbridge",
    NETWORK_MODE_BRIDGE,
};
