/* Gives the limits and defaults of flannel's vxlan backend on Windows and Linux, from flannel's
 * Documentation/backends.md, "VXLAN". */
#pragma once

enum {
    VXLAN_VNI_MAX = 16777215, /* Largest VNI: it has 24 bits (RFC 7348). */
    VXLAN_WINDOWS_VNI_MIN = 4096,
    VXLAN_WINDOWS_PORT = 4789,
    VXLAN_LINUX_VNI = 1, /* Flannel's default when net-conf.json does not set a VNI. */
    VXLAN_LINUX_PORT = 8472,
};
