/* The CNI calling convention: environment in, standard input in, one JSON object out. */
#include "tests/standins/lib/cni_plugin.h"

#include "base/memory.h"
#include "base/text.h"
#include "host/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 4 * 1024 * 1024 };

static int print_error(const struct cni_call *call, int code, const char *message) {
    const char *version = json_text_at(call->conf, "cniVersion");
    _cleanup_(json_decrefp_) json_t *object = json_pack(
        "{s:s,s:i,s:s}", "cniVersion", version ? version : "1.0.0", "code", code, "msg", message);
    _cleanup_(freep) char *text = json_write(object);

    printf("%s\n", text);
    return 1;
}

static int print_version(void) {
    printf("{\"cniVersion\":\"1.1.0\",\"supportedVersions\":[\"0.1.0\",\"0.2.0\",\"0.3.0\","
           "\"0.3.1\",\"0.4.0\",\"1.0.0\",\"1.1.0\"]}\n");
    return 0;
}

static char *read_input(void) {
    struct text input = {.cap = INPUT_MAX};
    char buffer[4096];
    size_t n;

    while ((n = fread(buffer, 1, sizeof(buffer), stdin)) > 0)
        text_add_bytes(&input, buffer, n);
    return text_take(&input);
}

static int dispatch(struct cni_call *call, cni_act *add, cni_act *del) {
    _cleanup_(json_decrefp_) json_t *result = NULL;
    struct error err = {0};
    int done = 0;

    if (text_equal(call->command, "ADD"))
        done = add(call, &result, &err);
    else if (text_equal(call->command, "DEL"))
        done = del(call, &result, &err);
    else if (!text_equal(call->command, "CHECK") && !text_equal(call->command, "GC") &&
             !text_equal(call->command, "STATUS"))
        return print_error(call, CNI_CODE_ENVIRONMENT, "unknown CNI_COMMAND");
    if (done)
        return print_error(call, CNI_CODE_INTERNAL, err.message);
    if (result) {
        _cleanup_(freep) char *text = json_write_pretty(result);
        printf("%s", text);
    }
    return 0;
}

int cni_main(cni_act *add, cni_act *del) {
    struct cni_call call = {
        .host = host_win32_open(),
        .command = getenv("CNI_COMMAND"),
        .container = getenv("CNI_CONTAINERID"),
        .netns = getenv("CNI_NETNS"),
        .interface = getenv("CNI_IFNAME"),
        .path = getenv("CNI_PATH"),
    };
    struct error err = {0};
    int code;

    if (text_equal(call.command, "VERSION"))
        return print_version();
    if (!call.command || !call.container || !call.interface || !call.path)
        return print_error(&call, CNI_CODE_ENVIRONMENT,
                           "required env variables [CNI_COMMAND,CNI_CONTAINERID,CNI_IFNAME,"
                           "CNI_PATH] missing");
    _cleanup_(freep) char *input = read_input();
    if (json_read(input, strlen(input), "network configuration", &call.conf, &err))
        return print_error(&call, CNI_CODE_DECODE, err.message);
    code = dispatch(&call, add, del);
    json_decref(call.conf);
    host_free(call.host);
    return code;
}
