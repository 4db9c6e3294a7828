/* Log lines of the stand-ins, in klog's form: to standard error, and to a file where asked. */
#pragma once

/* Lines go to this file too; 0 or -1. */
int klog_open(const char *program, const char *path);
/* level: 'I', 'W', 'E' or 'F'. */
void klog(char level, const char *format, ...) __attribute__((format(gnu_printf, 2, 3)));
