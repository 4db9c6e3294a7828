/* Escaping for XML and HTML. */
#include "diag/reports/markup.h"

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
            if ((unsigned char)*s == 0xc2 && (unsigned char)s[1] < 0xa0 && s[1])
                s++; /* the controls from U+0080 on */
            else if (((unsigned char)*s >= 0x20 && *s != 0x7f) || *s == '\n') {
                text_add_char(t, *s);
                break;
            }
            text_add_char(t, '?');
        }
}
