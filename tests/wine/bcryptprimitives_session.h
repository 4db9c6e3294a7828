/* Services live in session 0, as Windows has it; Wine 8 tells 1 for every process. */
#ifndef TESTS_WINE_BCRYPTPRIMITIVES_SESSION_H
#define TESTS_WINE_BCRYPTPRIMITIVES_SESSION_H

/* Afterwards NtQuerySystemInformation, as GetProcAddress hands it out, lists services.exe in
 * session 0. Who needs it: containerd.exe, which asks so whether the SCM started it, and would else
 * never report to it. */
void session_mend(void);

#endif
