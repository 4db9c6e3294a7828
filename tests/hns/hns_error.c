/* HRESULTs of HNS: their texts and the ErrorRecord. Codes: hcsshim internal/hns, winerror.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/hns/model.h"

static const struct {
    unsigned hr;
    const char *text;
} texts[] = {
    {0x80004001, "Not implemented. "},
    {0x80070006, "The handle is invalid. "},
    {0x80070032, "The request is not supported. "},
    {0x80070057, "The parameter is incorrect. "},
    {0x800700b7, "Cannot create a file when that file already exists. "},
    {0x80070490, "Element not found. "},
    {0x800706b5, "The interface is unknown. "},
    {0x80071392, "The object already exists. "},
    {0xc037010e, "A virtual machine or container with the specified identifier does not exist. "},
    {0x803b0001, "The network was not found. "},
    {0x803b0002, "The endpoint was not found. "},
    {0x803b0005, "The subnet was not found. "},
    {0x803b0006, "An adapter was not found. "},
    {0x803b0008, "The policy was not found. "},
    {0x803b000a, "The network is invalid. "},
    {0x803b000b, "The network type is invalid. "},
    {0x803b000c, "The endpoint is invalid. "},
    {0x803b000d, "The provided policy configuration is invalid or missing parameters. "},
    {0x803b000e, "The policy type is invalid. "},
    {0x803b000f, "The operation is invalid on a remote endpoint. "},
    {0x803b0010, "A network with this name already exists. "},
    {0x803b0012, "The policy already exists. "},
    {0x803b0013, "The specified port already exists. "},
    {0x803b0014, "This endpoint is already attached to the switch. "},
    {0x803b0015, "The specified request is unsupported. "},
    {0x803b0018, "Cannot modify a switch shared by multiple networks. "},
    {0x803b001b, "The specified JSON document is invalid. "},
    {0x803b001e, "IP address is either invalid or not part of any configured subnet(s). "},
    {0x803b0020, "The manager has been stopped. "},
    {0x803b0029, "The default namespace already exists. "},
    {0x803b002b, "The endpoint is already in another namespace. "},
    {0x803b002d, "The internal port is invalid. "},
    {0x803b002f, "An address provided is invalid or reserved. "},
    {0x803b0030, "The prefix is invalid. "},
    {0x803b0032, "The subnet is invalid. "},
    {0x803b0034, "The endpoint is not attached. "},
};

const char *model_hr_text(unsigned hr) {
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].hr == hr)
            return texts[i].text;
    return "Unspecified error. ";
}

int model_fail(struct hns_model *m, unsigned hr, const char *format, ...) {
    va_list args;
    int used;

    m->fail_hr = hr;
    used = snprintf(m->fail_text, sizeof(m->fail_text), "%s", model_hr_text(hr));
    if (format) {
        va_start(args, format);
        (void)vsnprintf(m->fail_text + used, sizeof(m->fail_text) - (size_t)used, format, args);
        va_end(args);
    }
    return -1;
}

char *model_error_record(unsigned hr, const char *text) {
    json_t *record = json_pack("{s:b, s:s%, s:I}", "Success", 0, "Error", text, strlen(text),
                               "ErrorCode", (json_int_t)hr);
    char *out;

    if (!record) /* cut in the middle of a UTF-8 sequence */
        record = json_pack("{s:b, s:s, s:I}", "Success", 0, "Error", model_hr_text(hr), "ErrorCode",
                           (json_int_t)hr);
    out = json_dumps(record, JSON_COMPACT);
    json_decref(record);
    return out;
}
