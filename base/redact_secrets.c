/* Finds what looks like a secret in the files and logs of a node. What is no secret may be hidden
 * with it. */
#include <ctype.h>
#include <string.h>

#include "base/redact.h"
#include "base/redact_rules.h"
#include "base/text.h"

#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
#define HEX "0123456789abcdefABCDEF"
#define BLANKS " \t\r\n"

static bool is_document(const char *text) {
    size_t len = strlen(text);

    text += strspn(text, BLANKS);
    len = strlen(text);
    while (len && strchr(BLANKS, text[len - 1]))
        len--;
    return len > 1 &&
           ((text[0] == '{' && text[len - 1] == '}') || (text[0] == '[' && text[len - 1] == ']'));
}

/* A proxy without a scheme: "user:password@host". */
static void hide_proxy(char *at) {
    at += strspn(at, "\"'\\ \t:=");
    redact_login(at, strcspn(at, " \t\r\n\"'<"));
}

static void look(const struct redact_text *text, char *name, char *end) {
    size_t len = (size_t)(end - name);
    /* of "\npassword" in a text of JSON, or of "C:\npassword" */
    size_t escaped = name > text->begin && name[-1] == '\\' && strchr("nrt", *name) ? 1 : 0;

    if (redact_is_secret_name(name, len) || redact_is_secret_name(name + escaped, len - escaped))
        redact_value(text, name + escaped, end);
    else if (redact_ends_in(name, len, "proxy"))
        hide_proxy(end);
    else if ((len == 2 && strncmp(name, "-u", 2) == 0) ||
             (name[0] == '-' && redact_ends_in(name, len, "-user")))
        redact_user(end);
}

void redact_secrets(char *text) {
    const struct redact_text whole = {text, is_document(text)};

    redact_tokens(text);
    redact_forms(&whole);
    for (char *at = text; *at;) {
        size_t len = strspn(at, NAME);

        if (at[0] == '\\' && at[1] == 'u' && strspn(at + 2, HEX) >= 4) { /* "\u0026sig=x" */
            at += 6;
            continue;
        }
        if (len)
            look(&whole, at, at + len);
        at += len ? len : 1;
    }
}
