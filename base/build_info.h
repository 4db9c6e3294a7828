/* Says from which sources and libraries this program was built. The Makefile generates the
 * definitions (dist/make/build_info.py) from dist/version, git and the record of the built
 * libraries. */
#pragma once

struct build_library {
    const char *name; /* Name of the library, e.g. "openssl". */
    /* Debian's package version, e.g. "3.5.7-1~deb13u2". In native builds: the version from
     * pkg-config. */
    const char *version;
    const char *license; /* SPDX license expression; "" for libraries of the operating system. */
};

extern const char build_version[]; /* Version of winjoin, e.g. "0.1.0". */
extern const char build_commit[];  /* Git commit as twelve hex digits, or "unknown". */
/* The libraries in this program, sorted by name. The last row has a NULL name. */
extern const struct build_library build_libraries[];
