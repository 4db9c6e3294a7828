/* Settings of a hosted console program: what `winjoin.exe service run NAME` starts. */
#pragma once

#include "host/host.h"

#define SERVICE_SETTINGS_DIR "C:\\ProgramData\\winjoin\\services"

enum { SERVICE_LOG_BYTES = 10 * 1024 * 1024, SERVICE_LOG_FILES = 5 };

/* service_host_settings_free(). The file is SERVICE_SETTINGS_DIR\NAME.json:
 * {"command":["C:\\k\\flanneld.exe",...],"environment":["NODE_NAME=..."],"workingFolder":"C:\\k",
 *  "logFile":"C:\\var\\log\\flanneld\\flanneld.log","maxLogBytes":10485760,"maxLogFiles":5,
 *  "stopTimeoutMs":20000} */
struct service_host_settings {
    struct text_list command; /* argv, program first */
    struct text_list environment;
    char *working_folder;
    char *log_file;
    uint64_t max_log_bytes;
    unsigned max_log_files;
    unsigned stop_timeout_ms;
};
void service_host_settings_free(struct service_host_settings *settings);
/* The file's text. Pure; the caller frees. */
char *service_host_settings_make(const struct service_host_settings *settings);
/* Strict: unknown keys, an empty command, a program or log outside an absolute path:
 * ERROR_MALFORMED. */
int service_host_settings_parse(const char *text, size_t len, struct service_host_settings *ret,
                                struct error *err);
/* Reads NAME's file; a NAME with anything but letters, digits and '-': ERROR_USAGE. */
int service_host_settings_load(struct host *host, const char *name,
                               struct service_host_settings *ret, struct error *err);
/* Before `log_file` grows past its limit: NAME.log -> NAME.1.log -> ... ; the oldest goes. */
int service_log_rotate(struct host *host, const struct service_host_settings *settings,
                       struct error *err);
