#!/usr/bin/env python3
"""Plays scenarios against a real cluster of upstream's programs: e2e.py [NAME|PATTERN|GROUP]...

    --list      the scenarios, their groups and what they show
    --keep      keep the folders of scenarios that passed, too
    --hold      leave the last stage standing until Ctrl-C

What failed is kept in build/e2e/<scenario>/. When all have ended, up to AGAIN failed ones are played once more,
each on a stage of its own; what passes then is counted as passed and named. Last line: N passed, N failed, N skipped. Exit code 77:
Go, which builds upstream's programs, is missing or too old.
"""
import argparse
import os
import shutil
import signal
import sys
import time
import traceback

import control_plane  # first: it finds the rig
import netns
import programs
import scenario
import stages

FOLDER = os.path.join(stages.ROOT, "build", "e2e")
AGAIN = 2  # more failures than these are no accident


def stage_of(row):
    """Rows with equal ones can share a stage."""
    return row.on or stages.Stage, tuple(sorted(row.keywords.items()))


def grouped(rows):
    """The rows in their order, but those of one stage together."""
    keys = list(dict.fromkeys(map(stage_of, rows)))
    return sorted(rows, key=lambda row: keys.index(stage_of(row)))


class Player:
    """Plays rows one after the other and keeps a stage between those that can share it."""

    def __init__(self, keep):
        self.keep, self.stage, self.key, self.count = keep, None, None, 0
        self.results = {}

    def open(self, row):
        key = stage_of(row)
        if self.stage and key == self.key:
            return self.stage
        self.close()
        self.count += 1
        stage = key[0](os.path.join(FOLDER, "stage-%d" % self.count), **row.keywords)
        self.stage = stage.__enter__()
        self.key = key
        print("      " + stage.describe(), flush=True)
        return stage

    def close(self):
        if self.stage:
            stage, self.stage = self.stage, None
            stage.__exit__(None, None, None)

    def play(self, row):
        folder, why = os.path.join(FOLDER, row.name), ""
        shutil.rmtree(folder, ignore_errors=True)
        begin = time.monotonic()
        try:
            stage = self.open(row)
            begin = time.monotonic()
            stage.begin()
            row.play(stage)
            word = "ok"
        except (scenario.Skip, netns.Missing) as reason:
            word, why = "skip", "skipped: %s" % reason
        except Exception:  # whatever it is, the next scenario is played
            word, why = "FAIL", traceback.format_exc()
        seconds = time.monotonic() - begin
        self._put_away(word, folder, why)
        print("%-4s  %-28s %5.1f s%s" % (word, row.name, seconds, why and "\n" + why), flush=True)
        if word == "FAIL":
            print("      kept: " + folder, flush=True)
        self.results[row.name] = row, word

    def failed(self):
        return [row for row, word in self.results.values() if word == "FAIL"]

    def play_again(self):
        """Those that failed, when they are few: load and races are the machine's, not the program's."""
        rows = self.failed() if len(self.failed()) <= AGAIN else []
        for row in rows:
            self.close()
            print("      once more: " + row.name, flush=True)
            self.play(row)
        return [row.name for row in rows if self.results[row.name][1] != "FAIL"]

    def _put_away(self, word, folder, why):
        if word == "FAIL" or self.keep:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "why.txt"), "w", encoding="utf-8") as f:
                f.write(why or word)
            try:
                if self.stage:
                    self.stage.keep(folder)
            except Exception:  # the failure itself is worth more than what could not be kept
                with open(os.path.join(folder, "not-kept.txt"), "w", encoding="utf-8") as f:
                    f.write(traceback.format_exc())
        try:
            if self.stage:
                self.stage.end()
        finally:
            if word == "FAIL":
                self.close()


def used():
    """One line: what the cluster is made of."""
    return ", ".join("%s %s" % (n, s["version"]) for n, s in programs.versions().items()
                     if "version" in s and not s.get("demand"))


def listing(rows):
    return "\n".join("%-28s %-8s %s" % (r.name, ",".join(r.groups), r.title) for r in rows)


def play(rows, args):
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    print("e2e: upstream's %s, from %s" % (used(), programs.cache()), flush=True)
    begin = time.monotonic()
    programs.ensure(control_plane.PROGRAMS)
    print("e2e: programs ready after %.1f s; %d scenarios" % (time.monotonic() - begin, len(rows)),
          flush=True)
    player, interrupted = Player(args.keep), False
    try:
        for row in grouped(rows):
            player.play(row)
        for name in player.play_again():
            print("      failed once, passed when played alone: " + name, flush=True)
        if args.hold and player.stage:
            print("held until Ctrl-C; " + player.stage.describe(), flush=True)
            signal.pause()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        player.close()
    if not player.failed() and not args.keep:
        shutil.rmtree(FOLDER, ignore_errors=True)
    print("%d passed, %d failed, %d skipped" % tuple(
        sum(word == kind for _, word in player.results.values()) for kind in ("ok", "FAIL", "skip")))
    if interrupted:
        return 130
    return 1 if player.failed() or not player.results else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    for flag in ("--list", "--keep", "--hold"):
        parser.add_argument(flag, action="store_true")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    scenario.load()
    try:
        rows = scenario.chosen(" ".join(args.names).replace(",", " ").split())
        if args.list:
            print(listing(rows))
            return 0
        netns.require()
        return play(rows, args)
    except KeyError as why:
        print("error: no scenario or group %s; --list names them" % why, file=sys.stderr)
        return 3
    except netns.Missing as why:
        print("skipped: %s\n0 passed, 0 failed, %d skipped" % (why, len(rows)))
        return 1
    except programs.NoGo as why:
        print("error: %s" % why, file=sys.stderr)
        return programs.NO_GO
    except programs.Failed as why:
        print("error: %s" % why, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
