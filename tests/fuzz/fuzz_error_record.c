/* ErrorRecords of HNS: the first four bytes are the HRESULT, the rest the record; a record is
 * always a failure with a kind and a text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/host_ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error err = {0};
    uint32_t hresult = 0;

    if (size < sizeof hresult)
        return 0;
    memcpy(&hresult, data, sizeof hresult);
    _cleanup_(freep) char *record =
        xstrndup((const char *)data + sizeof hresult, size - sizeof hresult);
    int result = hcn_check("HcnCreateNetwork", hresult, record, &err);
    if (result == 0 && (*record || hresult & 0x80000000u))
        abort();
    if (result < 0 && (err.kind == ERROR_NONE || !err.message[0]))
        abort();
    return 0;
}
