"""What the batch kernels say of a game, as numbers: `DONE`, or why the game is for the oracle to judge."""

DONE = 0
"""Accepted: what the kernel wrote is what the oracle would."""

NULL = 1
"""The row is null."""

UNREADABLE = 2
"""Text that the kernel does not read; the oracle may."""

NOT_LEGAL = 3
"""A move that the kernel did not find to be legal."""

TOO_LONG = 4
"""More than `MAX_PLIES` plies."""

UNKNOWN_RESULT = 5
"""A result that is none of the three that a finished game has."""

MAX_PLIES = 2**15 - 1
"""As many as the games format can hold."""

RESULTS = ("", "1-0", "0-1", "1/2-1/2", "*")
"""Result tokens by their code; 0 stands for none."""

FINISHED = RESULTS[:4]
"""Those of a finished game, by the same codes."""
