/* Prometheus' text format, as reports are made of it. */
#pragma once

#include "diag/reports/report.h"

/* `node="win-1"`; any value. The caller frees. */
char *metrics_label(const char *name, const char *value);
/* The two lines before a gauge's samples. */
void metrics_add_family(struct text *t, const char *name, const char *help);
/* A gauge with one sample; `whose`: its labels. */
void metrics_add_number(struct text *t, const char *name, const char *help, const char *whose,
                        double value);
void metrics_add_causes(struct text *t, const char *whose, const struct diag_causes *causes);
/* Whether all is well, when it was measured and how long it took. */
void metrics_add_whole(struct text *t, const char *whose, bool good, int64_t time,
                       unsigned milliseconds);
