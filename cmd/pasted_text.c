/* A pasted text into words. Chat programs, web pages and word processors put other characters in
 * the place of blanks and quotes, terminals and Markdown put theirs around a line. */
#include <string.h>

#include "base/memory.h"
#include "cmd/program.h"

/* What stands for what in a line; "" for nothing at all. */
static const struct {
    const char *odd, *plain, *name;
} characters[] = {
    {"\xc2\xa0", " ", "a no-break space"},
    {"\xe2\x80\xaf", " ", "a narrow no-break space"},
    {"\xe2\x80\x89", " ", "a thin space"},
    {"\xe3\x80\x80", " ", "a wide space"},
    {"\xe2\x80\xa8", " ", "a line separator"},
    {"\xe2\x80\x8b", "", "an invisible space"},
    {"\xe2\x81\xa0", "", "an invisible joiner"},
    {"\xef\xbb\xbf", "", "a byte order mark"},
    {"\xc2\xad", "", "a soft hyphen"},
    {"\xe2\x80\x9c", "\"", "a typographic quote"},
    {"\xe2\x80\x9d", "\"", "a typographic quote"},
    {"\xe2\x80\x9e", "\"", "a typographic quote"},
    {"\xe2\x80\x98", "'", "a typographic quote"},
    {"\xe2\x80\x99", "'", "a typographic quote"},
    {"\xe2\x80\x9a", "'", "a typographic quote"},
};

static char *plain_text(const char *text) {
    struct text out = {0};

    while (*text) {
        size_t i = 0;

        while (i < ARRAY_SIZE(characters) && !text_starts_with(text, characters[i].odd))
            i++;
        if (i == ARRAY_SIZE(characters)) {
            text_add_char(&out, *text++);
            continue;
        }
        text_add(&out, characters[i].plain);
        text += strlen(characters[i].odd);
    }
    return text_take(&out);
}

const char *pasted_odd_end(const char *word) {
    for (size_t i = 0; i < ARRAY_SIZE(characters); i++)
        if (text_starts_with(word, characters[i].odd) || text_ends_with(word, characters[i].odd))
            return characters[i].name;
    return NULL;
}

/* A blank, PowerShell's and Markdown's backtick, or a sign by which a shell continues a line. */
static bool parts_words(const char *p) {
    bool line_ends = p[1] == '\n' || (p[1] == '\r' && p[2] == '\n');

    return strchr(" \t\r\n\v\f`", *p) || (line_ends && (*p == '\\' || *p == '^'));
}

/* As a shell does, as far as these lines need it: blanks part words, quotes go. Backslashes stay:
 * they stand in Windows' paths. */
void pasted_words(const char *line, struct text_list *ret) {
    _cleanup_(freep) char *plain = plain_text(line);
    struct text word = {0};
    bool begun = false;
    char quote = '\0';

    for (const char *p = plain; *p; p++) {
        bool blank = !quote && parts_words(p);

        if (blank && begun)
            text_list_add_owned(ret, text_take(&word));
        begun = !blank;
        if (blank)
            continue;
        if (*p == quote)
            quote = '\0';
        else if (!quote && (*p == '"' || *p == '\''))
            quote = *p;
        else
            text_add_char(&word, *p);
    }
    if (begun)
        text_list_add_owned(ret, text_take(&word));
    text_free(&word);
}
