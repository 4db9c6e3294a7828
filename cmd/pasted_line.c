/* A whole "kubeadm join ..." line that was pasted behind "winjoin join", as words or as one text,
 * with what terminals and documents leave around it. */
#include <string.h>

#include "base/memory.h"
#include "cmd/program.h"

/* ---- one text into words ---- */

static size_t blank_at(const char *p) {
    return *p && strchr(" \t\r\n", *p) ? 1 : text_starts_with(p, "\xc2\xa0") ? 2 : 0;
}

/* As a shell does, as far as these lines need it: blanks part words, quotes go. Backslashes stay:
 * they stand in Windows' paths. */
static void shell_words(const char *line, struct text_list *ret) {
    struct text word = {0};
    bool begun = false;
    char quote = '\0';

    for (const char *p = line; *p; p++) {
        size_t blank = quote ? 0 : blank_at(p);

        if (blank && begun)
            text_list_add_owned(ret, text_take(&word));
        begun = !blank && (begun || *p);
        if (blank)
            p += blank - 1;
        else if (*p == quote)
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

bool pasted_is_program(const char *word) {
    static const char *const names[] = {"kubeadm", "kubeadm.exe", "winjoin", "winjoin.exe"};
    const char *slash = strrchr(word, '/'), *back = strrchr(word, '\\');

    if (slash)
        word = slash + 1;
    if (back && back + 1 > word)
        word = back + 1;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (text_equal_nocase(word, names[i]))
            return true;
    return false;
}

/* A program's name with a word behind it that is not an option's value: --bundle D:\winjoin. */
static bool begins_line(const struct text_list *words, size_t i) {
    if (i + 1 >= words->count || !pasted_is_program(words->items[i]))
        return false;
    return !i || words->items[i - 1][0] != '-' || text_equal(words->items[i + 1], "join");
}

/* Where the program's name stands with a word behind it; count when nowhere. */
static size_t find_program(const struct text_list *words) {
    for (size_t i = 0; i + 1 < words->count; i++)
        if (begins_line(words, i))
            return i;
    return words->count;
}

/* A text that begins and ends with quotes is one word of itself. */
static void words_of(const char *text, struct text_list *ret) {
    struct text_list words = {0};

    shell_words(text, &words);
    if (words.count == 1 && strpbrk(words.items[0], " \t\r\n"))
        shell_words(words.items[0], ret);
    else
        for (size_t i = 0; i < words.count; i++)
            text_list_add(ret, words.items[i]);
    text_list_free(&words);
}

/* ---- the words ---- */

/* What stands before a line in a terminal: "sudo -E", "$", "root@cp:~#", "C:\>". */
static bool is_prompt(const char *word) {
    size_t len = strlen(word);

    return text_equal(word, "sudo") || (len && strchr("$#>", word[len - 1]));
}

/* From the prompt, or sudo, up to the program: options there are those of another program. */
static void drop_prompt(struct text_list *words) {
    size_t end = find_program(words), begin = end, kept = 0;

    while (begin && end < words->count && !is_prompt(words->items[begin]))
        begin--;
    if (end == words->count || !is_prompt(words->items[begin]))
        return;
    for (size_t i = 0; i < words->count; i++) {
        if (i >= begin && i < end)
            freep(&words->items[i]);
        else
            words->items[kept++] = words->items[i];
    }
    words->count = kept;
    words->items[kept] = NULL;
}

/* Text editors make one long dash of two. */
static bool has_long_dash(const char *word) {
    static const char *const dashes[] = {"\xe2\x80\x90", "\xe2\x80\x91", "\xe2\x80\x92",
                                         "\xe2\x80\x93", "\xe2\x80\x94", "\xe2\x80\x95",
                                         "\xe2\x88\x92"};

    for (size_t i = 0; i < ARRAY_SIZE(dashes); i++)
        if (text_starts_with(word, dashes[i]))
            return true;
    return false;
}

static int check_word(const struct text_list *words, size_t i, struct error *err) {
    static const char *const shell[] = {"&&", "||", "|", "&", ";", ">", "<"};
    const char *word = words->items[i], *next = words->items[i + 1]; /* NULL behind the last */

    if (has_long_dash(word)) {
        (void)error_set(err, ERROR_USAGE, "unknown word \"%.80s\": its dash is not \"-\"", word);
        return error_hint(err, "text editors write a long dash for \"--\": type it anew");
    }
    if (begins_line(words, i) && !text_equal(next, "join") && !pasted_is_program(next)) {
        (void)error_set(err, ERROR_USAGE, "\"kubeadm %.40s\" is no line to join with", next);
        return error_hint(err, "on a control plane: kubeadm token create --print-join-command");
    }
    for (size_t s = 0; s < ARRAY_SIZE(shell); s++)
        if (text_equal(word, shell[s]))
            return error_set(err, ERROR_USAGE,
                             "the line goes on behind \"%s\": give the join command alone", word);
    return 0;
}

int join_expand_pasted(int argc, char *const *argv, struct text_list *ret, struct error *err) {
    for (int i = 0; i < argc; i++) {
        struct text_list words = {0};
        size_t first;

        words_of(argv[i], &words);
        first = find_program(&words);
        if (words.count > 1 && first < words.count)
            for (; first < words.count && words.items[first][0] != '#'; first++)
                text_list_add(ret, words.items[first]);
        else
            text_list_add(ret, argv[i]);
        text_list_free(&words);
    }
    drop_prompt(ret);
    for (size_t i = 0; i < ret->count; i++)
        if (check_word(ret, i, err) < 0)
            return -1;
    return 0;
}

/* The marks by which shells continue a line, left over when the lines are pasted as one. */
static bool is_pasted_word(const char *word) {
    static const char *const pasted[] = {"sudo", "join", "\\", "^", "`"};
    _cleanup_(freep) char *bare = NULL;

    word += strspn(word, " \t\r\n");
    bare = xstrndup(word, strcspn(word, " \t\r\n"));
    if (word[strlen(bare)] && word[strlen(bare) + strspn(word + strlen(bare), " \t\r\n")])
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(pasted); i++)
        if (text_equal(bare, pasted[i]))
            return true;
    return !*bare || pasted_is_program(bare);
}

void join_drop_pasted_words(struct text_list *words) {
    size_t kept = 0;

    for (size_t i = 0; i < words->count; i++) {
        if (is_pasted_word(words->items[i]))
            freep(&words->items[i]);
        else
            words->items[kept++] = words->items[i];
    }
    words->count = kept;
    if (words->items)
        words->items[kept] = NULL;
}
