/* The pause before a join's first request. */
#include "join/found/need.h"

#include "join/join.h"

enum { FRESH_SECONDS = 10 * 60, SPREAD_MS = 10 * 1000, LONGEST_MS = 60 * 60 * 1000 };

unsigned start_spread_longest_ms(long long given, bool unattended, const struct host_facts *facts) {
    bool fresh = facts->uptime_seconds && facts->uptime_seconds < FRESH_SECONDS;

    if (given >= 0)
        return given < LONGEST_MS ? (unsigned)given : LONGEST_MS;
    return fresh && unattended ? SPREAD_MS : 0;
}

int start_spread_wait(struct join *join, struct error *err) {
    unsigned longest = start_spread_longest_ms(join->found.options.start_spread, join->unattended,
                                               &join->found.facts);
    unsigned pause = longest ? host_spread_ms(join->host, 0, longest) : 0;

    if (!pause)
        return 0;
    join_tell_waiting(&join->progress, 0, pause, "",
                      "for %.1f s, so that machines that start together do not all connect at once "
                      "(--start-spread)",
                      pause / 1000.0);
    return host_sleep(join->host, pause, err);
}
