/* Implements text.h. */
#include "base/text.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>

/* Makes room for `more` bytes and a NUL. Returns false and sets `overflow` when the size limit
 * forbids it. */
static bool reserve(struct text *t, size_t more) {
    size_t cap = t->cap ? t->cap : TEXT_CAP_DEFAULT;
    size_t need;

    if (more > cap || t->len > cap - more) {
        t->overflow = true;
        return false;
    }
    need = t->len + more + 1;
    if (need > t->size) {
        char *larger;

        t->size = need < 64 ? 64 : need + need / 2;
        larger = xmalloc(t->size);
        if (t->len)
            memcpy(larger, t->data, t->len);
        secret_free(t->data, t->len);
        t->data = larger;
    }
    return true;
}

void text_add_bytes(struct text *t, const void *data, size_t len) {
    if (!reserve(t, len)) {
        /* After any addition, `data` is not NULL, even when the added text did not fit. */
        (void)reserve(t, 0);
        return;
    }
    if (len)
        memcpy(t->data + t->len, data, len);
    t->len += len;
    t->data[t->len] = '\0';
}

void text_add(struct text *t, const char *s) {
    text_add_bytes(t, s, strlen(s));
}

void text_add_char(struct text *t, char c) {
    text_add_bytes(t, &c, 1);
}

void text_addv(struct text *t, const char *format, va_list args) {
    char small[256];
    va_list again;
    int len;

    va_copy(again, args);
    len = vsnprintf(small, sizeof small, format, args);
    if (len >= 0 && (size_t)len < sizeof small) {
        text_add_bytes(t, small, (size_t)len);
    } else if (len >= 0) {
        char *large = xmalloc((size_t)len + 1);

        /* The buffer has exactly the length that the first call returned. */
        (void)vsnprintf(large, (size_t)len + 1, format, again);
        text_add_bytes(t, large, (size_t)len);
        secret_free(large, (size_t)len);
    }
    secret_wipe(small, sizeof small);
    va_end(again);
}

void text_addf(struct text *t, const char *format, ...) {
    va_list args;

    va_start(args, format);
    text_addv(t, format, args);
    va_end(args);
}

char *xasprintf(const char *format, ...) {
    struct text t = {0};
    va_list args;

    va_start(args, format);
    text_addv(&t, format, args);
    va_end(args);
    return text_take(&t);
}

/* Returns the length of the valid UTF-8 character at p (RFC 3629) and its code point. Returns 0
 * when the bytes are not valid UTF-8. */
static size_t utf8_length(const unsigned char *p, size_t left, uint32_t *ret_code) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
    uint32_t code;

    *ret_code = p[0];
    if (n <= 1 || n > left)
        return n == 1 ? 1 : 0;
    code = p[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3fu);
    }
    if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    *ret_code = code;
    return n;
}

void text_add_visible(struct text *t, const void *data, size_t len) {
    /* Is this a format character (Unicode category Cf) or a line separator? They are invisible, but
     * reverse the direction of a line, join letters or make two different texts look equal. */
    static const uint32_t invisible[][2] = {
        {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},
        {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},
        {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0xfeff, 0xfeff},
        {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x1bca0, 0x1bca3},
        {0x1d173, 0x1d17a}, {0xe0000, 0xe007f},
    };
    const unsigned char *p = data;
    uint32_t code;

    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        bool hidden = false;

        n = utf8_length(p + i, len - i, &code);
        for (size_t k = 0; n > 1 && k < ARRAY_SIZE(invisible); k++)
            hidden |= code >= invisible[k][0] && code <= invisible[k][1];
        if (hidden) {
            /* The \u escape is JSON's notation, so a JSON document keeps its meaning. */
            if (code > 0xffff)
                text_addf(t, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((code - 0x10000) >> 10)),
                          (unsigned)(0xdc00 + (code & 0x3ff)));
            else
                text_addf(t, "\\u%04x", (unsigned)code);
        } else
            text_add_bytes(t, p + i, n ? n : 1);
    }
    text_add_bytes(t, "", 0);
}

void text_add_escaped(struct text *t, const void *data, size_t len) {
    const unsigned char *p = data;
    uint32_t code;

    for (size_t i = 0; i < len;) {
        size_t n = utf8_length(p + i, len - i, &code);
        /* C1 control characters move the cursor of a terminal too. */
        bool c1 = n == 2 && code < 0xa0;

        if (p[i] == '\n' || p[i] == '\t' || p[i] == '\r') {
            text_add(t, p[i] == '\n' ? "\\n" : p[i] == '\t' ? "\\t" : "\\r");
            n = 1;
        } else if (n == 0 || c1 || p[i] < 0x20 || p[i] == 0x7f) {
            for (n = c1 ? 2 : 1; n--;)
                text_addf(t, "\\x%02x", p[i++]);
            continue;
        } else {
            text_add_visible(t, p + i, n);
        }
        i += n;
    }
    text_add_bytes(t, "", 0);
}

void text_add_url(struct text *t, const char *s, const char *kept) {
    for (; *s; s++)
        if (isalnum((unsigned char)*s) || strchr("-._~", *s) || strchr(kept, *s))
            text_add_char(t, *s);
        else
            text_addf(t, "%%%02X", (unsigned char)*s);
}

const char *text_str(const struct text *t) {
    return t->data ? t->data : "";
}

