/* A pause before a join's first request: machines that were switched on together ask one by one. */
#pragma once

#include "host/host.h"

struct join;

/* The longest pause in milliseconds: what was given (--start-spread), when that is not negative;
 * else 10 s on a machine that started less than ten minutes ago and has nobody at a terminal, as
 * those of a scale set with their startup script; else none. */
unsigned start_spread_longest_ms(long long given, bool unattended, const struct host_facts *facts);

/* Waits a random part of it, once a join. ERROR_INTERRUPTED. */
int start_spread_wait(struct join *join, struct error *err);
