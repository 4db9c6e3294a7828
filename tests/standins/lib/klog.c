/* Log lines in klog's form: I1121 10:00:00.000000    1234 kubelet.go:1] text */
#include "tests/standins/lib/klog.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <windows.h>

static const char *name = "standin";
static FILE *file;

int klog_open(const char *program, const char *path) {
    if (program)
        name = program;
    if (path) {
        for (const char *p = path; *p; p++) {
            if ((*p == '\\' || *p == '/') && p - path > 2) {
                char folder[MAX_PATH] = {0};
                if (text_format(folder, sizeof(folder), "%.*s", (int)(p - path), path) == 0)
                    (void)CreateDirectoryA(folder, NULL); /* it may be there */
            }
        }
        file = fopen(path, "a");
    }
    return path && !file ? -1 : 0;
}

void klog(char level, const char *format, ...) {
    struct text line = {0};
    SYSTEMTIME now;
    va_list args;

    GetLocalTime(&now);
    text_addf(&line, "%c%02u%02u %02u:%02u:%02u.%03u000 %7lu %s.go:1] ", level, now.wMonth,
              now.wDay, now.wHour, now.wMinute, now.wSecond, now.wMilliseconds,
              GetCurrentProcessId(), name);
    va_start(args, format);
    text_addv(&line, format, args);
    va_end(args);
    text_add_char(&line, '\n');
    (void)fwrite(text_str(&line), 1, line.len, stderr); /* a log that cannot be written is lost */
    (void)fflush(stderr);
    if (file) {
        (void)fwrite(text_str(&line), 1, line.len, file);
        (void)fflush(file);
    }
    text_free(&line);
}
