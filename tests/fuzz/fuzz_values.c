/* The small readers of base/: addresses, prefixes, times, durations, base64, escaping,
 * tokens in texts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/cidr.h"
#include "base/memory.h"
#include "base/redact.h"
#include "base/rfc3339.h"
#include "base/text.h"

static void addresses(const char *text) {
    char out[IP_TEXT_MAX], prefix[CIDR_TEXT_MAX];
    struct cidr cidr, cidr_again;
    struct ip ip, again;

    if (ip_parse(text, &ip, NULL) == 0) {
        ip_format(&ip, out);
        if (ip_parse(out, &again, NULL) < 0 || !ip_equal(&ip, &again))
            abort();
    }
    if (cidr_parse(text, &cidr, NULL) == 0) {
        cidr_format(&cidr, prefix);
        if (cidr_parse(prefix, &cidr_again, NULL) < 0 || cidr.length != cidr_again.length ||
            !ip_equal(&cidr.base, &cidr_again.base))
            abort();
    }
}

static void times(const char *text) {
    char out[RFC3339_TEXT_MAX];
    int64_t time = 0, again = 0;

    if (rfc3339_parse(text, &time, NULL) == 0 && time >= -62167219200 && time <= 253402300799) {
        rfc3339_format(time, out);
        if (rfc3339_parse(out, &again, NULL) < 0 || time != again)
            abort();
    }
    if (go_duration_parse(text, &time, NULL) == 0 && time < 0)
        abort();
    if (go_duration_read(text, &time, NULL) == 0) {
        char duration[GO_DURATION_TEXT_MAX];

        go_duration_format(time, duration);
        if (go_duration_read(duration, &again, NULL) < 0 || again != time)
            abort();
    }
}

static void base64(const char *text, size_t size) {
    _cleanup_(freep) unsigned char *bytes = NULL, *again = NULL;
    size_t len = 0, again_len = 0;

    if (base64_decode(text, size, &bytes, &len, NULL) < 0)
        return;
    _cleanup_(freep) char *back = base64_encode(bytes, len);
    if (bytes[len] || base64_decode(back, strlen(back), &again, &again_len, NULL) < 0 ||
        again_len != len || memcmp(again, bytes, len) != 0)
        abort();
}

/* Whatever a text has of what looks like a token, its secret half is gone afterwards. */
static void redact(const char *text) {
    _cleanup_(freep) char *shown = xstrdup(text), *once = NULL;

    redact_tokens(shown);
    once = xstrdup(shown);
    redact_tokens(once);
    if (strlen(shown) != strlen(text) || strcmp(once, shown) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct text escaped = {0};

    addresses(text);
    times(text);
    base64((const char *)data, size);
    redact(text);
    text_add_escaped(&escaped, data, size);
    for (size_t i = 0; i < escaped.len; i++)
        if ((unsigned char)escaped.data[i] < 0x20)
            abort();
    text_free(&escaped);
    return 0;
}
