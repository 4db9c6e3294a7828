/* What a service did and does: the SCM's word, and what winjoin's service host wrote down of the
 * programs that ended; what is in its log: why its program ended, and when a line was
 * written. */
#pragma once

#include "host/host.h"
#include "services/service_table.h"

/* Unasked ends within this time count as recent; so many of them are a crash loop. */
enum { SERVICE_RECENT_SECONDS = 600, SERVICE_CRASHES = 2 };
/* The SCM's exit code of a service that was not started since Windows came up. */
enum { SERVICE_NEVER_STARTED = 1077 };

/* Written by the service host of `name` when its program starts and when it ends; `asked`: the SCM
 * told it to. In SERVICE_SETTINGS_DIR\NAME.life: {"started","ended","asked","exitCode","ends":[the
 * last ten unasked ones]}, times RFC 3339. What cannot be written is left out. */
void service_life_begin(struct host *host, const char *name);
void service_life_end(struct host *host, const char *name, bool asked, unsigned exit_code);

/* One service by its name in the SCM, which need not be a row of ours:
 *   {name, state: "absent|stopped|starting|running|stopping|paused", winjoin: bool,
 *    start: "auto|demand", since?, exitCode?, asked?, recentEnds?, log?, lastErrors?[]}
 * `since`: when it started, or ended (the
 * last time in its log where nobody wrote it down). `exitCode`: of its last end; `asked`: that end
 * was asked for. `recentEnds`: unasked ends within SERVICE_RECENT_SECONDS. `lastErrors`: from the
 * end of its log, of one that is down or keeps ending. Kinds: those of host_service_query(). New
 * reference. */
int service_status_read(struct host *host, const char *name, json_t **ret, struct error *err);
/* Of a list of such documents: this one is ours and runs. */
bool service_status_runs(const json_t *list, const char *name);
/* Of such a document: it should run and does not, or keeps ending. */
bool service_status_is_down(const json_t *status);

/* The lines of a log that tell why its program ended: at most `max`, the oldest first. The last
 * ones that klog, logrus or Go's runtime mark as errors, or else the last ones. Pure; bootstrap
 * tokens are made illegible. */
void service_log_words(const char *log, size_t max, struct text_list *ret);
/* When a line was written, in microseconds since 1970: a line that begins with an RFC 3339 time
 * (winjoin's own logs), has time="..." (logrus: containerd) or begins as klog's do ("E1122
 * 10:15:02.123456", local time without a year: the last such time that is not after `now`, seconds
 * since 1970, by more than a day). false: the line has no time of its own. Pure but for the local
 * time zone. */
bool service_log_time(const char *line, size_t len, int64_t now, int64_t *ret_us);
/* The end of a log, whole lines, at most `max` bytes. NULL when there is none; the caller frees. */
char *service_log_tail(struct host *host, const char *path, size_t max);
