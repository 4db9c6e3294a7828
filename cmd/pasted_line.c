/* A whole "kubeadm join ..." line that was pasted behind "winjoin join", as words or as one text,
 * with what terminals and documents leave around it. */
#include <string.h>

#include "base/memory.h"
#include "cmd/program.h"

/* ---- where a line begins ---- */

bool pasted_is_program(const char *word) {
    static const char *const names[] = {"kubeadm", "kubeadm.exe", "winjoin", "winjoin.exe"};
    for (const char *p = word; *p; p++)
        if (strchr("/\\>#$", *p)) /* folders, and a prompt without a blank behind it */
            word = p + 1;
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

    pasted_words(text, &words);
    if (words.count == 1 && strpbrk(words.items[0], " \t\r\n"))
        pasted_words(words.items[0], ret);
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

/* "PS C:\\>kubeadm", "[root@cp ~]#kubeadm": what stands before the last word of such a prompt. */
static bool begins_prompt(const char *word) {
    return text_equal(word, "PS") || *word == '[' || *word == '(';
}

static size_t prompt_before(const struct text_list *words, size_t end) {
    size_t begin = end;

    if (!strpbrk(words->items[end], "$#>")) { /* it is no part of the prompt itself */
        while (begin && !is_prompt(words->items[begin]))
            begin--;
        if (!is_prompt(words->items[begin]))
            return end;
        while (begin && is_prompt(words->items[begin - 1]))
            begin--;
    }
    return begin && begins_prompt(words->items[begin - 1]) ? begin - 1 : begin;
}

/* From the prompt, or sudo, up to the program: options there are those of another program. */
static void drop_prompt(struct text_list *words) {
    size_t end = find_program(words), begin, kept = 0;

    if (end == words->count)
        return;
    begin = prompt_before(words, end);
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
    _cleanup_(freep) char *flag = xstrndup(word, *word == '-' ? strcspn(word, "=") : 0);

    for (size_t i = 0; i < ARRAY_SIZE(dashes); i++)
        if (text_starts_with(word, dashes[i]) || strstr(flag, dashes[i]))
            return true;
    return false;
}

static int check_word(const struct text_list *words, size_t i, struct error *err) {
    static const char *const shell[] = {"&&", "||", "|", "&", ";", ">", "<"};
    const char *word = words->items[i], *next = words->items[i + 1]; /* NULL behind the last */
    const char *odd = pasted_odd_end(word);

    if (odd) {
        (void)error_set(err, ERROR_USAGE, "unknown word \"%.80s\": %s is around it", word, odd);
        return error_hint(err, "it came with the text that was copied: type the word anew");
    }
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

/* All words in one, without the program: winjoin join "10.0.0.1:6443 --token T ...". */
static bool is_whole_line(char *const *argv, int i, const struct text_list *words) {
    bool flags = false;

    for (size_t n = 1; n < words->count; n++)
        flags |= text_starts_with(words->items[n], "--");
    return flags && argv[i][0] != '-' && (i == 0 || argv[i - 1][0] != '-');
}

/* "\\--token": a line that was continued, without its end. */
static const char *without_continuation(const char *word) {
    return strchr("\\^`", *word) && *word && text_starts_with(word + 1, "--") ? word + 1 : word;
}

int join_expand_pasted(int argc, char *const *argv, struct text_list *ret, struct error *err) {
    for (int i = 0; i < argc; i++) {
        struct text_list words = {0};
        size_t first;

        words_of(argv[i], &words);
        first = find_program(&words);
        if (first == words.count && is_whole_line(argv, i, &words))
            first = 0;
        if (words.count > 1 && first < words.count)
            for (size_t n = first; n < words.count && (n == first || words.items[n][0] != '#'); n++)
                text_list_add(ret, without_continuation(words.items[n]));
        else
            text_list_add(ret, without_continuation(argv[i]));
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

    if (pasted_is_program(word))
        return true;

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
