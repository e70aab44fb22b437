"""The command line, where its script is not on the path: ``python -m shoal``."""

from __future__ import annotations

from shoal.cli.app import main

if __name__ == "__main__":
    main()
