/* Escaping for XML and HTML. */
#include "diag/report_markup.h"

void markup_add(struct text *t, const char *s) {
    for (; s && *s; s++)
        switch (*s) {
        case '&':
            text_add(t, "&amp;");
            break;
        case '<':
            text_add(t, "&lt;");
            break;
        case '>':
            text_add(t, "&gt;");
            break;
        case '"':
            text_add(t, "&quot;");
            break;
        default:
            text_add_char(t, (unsigned char)*s < 0x20 && *s != '\n' ? '?' : *s);
        }
}
