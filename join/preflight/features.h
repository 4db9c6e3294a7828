/* Windows features that containers need, installed on request (--install-features). */
#ifndef JOIN_PREFLIGHT_FEATURES_H
#define JOIN_PREFLIGHT_FEATURES_H

#include "base/error.h"
#include "join/join.h"

/* With --install-features, and where Windows says that Containers is not installed: installs it by
 * dism.exe (Microsoft: DISM Operating System Package Servicing Command-Line Options; exit code 3010
 * is "a restart is needed"). Nothing in a dry run. Kinds: ERROR_RESTART (done, restart first),
 * ERROR_HOST, those of host_run(). */
int features_install(struct join *join, struct error *err);

#endif
