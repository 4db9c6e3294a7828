/* Go programs as services: what Windows' service manager does and Wine 8's does not. */
#pragma once

/* Afterwards, in this process:
 * - NtQuerySystemInformation, as GetProcAddress hands it out, lists services.exe in session 0; Wine
 *   tells 1 for every process. Who needs it: containerd.exe, which asks so whether the SCM started
 *   it, and would else never report to it.
 * - %ProgramData% is C:\ProgramData; Wine gives its services the Public folder. Who needs it:
 *   containerd.exe's folders.
 * - A service whose process ends is stopped. Windows notices the end; Wine knows only what was
 *   reported, and containerd.exe often ends before its last report. */
void service_repair(void);
