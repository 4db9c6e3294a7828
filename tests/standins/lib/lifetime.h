/* How a stand-in lives: as a service of the SCM or as a console program; when it is to end. */
#pragma once

#include <stdbool.h>

/* Runs `run` to its end: under the SCM when service is given (running is reported before `run`),
 * else as a console program that Ctrl-C and Ctrl-Break end. Gives the exit code; a service's goes
 * to the SCM too. */
int lifetime_run(const char *service, int (*run)(void));
bool lifetime_over(void);
/* Sleeps; true when it is time to end. */
bool lifetime_wait(unsigned milliseconds);
/* A thread of its own that nobody joins. */
void lifetime_thread(void (*run)(void *), void *context);
