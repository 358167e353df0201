"""`python -m hannan` is the command `hannan`."""

from hannan.cli import main

raise SystemExit(main())
