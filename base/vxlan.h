/* What flannel's vxlan is on Windows and on Linux: flannel's Documentation/backends.md, "VXLAN". */
#pragma once

enum {
    VXLAN_VNI_MAX = 16777215, /* 24 bits: RFC 7348 */
    VXLAN_WINDOWS_VNI_MIN = 4096,
    VXLAN_WINDOWS_PORT = 4789,
    VXLAN_LINUX_VNI = 1, /* flannel's default where net-conf.json names none */
    VXLAN_LINUX_PORT = 8472,
};