char *text_take(struct text *t) {
    char *data = t->data ? t->data : xstrdup("");

    *t = (struct text){.cap = t->cap};
    return data;
}

void text_clear(struct text *t) {
    t->len = 0;
    t->overflow = false;
    if (t->data)
        t->data[0] = '\0';
}

void text_free(struct text *t) {
    secret_free(t->data, t->len);
    *t = (struct text){.cap = t->cap};
}

bool text_equal(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool text_equal_nocase(const char *a, const char *b) {
    if (!a || !b)
        return a == b;
    while (*a && lower(*a) == lower(*b))
        a++, b++;
    return lower(*a) == lower(*b);
}

bool text_starts_with(const char *s, const char *prefix) {
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool text_ends_with(const char *s, const char *suffix) {
    size_t n = strlen(s), m = strlen(suffix);

    return n >= m && strcmp(s + n - m, suffix) == 0;
}

bool text_equal_secret(const void *a, size_t a_len, const void *b, size_t b_len) {
    const volatile unsigned char *p = a, *q = b;
    unsigned char differ = 0;

    if (a_len != b_len)
        return false;
    for (size_t i = 0; i < a_len; i++)
        differ |= p[i] ^ q[i];
    return differ == 0;
}

int text_format(char *out, size_t size, const char *format, ...) {
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(out, size, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len < size)
        return 0;
    if (size)
        out[0] = '\0';
    return -1;
}

int text_to_number(const char *s, long long min, long long max, long long *ret) {
    bool negative = *s == '-';
    long long value = 0;

    s += negative;
    if (!*s)
        return -1;
    for (; *s; s++)
        if (*s < '0' || *s > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -(*s - '0') : *s - '0', &value))
            return -1;
    if (value < min || value > max)
        return -1;
    *ret = value;
    return 0;
}

int text_split_port(const char *text, char **ret_host, unsigned *ret_port) {
    const char *bracket = *text == '[' ? strchr(text, ']') : NULL;
    const char *end = bracket ? bracket + 1 : text + strcspn(text, ":");
    long long port = *ret_port;

    if (!bracket && *end && strchr(end + 1, ':'))
        end += strlen(end); /* Text with two or more colons is an IPv6 address without a port. */
    if (*end && (*end != ':' || text_to_number(end + 1, 1, 65535, &port) < 0))
        return -1;
    *ret_port = (unsigned)port;
    *ret_host = bracket ? xstrndup(text + 1, (size_t)(bracket - text) - 1)
                        : xstrndup(text, (size_t)(end - text));
    return 0;
}

char *text_lower(const char *s) {
    char *copy = xstrdup(s);

    for (char *p = copy; *p; p++)
        *p = lower(*p);
    return copy;
}

void text_set(char **text, char *new_text) {
    free(*text);
    *text = new_text;
}

char *text_replace(char *text, const char *these, char to) {
    for (char *p = text; *(p += strcspn(p, these)); p++)
        *p = to;
    return text;
}

char *text_fill(const char *pattern, char begin, char end, const struct text_value *values) {
    const char *p = pattern, *from, *to;
    struct text out = {0};

    for (; (from = strchr(p, begin)) && (to = strchr(from + 1, end)); p = to + 1) {
        size_t len = (size_t)(to - from - 1);
        const struct text_value *v = values;

        while (v->name &&
               (!v->text || strlen(v->name) != len || strncmp(v->name, from + 1, len) != 0))
            v++;
        text_add_bytes(&out, p, (size_t)(from - p));
        if (v->name)
            text_add(&out, v->text);
        else
            text_add_bytes(&out, from + 1, len);
    }
    text_add(&out, p);
    return text_take(&out);
}

size_t text_columns(const char *s) {
    size_t n = 0;

    while (*s) {
        if (*s == '\x1b') {
            s += strcspn(s, "m");
            s += *s != '\0';
            continue;
        }
        n += ((unsigned char)*s++ & 0xc0) != 0x80;
    }
    return n;
}

/* Doubles the array at each power of two: Windows' heap would copy it for each added item. */
void text_list_add_owned(struct text_list *list, char *s) {
    if (!(list->count & (list->count + 1)))
        list->items = xrealloc(list->items, 2 * (list->count + 1) * sizeof *list->items);
    list->items[list->count++] = s;
    list->items[list->count] = NULL;
}

void text_list_add(struct text_list *list, const char *s) {
    text_list_add_owned(list, xstrdup(s));
}

void text_list_split(struct text_list *list, const char *s, char separator) {
    while (*s) {
        const char *end = strchr(s, separator);
        size_t len = end ? (size_t)(end - s) : strlen(s);

        if (len)
            text_list_add_owned(list, xstrndup(s, len));
        s += len + (end ? 1 : 0);
    }
}

bool text_list_has(const struct text_list *list, const char *s) {
    for (size_t i = 0; i < list->count; i++)
        if (text_equal(list->items[i], s))
            return true;
    return false;
}

static int compare_items(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void text_list_sort(struct text_list *list) {
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_items);
}

char *text_list_join(const struct text_list *list, const char *separator) {
    struct text t = {0};

    for (size_t i = 0; i < list->count; i++) {
        if (i)
            text_add(&t, separator);
        text_add(&t, list->items[i]);
    }
    return text_take(&t);
}

void text_list_free(struct text_list *list) {
    for (size_t i = 0; i < list->count; i++)
        secret_free_text(list->items[i]);
    free(list->items);
    *list = (struct text_list){0};
}
