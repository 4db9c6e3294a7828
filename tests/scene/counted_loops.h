/* Counts each turn of each loop of the source files that are included behind it, which then take
 * the place of those of the library: what they do without calling anybody is counted, too. All
 * headers come before. */
#pragma once

static size_t turns;

/* With a blank behind their names they would take no arguments. */
/* clang-format off */
#define for(...)                                                                                   \
    for (__VA_ARGS__)                                                                              \
        if (turns++, 0) {                                                                          \
        } else
#define while(...) while (turns++, (__VA_ARGS__))
/* clang-format on */
