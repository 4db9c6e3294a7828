/* Small Windows programs made for tests: headers, Go's build information, a version resource. */
#pragma once

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { IMAGE_SIZE = 0x800, IMAGE_DATA = 0x200, IMAGE_RESOURCES = 0x600, IMAGE_SECTION_VA = 0x1000 };
#define IMAGE_FRAME                                                                                \
    "0w\xaf\x0c\x92t\x08\x02"                                                                      \
    "A\xe1\xc1\x07\xe6\xd6\x18\xe6"

static inline void image_number(char *image, size_t at, unsigned number, size_t size) {
    for (size_t i = 0; i < size; i++, number >>= 8)
        image[at + i] = (char)number;
}

static inline void image_section(char *image, size_t at, unsigned va, unsigned size, unsigned from,
                                 unsigned characteristics) {
    image_number(image, at + 12, va, 4);
    image_number(image, at + 16, size, 4);
    image_number(image, at + 20, from, 4);
    image_number(image, at + 36, characteristics, 4);
}

/* Go's strings: a length of one or two bytes, and the bytes. */
static inline size_t image_string(char *image, size_t at, const char *text, size_t len) {
    image[at++] = (char)((len & 0x7f) | 0x80);
    image[at++] = (char)(len >> 7);
    memcpy(image + at, text, len);
    return at + len;
}

/* IMAGE_SIZE bytes: a .data section at IMAGE_DATA with these lines of build information (NULL: none
 * at all), a resource section at IMAGE_RESOURCES with nothing in it. The caller frees. */
static inline char *image_make(const char *build_information) {
    char *image = xcalloc(1, IMAGE_SIZE);
    size_t sections = 0x80 + 24 + 240;

    memcpy(image, "MZ", 2);
    image_number(image, 0x3c, 0x80, 4);
    memcpy(image + 0x80, "PE", 2);
    image_number(image, 0x84, 0x8664, 2);
    image_number(image, 0x86, 2, 2);
    image_number(image, 0x80 + 20, 240, 2);
    image_number(image, 0x80 + 22, 0x22, 2);
    image_number(image, 0x80 + 24, 0x20b, 2);
    image_number(image, 0x80 + 24 + 108, 16, 4);
    image_section(image, sections, IMAGE_SECTION_VA, 0x400, IMAGE_DATA, 0xc0600040);
    image_section(image, sections + 40, 0x2000, 0x200, IMAGE_RESOURCES, 0x40000040);
    if (build_information) {
        _cleanup_(freep) char *framed = xasprintf(IMAGE_FRAME "%s" IMAGE_FRAME, build_information);
        size_t at = IMAGE_DATA + 0x20;

        memcpy(image + IMAGE_DATA + 5, "\xff Go buildinf:\x08\x02", 16); /* not aligned: a decoy */
        memcpy(image + at, "\xff Go buildinf:\x08\x02", 16);
        at = image_string(image, at + 32, "go1.26.8", 8);
        (void)image_string(image, at, framed, strlen(framed));
    }
    return image;
}

/* Adds a version resource: the fixed numbers a.b.c, and ProductVersion where it is not NULL. */
static inline void image_add_version(char *image, unsigned a, unsigned b, unsigned c,
                                     const char *product) {
    const size_t at = IMAGE_RESOURCES, block = at + 0x60, key = block + 0x60;
    static const char name[] = "ProductVersion";

    image_number(image, 0x80 + 24 + 112 + 16, 0x2000, 4);
    image_number(image, at + 14, 1, 2); /* one type: version */
    image_number(image, at + 16, 16, 4);
    image_number(image, at + 20, 0x80000018, 4);
    image_number(image, at + 0x18 + 14, 1, 2);
    image_number(image, at + 0x18 + 16, 1, 4);
    image_number(image, at + 0x18 + 20, 0x80000030, 4);
    image_number(image, at + 0x30 + 14, 1, 2);
    image_number(image, at + 0x30 + 20, 0x48, 4);
    image_number(image, at + 0x48, 0x2060, 4);
    image_number(image, at + 0x4c, 0x100, 4);
    image_number(image, block + 40, 0xfeef04bd, 4);
    image_number(image, block + 40 + 16, b, 2);
    image_number(image, block + 40 + 18, a, 2);
    image_number(image, block + 40 + 22, c, 2);
    for (size_t i = 0; product && i < sizeof name; i++)
        image_number(image, key + i * 2, (unsigned char)name[i], 2);
    for (size_t i = 0; product && product[i]; i++)
        image_number(image, key + 0x20 + i * 2, (unsigned char)product[i], 2);
}
