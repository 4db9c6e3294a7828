/* The first instance of a named pipe, as go-winio makes it. */
#ifndef TESTS_WINE_BCRYPTPRIMITIVES_NAMED_PIPE_H
#define TESTS_WINE_BCRYPTPRIMITIVES_NAMED_PIPE_H

void named_pipe_repair(void);

#endif
