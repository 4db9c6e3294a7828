/* Windows features that containers need, installed on request (--install-features). */
#pragma once

#include "join/join.h"

/* With --install-features, and where Windows says that Containers is not installed: installs it by
 * dism.exe (Microsoft: DISM Operating System Package Servicing Command-Line Options; exit code 3010
 * is "a restart is needed"). Nothing in a dry run. Kinds: ERROR_RESTART (done, restart first),
 * ERROR_HOST, those of host_run(). */
int features_install(struct join *join, struct error *err);
/* The same for Hyper-V, where a RuntimeClass of the cluster has containerd's handler
 * runhcs-wcow-hypervisor and is not for another Windows build. Only a node may read RuntimeClasses
 * (kubernetes, plugin/pkg/auth/authorizer/rbac/bootstrappolicy, NodeRules), so that this comes
 * behind its certificate; a cluster that does not answer is warned of. Kinds: those above. */
int features_install_hyper_v(struct join *join, struct error *err);
