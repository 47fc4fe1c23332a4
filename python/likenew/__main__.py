"""The `likenew` program."""

import sys

from . import _native


def main() -> int:
    """Runs the program with the command line of this process, and returns its exit code."""
    return _native.main(["likenew", *sys.argv[1:]], [sys.executable, "-m", "likenew"])


if __name__ == "__main__":
    sys.exit(main())
