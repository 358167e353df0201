"""Entry point of `python -m hannan`, which runs the command `hannan`."""

from hannan.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
