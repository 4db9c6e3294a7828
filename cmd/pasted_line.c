/* Accepts a whole "kubeadm join ..." line that was pasted after "winjoin join", as words or as one
 * text. Prompt, sudo, program name, quotes and line continuation characters are removed. */
#include "cmd/program.h"
#include "pki/digest.h"
#include "pki/token.h"

#define BLANKS " \t\r\n"

/* Says whether the word names kubeadm or winjoin. It may begin with a folder or a shell prompt, as
 * in "C:\>kubeadm". */
static bool is_program(const char *word) {
    static const char *const names[] = {"kubeadm", "kubeadm.exe", "winjoin", "winjoin.exe"};

    for (const char *p = word; *p; p++)
        if (strchr("/\\>#$", *p))
            word = p + 1;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (text_equal_nocase(word, names[i]))
            return true;
    return false;
}

int words_skip_pasted(int argc, char *const *argv) {
    int n = 1;

    while (n + 1 < argc && (text_equal(argv[n], "sudo") || is_program(argv[n]) ||
                            (text_equal(argv[n], "join") && text_equal(argv[n + 1], "join"))))
        n++;
    return n - 1;
}

/* Returns the index of the program's name in "kubeadm join", or the number of words when the line
 * does not have these two words. */
static size_t find_program(const struct text_list *words) {
    for (size_t i = 0; i + 1 < words->count; i++)
        if (is_program(words->items[i]) && text_equal(words->items[i + 1], "join"))
            return i;
    return words->count;
}

/* Splits a line as a shell does, at blanks and line continuation characters. Backslashes stay,
 * since Windows paths have them. */
static void split(const char *line, struct text_list *ret) {
    _cleanup_(text_free) struct text word = {0};
    bool begun = false;
    char quote = '\0';

    for (const char *p = line; *p; p++) {
        bool line_ends = p[1] == '\n' || (p[1] == '\r' && p[2] == '\n');
        bool blank = !quote && (strchr(BLANKS, *p) || (line_ends && strchr("\\^`", *p)));

        if (blank && begun)
            text_list_add_owned(ret, text_take(&word));
        begun = !blank;
        if (*p == quote)
            quote = '\0';
        else if (!quote && (*p == '"' || *p == '\''))
            quote = *p;
        else if (!blank)
            text_add_char(&word, *p);
    }
    if (begun)
        text_list_add_owned(ret, text_take(&word));
}

static void remove_words(struct text_list *words, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++)
        secret_freep(&words->items[i]);
    /* The loop also moves the NULL that ends the list. */
    for (size_t i = end; i <= words->count; i++)
        words->items[begin + i - end] = words->items[i];
    words->count -= end - begin;
}

void join_expand_pasted(int argc, char *const *argv, struct text_list *ret) {
    size_t program;

    for (int i = 0; i < argc; i++) {
        _cleanup_(text_list_free) struct text_list words = {0}, inner = {0};
        const struct text_list *line = &words;
        size_t first;

        /* Splits an argument that holds a whole line, from the program's name on. */
        split(argv[i], &words);
        /* The whole pasted line is in quotes. */
        if (words.count == 1 && strpbrk(words.items[0], BLANKS)) {
            split(words.items[0], &inner);
            line = &inner;
        }
        first = find_program(line);
        if (first == line->count)
            text_list_add(ret, argv[i]);
        for (size_t k = first; k < line->count; k++)
            text_list_add(ret, line->items[k]);
    }

    /* Removes "kubeadm join" and what stands before it from a prompt or sudo on, as in "PS C:\>" or
     * "sudo -E". */
    while ((program = find_program(ret)) < ret->count) {
        size_t begin = 0;

        for (; begin < program; begin++) {
            const char *word = ret->items[begin];

            if (text_equal(word, "sudo") || (*word && strchr("$#>", word[strlen(word) - 1])))
                break;
        }
        if (begin && (text_equal(ret->items[begin - 1], "PS") || ret->items[begin - 1][0] == '['))
            begin--;
        remove_words(ret, begin, program + 2);
    }
}

void join_drop_blank_words(struct text_list *words) {
    for (size_t i = words->count; i-- > 0;) {
        const char *word = words->items[i];

        word += *word && strchr("\\^`", *word);
        if (!word[strspn(word, BLANKS)])
            remove_words(words, i, i + 1);
    }
}

/* ---- damage that a terminal or a web page did to the line ---- */

static bool is_token(const char *text) {
    _cleanup_(token_clear) struct token token = {0};

    return token_parse(text, &token, ERROR_IGNORED) == 0;
}

static bool is_pin(const char *text) {
    char pin[PIN_TEXT_MAX];

    return pin_parse(text, pin, ERROR_IGNORED) == 0;
}

/* Finds a value that a line break or blank has cut: joined with the next words, it is whole. */
static int check_whole(const char *flag, const char *value, bool is_whole(const char *text),
                       const struct text_list *words, struct error *err) {
    for (size_t i = 0; value && !is_whole(value) && i < words->count; i++) {
        _cleanup_(secret_freep) char *joined = xstrdup(value);

        for (size_t k = i; k < words->count; k++) {
            char *longer = xasprintf("%s%s", joined, words->items[k]);

            secret_freep(&joined);
            joined = longer;
            if (!is_whole(joined))
                continue;
            (void)error_set(err, ERROR_USAGE,
                            "the value of --%s is cut in pieces, by the end of a line or a blank",
                            flag);
            return error_hint(err, "write it as one word, as kubeadm token create "
                                   "--print-join-command prints it");
        }
    }
    return 0;
}

/* Finds a flag that directly follows a value, as in "10.0.0.10:6443--token". */
static int check_apart(const struct program *program, const char *text, struct error *err) {
    for (const char *p = text ? strstr(text, "--") : NULL; p; p = strstr(p + 1, "--")) {
        _cleanup_(freep) char *name = xstrndup(p + 2, strcspn(p + 2, "= "));

        if (p == text || strchr(BLANKS, p[-1]) || !options_has(program->set, name))
            continue;
        (void)error_set(err, ERROR_USAGE, "a blank is missing before --%s", name);
        return text == program->options.join.token
                   ? error_hint(err, "it stands right behind the token")
                   : error_hint(err, "write %.*s --%s", (int)(p - text), text, name);
    }
    return 0;
}

int join_check_pasted(const struct program *program, struct error *err) {
    const struct join_options *o = &program->options.join;
    const struct text_list *pins = &o->discovery_token_ca_cert_hash, *words = &program->words;

    for (size_t i = 0; i < words->count; i++)
        if (check_apart(program, words->items[i], err) < 0)
            return -1;
    for (size_t i = 0; i < pins->count; i++)
        if (check_apart(program, pins->items[i], err) < 0 ||
            check_whole("discovery-token-ca-cert-hash", pins->items[i], is_pin, words, err) < 0)
            return -1;
    return check_apart(program, o->token, err) < 0 ||
                   check_whole("token", o->token, is_token, words, err) < 0
               ? -1
               : 0;
}
