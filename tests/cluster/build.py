#!/usr/bin/env python3
"""Builds the upstream programs of versions.ini, once, into ${WINJOIN_CACHE:-~/.cache/winjoin}/upstream.

    build.py [NAME...]      a program (kubeadm, kubelet.exe), a module (kubernetes, cni), or all
    build.py --of MODULE NAME...   a program that several modules have (kubelet-1.36 kubelet.exe)
    build.py --link DIR     DIR/linux and DIR/windows: links to every program that is built by default
    build.py --list         what there is, and whether it is built
    build.py --check        whether this machine's Go can build them; builds nothing
    build.py --pin [MODULE...]     writes modules/*/go.mod and go.sum again from versions.ini

Prints the programs' paths, one a line. Exit code 77: Go is missing or too old.
"""
import argparse
import os
import sys

import programs


def chosen(names, sections):
    """Programs of the names given: a module's name means all of its programs."""
    found = []
    for name in names:
        found += list(programs.table(name, sections[name])) if name in sections else [name]
    return found


def listing(sections):
    for name, settings in sections.items():
        for program in programs.table(name, settings):
            path = programs.place_of(program, name, settings)
            word = path if os.path.exists(path) else "on demand" if settings.get("demand") else "missing"
            yield "%-14s %-10s %-26s %s" % (name, settings.get("version", "tree"), program, word)


def link(folder, found):
    """A view of the cache by system and name."""
    for path in found.values():
        system = os.path.join(folder, os.path.basename(os.path.dirname(path)))
        os.makedirs(system, exist_ok=True)
        at = os.path.join(system, os.path.basename(path))
        fresh = "%s.%d" % (at, os.getpid())
        os.symlink(path, fresh)
        os.replace(fresh, at)


def act(args):
    sections = programs.versions()
    if args.list:
        return list(listing(sections))
    if args.check:
        programs.check()
        return []
    if args.pin:
        wanted = args.names or [n for n, s in sections.items() if "source" not in s]
        for name in wanted:
            programs.pin(name, sections[name], os.path.join(programs.PINS, name))
        return ["pinned " + name for name in wanted]
    if args.of:
        return list(programs.ensure(args.names, args.of).values())
    names = chosen(args.names, sections) or programs.everything(sections)
    found = {}
    for name in names:
        of = next((m for m in args.names if m in sections and name in
                   programs.table(m, sections[m])), None)
        found.update(programs.ensure([name], of))
    if args.link:
        link(args.link, found)
    return list(found.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--of", metavar="MODULE")
    parser.add_argument("--link", metavar="DIR")
    for flag in ("--list", "--check", "--pin"):
        parser.add_argument(flag, action="store_true")
    try:
        for line in act(parser.parse_args()):
            print(line)
    except programs.NoGo as why:
        print("error: %s" % why, file=sys.stderr)
        return programs.NO_GO
    except programs.Failed as why:
        print("error: %s" % why, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
