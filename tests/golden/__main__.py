"""`python -m tests.golden`: play all settings and rewrite the traces, or compare with them."""

import argparse
import sys
from fnmatch import fnmatchcase

from tests.golden import comparing
from tests.golden.settings import settings


def main() -> int:
    """The exit code: 1 where traces differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--only", metavar="GLOB", default="*", help="settings by name")
    parser.add_argument("--print", action="store_true", help="print whole traces, write nothing")
    options = parser.parse_args()
    names = [name for name in settings() if fnmatchcase(name, options.only)]
    if not names:
        parser.error(f"no setting has a name like {options.only!r}")
    if options.print:
        return _print(names)
    if options.check:
        return _check(names, whole=options.only == "*")
    kept = {} if options.only == "*" else comparing.stored()
    fresh = {comparing.MACHINE: comparing.machine(), **comparing.played(names)}
    comparing.store({**kept, **fresh})
    print(f"{len(names)} settings written to {comparing.PATH.name}")
    return 0


def _print(names: list[str]) -> int:
    """Two versions of the code are compared round by round with the output of this and `diff`."""
    known = settings()
    for name in names:
        trace = known[name]()
        print(f"# {name}", *([f"refused: {trace.refused}"] if trace.refused else []))
        for field, lines in trace.lines.items():
            for line in lines:
                print(f"{field}: {line}")
    return 0


def _check(names: list[str], *, whole: bool) -> int:
    found = comparing.differences(names)
    found += [f"{name}: on file, but not played" for name in comparing.gone()] if whole else []
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(names)} settings played, {len(found)} differences")
    if found and comparing.stored().get(comparing.MACHINE) != comparing.machine():
        print("The traces on file were made on another machine or with other packages:")
        print(f"  then {comparing.stored().get(comparing.MACHINE)}\n  now  {comparing.machine()}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
