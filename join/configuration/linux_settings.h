/* Settings of a kubelet that mean nothing on Windows, or keep it from starting there. */
#pragma once

#include <stdbool.h>

/* A field of a KubeletConfiguration that a Windows node does without. `gate`: kept when the
 * document turns this feature gate on; NULL: none. `only`: removed only when its value begins like
 * this; NULL: always. The table ends with {0}. */
struct linux_setting {
    const char *field, *gate, *only;
};
extern const struct linux_setting linux_settings[];

/* The same as an argument of the kubelet, without dashes ("cgroup-driver" for cgroupDriver), also
 * one that winjoin sets to what Windows needs (resolv-conf). False where a feature gate decides. */
bool linux_setting_is_argument(const char *name, const char *value);
