#!/bin/sh
# Whole joins by winjoin.exe on played Windows hosts: right ones, killed ones, refused ones.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
# shellcheck disable=SC2046 # words
[ $# -gt 0 ] || set -- $(part "Whole L2bridge Diagnosed.test_another_vni Killed.test_half_a_join_is_undone
    Refused.test_wrong_pin Refused.test_changed_bundle Refused.test_flannel_of_linux_alone Strangers
    Looking.test_dry_run_tells_the_plan Mirrored.test_changed_program
    Mirrored.test_images_of_another_build_are_refused_before_a_change Kept.test_1_join Kept.test_2_hns_is_restarted
    Kept.test_5_reset DualStack.test_1_join DualStack.test_3_flows_of_both_families DualStack.test_6_reset NicTuned
    AzureCni.test_1_join AzureCni.test_2_first_pod_makes_the_network AzureCni.test_6_reset" "")
exec python3 -B tests/scenarios/main.py "$@"
