/* Settings of a hosted console program, for `winjoin.exe service run NAME`. */
#pragma once

#include "host/host.h"

#define SERVICE_SETTINGS_DIR "C:\\ProgramData\\winjoin\\services"

enum { SERVICE_LOG_BYTES = 10 * 1024 * 1024, SERVICE_LOG_FILES = 5 };

/* The content of SERVICE_SETTINGS_DIR\NAME.json: {"command":["C:\\k\\flanneld.exe",...],
 * "environment":["NODE_NAME=..."],"workingFolder":"C:\\k",
 * "logFile":"C:\\var\\log\\flanneld\\flanneld.log","maxLogBytes":10485760,"maxLogFiles":5,
 * "stopTimeoutMs":20000}. Free with service_host_settings_free(). */
struct service_host_settings {
    struct text_list command; /* Arguments, the program first. */
    struct text_list environment;
    char *working_folder;
    char *log_file;
    uint64_t max_log_bytes;
    unsigned max_log_files;
    unsigned stop_timeout_ms;
};
void service_host_settings_free(struct service_host_settings *settings);
/* Makes the text of the settings file. Pure; the caller frees it. */
char *service_host_settings_make(const struct service_host_settings *settings);
/* Parses a settings file strictly. Fails with ERROR_MALFORMED for unknown keys, an empty command,
 * and a program or log without absolute path. */
int service_host_settings_parse(const char *text, size_t len, struct service_host_settings *ret,
                                struct error *err);
/* Loads the settings file of NAME. Fails with ERROR_USAGE for a name with other characters than
 * letters, digits and '-'. */
int service_host_settings_load(struct host *host, const char *name,
                               struct service_host_settings *ret, struct error *err);
/* Rotates the logs before `log_file` exceeds its limit: NAME.log -> NAME.1.log -> ...; the oldest
 * is removed. */
int service_log_rotate(struct host *host, const struct service_host_settings *settings,
                       struct error *err);
