#!/usr/bin/env python3
"""The libraries of winjoin.exe for Linux, at the same versions and with the same options (`make static`).

    linux.py --link DIR     make DIR a link to the finished prefix (include/, lib/, built.json)
    linux.py --print        print the prefix's path
"""

import sys

import build

PREFIX, STORE = "/usr/lib/winjoin-none", "/usr/lib/ssl"


def build_openssl(tree, prefix, options, jobs, log, roots):
    build.run(["perl", "./Configure", "linux-x86_64", "--libdir=lib", f"--prefix={PREFIX}", f"--openssldir={STORE}",
               *options, f"CFLAGS={build.CFLAGS}"], tree, log)
    build.run(["make", f"-j{jobs}", "build_libs"], tree, log)
    root = prefix.with_name("root")
    build.run(["make", "install_dev", f"DESTDIR={root}"], tree, log)
    (root / PREFIX.lstrip("/")).rename(prefix)


def build_cmake(tree, prefix, options, jobs, log, roots):
    settings = {
        "CMAKE_C_COMPILER": f"{build.TARGET}-gcc",
        "CMAKE_PREFIX_PATH": ";".join(map(str, roots)),
        "CMAKE_POLICY_VERSION_MINIMUM": "3.5",
        "CMAKE_BUILD_TYPE": "None",
        "CMAKE_C_FLAGS": f"{build.CFLAGS} -ffile-prefix-map={tree}={tree.name}",
        "CMAKE_INSTALL_PREFIX": str(prefix),
        "CMAKE_INSTALL_LIBDIR": "lib",
        "BUILD_SHARED_LIBS": "OFF",
    }
    words = [f"-D{key}={value}" for key, value in settings.items()] + [f"-D{o}" for o in options]
    build.run(["cmake", "-G", "Ninja", "-S", str(tree), "-B", str(tree / "obj.linux"), *words], tree, log)
    build.run(["ninja", f"-j{jobs}", "-C", str(tree / "obj.linux"), "install"], tree, log)


def build_zlib(tree, prefix, options, jobs, log, roots):
    build.run(["env", f"CFLAGS={build.CFLAGS}", "./configure", "--static", f"--prefix={prefix}"], tree, log)
    build.run(["make", f"-j{jobs}", "install"], tree, log)


def ensure(jobs):
    build.TARGET = "x86_64-linux-gnu"
    build.CFLAGS = "-Os -ffunction-sections -fdata-sections -fstack-protector-strong"
    build.RECIPES = {"openssl": [build_openssl], "cmake": [build_cmake], "zlib": [build_zlib],
                     "zstd": [build.build_zstd]}
    return build.ensure(jobs, "linux-libs", shipped_only=True)


if __name__ == "__main__":
    sys.exit(build.main(ensure, __doc__))
