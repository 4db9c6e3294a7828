/* Files and logs of a node before they are packed: the length stays, nothing but '*' comes, a JSON
 * document stays one, and what is hidden once is hidden. A value that is plainly a secret is gone.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/redact.h"
#include "base/text.h"

static void keeps_its_form(const char *before, const char *after, size_t len) {
    if (strlen(after) != len)
        abort();
    for (size_t i = 0; i < len; i++)
        if (after[i] != before[i] && after[i] != '*')
            abort();
}

/* Two keys that differ in what is hidden alone become one. */
static void stays_a_document(const char *before, const char *after, size_t len) {
    _cleanup_json_ json_t *json = NULL, *again = NULL;
    struct error err = {0};

    if (json_read(before, len, "before", &json, NULL) == 0 &&
        json_read(after, len, "after", &again, &err) < 0 && !strstr(err.message, "duplicate"))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xmemdup(data, size), *hidden = NULL, *line = NULL;
    size_t len = size;

    unicode_to_text(&text, &len);
    if (strlen(text) != len)
        abort();
    hidden = xstrdup(text);
    redact_secrets(hidden);
    keeps_its_form(text, hidden, len);
    stays_a_document(text, hidden, len);
    line = xasprintf("%s\npassword: s3cr3t-7q9z\n", text);
    redact_secrets(line);
    if (!strstr(text, "s3cr3t") && strstr(line, "s3cr3t-7q9z"))
        abort();
    return 0;
}
