/* Mode l2bridge: Pods send with their own address, and hosts have routes to other nodes' Pods. */
#include "netsetup/modes/bridge.h"

const struct network_mode network_mode_l2bridge = {
    .name = "l2bridge",
    .hns_type = "L2Bridge",
    .dual_stack_plugin = "sdnbridge",
    NETWORK_MODE_BRIDGE,
};
