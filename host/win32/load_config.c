/* Has the load configuration table, which Windows reads before it loads a program's DLLs. It
 * restricts the imports of the program to System32. gcc's linker does not support this table, so
 * dist/make/load_config.py enters it into the finished program. */
#include "host/win32/win32.h"

/* IMAGE_LOAD_CONFIG_DIRECTORY64 with only the member that is used. */
struct load_config {
    uint32_t size;
    unsigned char before[0x4a];
    /* Windows reads this member since Windows 10 1607 and Server 2016. */
    uint16_t dependent_load_flags;
    unsigned char behind[0xf0];
};
_Static_assert(offsetof(struct load_config, dependent_load_flags) == 0x4e, "Windows' layout");
_Static_assert(sizeof(struct load_config) == 0x140, "the size that Windows' own programs state");

extern const struct load_config _load_config_used;
const struct load_config _load_config_used = {
    .size = sizeof _load_config_used,
    .dependent_load_flags = LOAD_LIBRARY_SEARCH_SYSTEM32,
};
