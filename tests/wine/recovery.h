/* What a service does after it fails, which Wine 8's service manager takes and forgets. */
#pragma once

/* Afterwards, in this process, ChangeServiceConfig2W and QueryServiceConfig2W keep a service's
 * failure actions where Windows does: the values FailureActions and
 * FailureActionsOnNonCrashFailures of its key. Nobody acts upon them. Who needs it: a join that is
 * made again, the acceptance kit. */
void recovery_repair(void);
