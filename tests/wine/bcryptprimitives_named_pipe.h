/* The first instance of a named pipe, as go-winio makes it. */
#pragma once

void named_pipe_repair(void);
