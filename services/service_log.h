/* What is in the log of a service: why its program ended, and when a line was written. */
#pragma once

#include "host/host.h"

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
