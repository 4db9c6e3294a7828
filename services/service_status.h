/* The state and history of a service: from the SCM, from what winjoin's service host has recorded,
 * and from the service's log (why its program exited, and when a line was written). */
#pragma once

#include "host/host.h"
#include "services/service_table.h"

/* An unrequested exit within this time is recent. So many recent exits are a crash loop. */
enum { SERVICE_RECENT_SECONDS = 600, SERVICE_CRASHES = 2 };
/* Exit code in the SCM of a service that was not started since Windows started. */
enum { SERVICE_NEVER_STARTED = 1077 };

/* The service host calls these when the program of `name` starts and exits; `asked` means that the
 * SCM stopped it. They write SERVICE_SETTINGS_DIR\NAME.life:
 * {"started","ended","asked","exitCode","ends":[the last ten unrequested exits]}, times in RFC
 * 3339. A failed write is ignored. */
void service_life_begin(struct host *host, const char *name);
void service_life_end(struct host *host, const char *name, bool asked, unsigned exit_code);

/* Reads the status of a service by its name in the SCM; it need not be in the table.
 *
 * {name, state: "absent|stopped|starting|running|stopping|paused", winjoin: bool, start:
 * "auto|demand", since?, exitCode?, asked?, recentEnds?, log?, lastErrors?[]}
 *
 * `since` is when it started or stopped (where no record says it, the last time in its log).
 * `exitCode` is that of its last exit; `asked`: that exit was requested. `recentEnds` counts
 * unrequested exits within SERVICE_RECENT_SECONDS. `lastErrors` has lines from the end of its log
 * when it is down or keeps exiting. Fails as host_service_query(). New reference. */
int service_status_read(struct host *host, const char *name, json_t **ret, struct error *err);
/* In a list of such documents: is the service of this name winjoin's, and running? */
bool service_status_runs(const json_t *list, const char *name);
/* Does the document show a service that should run but does not, or that keeps exiting? */
bool service_status_is_down(const json_t *status);

/* Adds at most `max` lines of a log that show why its program exited, oldest first: the last ones
 * that klog, logrus or Go's runtime mark as errors or, without such, the last ones. Bootstrap
 * tokens in them are hidden. Pure. */
void service_log_words(const char *log, size_t max, struct text_list *ret);
/* Gets the time of a log line, in microseconds since 1970. The line begins with an RFC 3339 time
 * (winjoin's own logs), has time="..." (logrus: containerd), or begins as in klog ("E1122
 * 10:15:02.123456", local time without year: the last such time that is not more than a day after
 * `now`, which is in seconds since 1970). Returns false when the line has no time. Pure except for
 * the local time zone. */
bool service_log_time(const char *line, size_t len, int64_t now, int64_t *ret_us);
/* Returns the end of a log: whole lines, at most `max` bytes; free() it. NULL without a log. */
char *service_log_tail(struct host *host, const char *path, size_t max);
