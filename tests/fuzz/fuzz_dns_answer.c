/* DNS answers, which anybody on the network may have sent. */
#include <stdint.h>

#include "host/socket_dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum socket_outcome outcome;
    char addresses[4][46];
    size_t count;

    (void)dns_answer_parse(data, size, size >= 2 ? (uint16_t)(data[0] << 8 | data[1]) : 0, &outcome,
                           addresses, 4, &count); /* only that it stays inside */
    return 0;
}
