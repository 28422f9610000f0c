"""`python -m rukh_loaders`: look into packs, check them, and see how fast this machine serves them."""

import sys
from collections.abc import Sequence

STOPPED = 130
"""As a shell counts those that end by SIGINT."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, as `command_line.run` does; stopped by Ctrl-C, also while it is imported, it says so."""
    try:
        from rukh_loaders.command_line import run  # takes a while, so it is stopped in good order too

        return run(arguments)
    except KeyboardInterrupt:
        print("rukh_loaders: stopped", file=sys.stderr)
        return STOPPED


if __name__ == "__main__":
    sys.exit(main())
